"""Memories as they are sent and returned."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from memory.api.events import WorkSerializer
from memory.api.fields import (
    AnyOfField,
    IdsField,
    NameField,
    NoteField,
    OneOfField,
    PastDateTimeField,
    StatementField,
    StrictBooleanField,
    StrictFloatField,
    StrictIntegerField,
    TtlField,
    ZonedDateTimeField,
)
from memory.api.forms import FORMS, ArtifactQueryField, FormedSerializer, PayloadField
from memory.api.rendering import Json, text_of, time_of
from memory.api.schemas import (
    PER_REQUEST,
    ApiSerializer,
    DatedPageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
)
from memory.domain.forms import stated_importance
from memory.domain.judgements import Feedback
from memory.domain.types import MAX_SUBJECT_CHARS, MAX_TAGS, MemoryType
from memory.models import Memory
from memory.models.memory import (
    AUDIENCES,
    MEMORY_TYPES,
    SCOPES,
    SOURCES,
    STATUSES,
    TIERS,
    TOLD_LEVELS,
)
from memory.writing.drafts import Outcome, WriteResult
from memory.writing.stating import STATED_SCOPES

OUTCOMES = [(item.value, item.value) for item in Outcome]
WAS_MASKED = "The content held a key, password or card number; it was masked before it was stored."
NOT_STANDALONE = (
    "Stored as worded, but a memory is found and understood best as one or two sentences of at most"
    " 280 characters, in the third person, with names and dates. This one: {how}."
)
WARNINGS = "Notes on how it was stored; empty if it was stored as sent."
_TEXT_STAYS = (
    "The text and payload of a memory never change in place: send the right text as"
    " corrected_content, or the payload, to POST /v1/memories/{id}/correct, which writes a new"
    " version."
)
_TEXTS = ("content", "corrected_content", "form", "payload")
STATED = [(each, each.value) for each in STATED_SCOPES]
_SCOPE = (
    "Whom it is for: `user` (one person), `project` (all in it), `team` (everybody). Without it,"
    " the narrowest of project, user and team that the memory names."
)
_BELONGS = "Only memories that belong to this {0}, none that belong to no {0}.{1}"
_SEEN = " All that an agent sees is listed with a key of that agent."


_SOURCE = (
    "Who says it. A key states what an `agent` says, the default, or what a `tool` or a `web` page"
    " says. What rests on these alone is unconfirmed: it changes and outranks nothing that people"
    " and agents say, and is neither pinned nor part of a profile."
)
_CONFIRM = (
    "Says yes to a preference (by its category or subject) of the whole team, of no person, project"
    " or agent; needs a key of the team."
)


class NewMemorySerializer(FormedSerializer):
    """A memory to store: a text, or a form with its payload, or both."""

    example = {
        "content": "Sarah drinks her tea without milk.",
        "user": "sarah",
        "agent": "kyra",
        "memory_type": "user_profile",
        "importance": 6,
        "tags": ["drinks"],
        "ttl": "P30D",
    }

    text_field = "content"

    content = StatementField(required=False, help_text="Made of the payload's words if omitted.")
    memory_type = OneOfField(
        choices=list(MemoryType),
        required=False,
        help_text="Left out, `episodic` for an episode, `procedural` for a workflow, else"
        " `semantic`.",
    )
    scope = OneOfField(choices=STATED, required=False, allow_null=True, help_text=_SCOPE)
    importance = StrictIntegerField(
        required=False,
        min_value=1,
        max_value=10,
        help_text="Left out, 9 for a decision or a failure, else 8.",
    )
    is_pinned = StrictBooleanField(required=False, default=False)
    agent = NameField(required=False, allow_null=True)
    user = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The person it is about; a user_profile needs one, or a conversation with them.",
    )
    project = NameField(required=False, allow_null=True)
    conversation = serializers.UUIDField(required=False, allow_null=True)
    subject = NameField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_SUBJECT_CHARS
    )
    category = NameField(required=False, allow_null=True, allow_blank=True)
    tags = serializers.ListField(child=NameField(), required=False, max_length=MAX_TAGS)
    confidence = StrictFloatField(required=False, default=1.0, min_value=0, max_value=1)
    created_at = PastDateTimeField(required=False, allow_null=True)
    valid_from = ZonedDateTimeField(required=False, allow_null=True)
    valid_to = ZonedDateTimeField(required=False, allow_null=True)
    ttl = TtlField(
        required=False,
        allow_null=True,
        help_text="In place of valid_to: how long it is valid from valid_from or created_at on,"
        " without them from now on. Seconds, or an ISO 8601 duration (P30D).",
    )
    message_ids = IdsField(required=False, max_length=PER_REQUEST)
    external_id = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The caller's own id for it. Sent again with the same text it is a duplicate,"
        " with another text it is refused (409): correct the memory instead.",
    )
    source = OneOfField(  # type: ignore[assignment]  # DRF fields have a `source` too
        choices=SOURCES,
        required=False,
        help_text=f"{_SOURCE} Left out, with message_ids, it is the strongest of theirs.",
    )
    check = StrictBooleanField(required=False, default=True)
    confirm = StrictBooleanField(required=False, default=False, help_text=_CONFIRM)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        attrs.setdefault("importance", stated_importance(attrs.get("form")))
        start, end = attrs.get("valid_from"), attrs.get("valid_to")
        if ttl := attrs.pop("ttl", None):
            if end:
                raise serializers.ValidationError({"ttl": ["Send ttl or valid_to, not both."]})
            begin = start or attrs.get("created_at") or timezone.now()
            try:
                end = attrs["valid_to"] = begin + ttl
            except OverflowError:
                raise serializers.ValidationError({"ttl": ["It ends too late."]}) from None
        if start and end and end < start:
            raise serializers.ValidationError({"valid_to": ["Must not be before valid_from."]})
        return attrs


class ReasonSerializer(StrictSerializer):
    """A reason for the log."""

    reason = NoteField()


class MoveSerializer(ReasonSerializer):
    """To whom a memory is given, and as what; what is left out stays."""

    example = {"scope": "team", "reason": "It holds for all of us."}

    scope = OneOfField(
        choices=STATED,
        required=False,
        help_text="`user` and `team` leave the project, `project` and `team` leave the person."
        " All agents see it then, but for types that stay with an agent: `agent_private`,"
        " `identity`, `procedural`.",
    )
    memory_type = OneOfField(choices=list(MemoryType), required=False)
    user = NameField(
        required=False, max_length=200, help_text="Of scope `user`, where it is not the present."
    )
    project = NameField(
        required=False, help_text="Of scope `project`, where it is not the present."
    )
    agent = NameField(required=False, help_text="Of types that stay with an agent, if it has none.")
    confirm = StrictBooleanField(required=False, default=False, help_text=_CONFIRM)

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds
        if isinstance(data, dict):
            texts = [name for name in _TEXTS if name in data]
            if texts:
                raise serializers.ValidationError({name: [_TEXT_STAYS] for name in texts})
        return super().to_internal_value(data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "scope" not in attrs and "memory_type" not in attrs:
            raise serializers.ValidationError("Name a scope or a memory_type to change it to.")
        for name in ("user", "project"):
            if name in attrs and "scope" not in attrs:
                raise serializers.ValidationError({name: ["Name the scope that it is for."]})
        return attrs


class PromoteSerializer(ReasonSerializer):
    """The promotion of a project's memory to the team."""

    confirm = StrictBooleanField(
        required=False,
        default=False,
        help_text="Says yes to a preference; needs a key of the team. Without it a preference waits"
        " as a consent request.",
    )


class PinSerializer(ReasonSerializer):
    """The choice to pin or to unpin the memory."""

    example = {"pinned": True, "reason": "Asked for by Sarah."}

    pinned = StrictBooleanField()


class CorrectionSerializer(FormedSerializer, ReasonSerializer):
    """The corrected text of a memory, its corrected payload, or both.

    A memory with a form is corrected with its form and payload, or with `form` null, which keeps
    the text alone.
    """

    example = {
        "corrected_content": "Sarah drinks her tea with oat milk.",
        "reason": "She said so on Monday.",
    }

    text_field = "corrected_content"

    corrected_content = StatementField(required=False, help_text="Made of the payload if omitted.")
    source = OneOfField(  # type: ignore[assignment]  # DRF fields have a `source` too
        choices=SOURCES,
        required=False,
        help_text="Who says so, as of a new memory: a tool or a page alone corrects no confirmed"
        " memory (409).",
    )


class FeedbackSerializer(StrictSerializer):
    """Feedback on the usefulness of a memory in a prompt."""

    example = {"signal": "helpful", "note": "It answered the question."}

    signal = OneOfField(choices=list(Feedback))
    note = NoteField()
    work = WorkSerializer(
        required=False,
        allow_null=True,
        help_text="What the agent had in front of it when the memory was of use.",
    )


class ReasonQuerySerializer(QuerySerializer):
    """The reason for the log, of a request without a body."""

    reason = NoteField(allow_null=False)


class MemoryFilterSerializer(DatedPageQuerySerializer):
    """Filters of the list of memories; all must match."""

    aliases = {"memory_type": "memory_types"}

    memory_types = AnyOfField(choices=MEMORY_TYPES, required=False)
    audience = AnyOfField(choices=AUDIENCES, required=False)
    source = AnyOfField(  # type: ignore[assignment]  # DRF fields have a `source` too
        choices=SOURCES, required=False, help_text="`tool,web` for what is unconfirmed."
    )
    status = AnyOfField(
        choices=["active", "disputed", "superseded", "soft_deleted", "archived", "all"],
        required=False,
        help_text="active and disputed if omitted; all for every status.",
    )
    tier = AnyOfField(choices=TIERS, required=False)
    agent = NameField(required=False, help_text=_BELONGS.format("agent", _SEEN))
    user = NameField(required=False, max_length=200, help_text=_BELONGS.format("person", ""))
    project = NameField(required=False, help_text=_BELONGS.format("project", ""))
    conversation = serializers.UUIDField(required=False)
    subject = NameField(
        required=False, max_length=MAX_SUBJECT_CHARS, help_text="Subjects that begin with this."
    )
    category = NameField(required=False)
    form = AnyOfField(choices=FORMS, required=False)
    artifact = ArtifactQueryField(
        required=False,
        help_text="Memories that name such an artifact: its kind (`commit`) or kind and ref"
        " (`file:src/login.ts`).",
    )
    tag = serializers.ListField(
        child=NameField(), required=False, help_text="The memory must have all of these."
    )
    is_pinned = serializers.BooleanField(required=False, allow_null=True, default=None)
    min_importance = serializers.IntegerField(required=False, min_value=1, max_value=10)
    max_importance = serializers.IntegerField(required=False, min_value=1, max_value=10)


class ProvenanceSerializer(ApiSerializer):
    """The provenance of a memory."""

    conversation = serializers.UUIDField(allow_null=True)
    message_ids = IdsField()
    external_ids = serializers.ListField(child=serializers.CharField())
    extractor = serializers.CharField()
    pass_ = serializers.IntegerField(allow_null=True)
    actor = serializers.CharField()


class UsageSerializer(ApiSerializer):
    """Counts of a memory's uses; updated in batches, so a few seconds behind."""

    retrieved = serializers.IntegerField()
    cited = serializers.IntegerField()
    ignored = serializers.IntegerField()
    succeeded = serializers.IntegerField()
    failed = serializers.IntegerField()
    last_accessed_at = serializers.DateTimeField(allow_null=True)


class MemorySerializer(ApiSerializer):
    """A memory, its state and its provenance."""

    id = serializers.UUIDField()
    content = serializers.CharField()
    form = serializers.ChoiceField(choices=FORMS, allow_null=True)
    payload = PayloadField(allow_null=True, help_text="Of a memory with a form, by its schema.")
    memory_type = serializers.ChoiceField(choices=MEMORY_TYPES)
    audience = serializers.ChoiceField(
        choices=AUDIENCES, help_text="Who may hear it: its agent, its person or the team."
    )
    scope = serializers.ChoiceField(choices=SCOPES)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF fields have a `source` too
        choices=SOURCES, help_text="The strongest source that says it."
    )
    is_unconfirmed = serializers.BooleanField(
        help_text="Whether a tool or a web page alone says it, and nobody confirmed it."
    )
    category = serializers.CharField()
    subject = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    importance = serializers.IntegerField()
    confidence = serializers.FloatField()
    corroboration = serializers.IntegerField(
        help_text="How often it was repeated; provenance lists the messages of each time."
    )
    is_pinned = serializers.BooleanField()
    status = serializers.ChoiceField(choices=STATUSES)
    tier = serializers.ChoiceField(choices=TIERS)
    version = serializers.IntegerField()
    supersedes = serializers.UUIDField(allow_null=True)
    superseded_by = serializers.UUIDField(allow_null=True)
    contradicts = IdsField()
    agent = serializers.CharField(source="agent.slug", default=None, allow_null=True)
    user = serializers.CharField(source="end_user.external_id", default=None, allow_null=True)
    project = serializers.CharField(source="project.slug", default=None, allow_null=True)
    provenance = ProvenanceSerializer(read_only=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    valid_from = serializers.DateTimeField(allow_null=True)
    valid_to = serializers.DateTimeField(allow_null=True)
    purge_at = serializers.DateTimeField(
        allow_null=True,
        help_text="Until then a memory that expired can be restored; null for every other one.",
    )
    external_id = serializers.CharField(allow_null=True)
    usage = UsageSerializer(read_only=True)

    def to_representation(self, instance: Memory) -> dict[str, Any]:
        """The fields as `memory_json` writes them, and those of a subclass as attributes."""
        written = memory_json(instance)
        names = map(str, self.fields)
        return {
            each: written[each] if each in written else getattr(instance, each) for each in names
        }


def memory_json(memory: Memory) -> Json:
    """A memory that was loaded `with_names`, as `MemorySerializer` describes it.

    Written by the serializer, a page of memories would take longer than the search for it.
    """
    usage = memory._state.fields_cache.get("usage")
    return {
        "id": str(memory.pk),
        "content": memory.content,
        "form": memory.form or None,
        # Without a form it holds what the product keeps for itself.
        "payload": memory.payload if memory.form else None,
        "memory_type": memory.memory_type,
        "audience": memory.audience,
        "scope": memory.scope,
        "source": memory.source,
        "is_unconfirmed": memory.is_unconfirmed,
        "category": memory.category,
        "subject": memory.subject,
        "tags": memory.tags,
        "importance": memory.importance,
        "confidence": memory.confidence,
        "corroboration": memory.corroboration,
        "is_pinned": memory.is_pinned,
        "status": memory.status,
        "tier": memory.tier,
        "version": memory.version,
        "supersedes": text_of(memory.supersedes_id),
        "superseded_by": text_of(memory.superseded_by_id),
        "contradicts": [str(each) for each in memory.contradicts],
        "agent": memory.agent.slug if memory.agent else None,
        "user": memory.end_user.external_id if memory.end_user else None,
        "project": memory.project.slug if memory.project else None,
        "provenance": {
            "conversation": text_of(memory.conversation_id),
            "message_ids": [str(each) for each in memory.source_message_ids],
            "external_ids": memory.source_external_ids,
            "extractor": memory.extractor,
            "pass": memory.extraction_pass,
            "actor": memory.actor,
        },
        "created_at": time_of(memory.created_at),
        "updated_at": time_of(memory.updated_at),
        "valid_from": time_of(memory.valid_from),
        "valid_to": time_of(memory.valid_to),
        "purge_at": time_of(memory.purge_at),
        "external_id": memory.external_id,
        "usage": {
            "retrieved": usage.retrieved if usage else 0,
            "cited": usage.cited if usage else 0,
            "ignored": usage.ignored if usage else 0,
            "succeeded": usage.succeeded if usage else 0,
            "failed": usage.failed if usage else 0,
            "last_accessed_at": time_of(usage.last_accessed_at) if usage else None,
        },
    }


class WrittenMemorySerializer(MemorySerializer):
    """A memory and the outcome of the write."""

    outcome = serializers.ChoiceField(choices=OUTCOMES)
    warnings = serializers.ListField(child=serializers.CharField(), help_text=WARNINGS)
    consent_request = serializers.UUIDField(
        allow_null=True,
        help_text="With the outcome `held`: the request that waits for a yes; the memory is what"
        " the profile says until then. null where the same was decided before.",
    )


class PromotedMemorySerializer(MemorySerializer):
    """A memory that was promoted, or waits for a yes."""

    consent_request = serializers.UUIDField(
        allow_null=True, help_text="What waits for a yes; null where it is the team's."
    )


class LevelsSerializer(ApiSerializer):
    """Shorter versions of a memory's text, each no longer than the one before."""

    summary = serializers.CharField()
    compressed = serializers.CharField()
    index_term = serializers.CharField(help_text="At most 50 characters.")
    told_at_most = serializers.ChoiceField(
        choices=TOLD_LEVELS,
        help_text="Prompts tell no more of it, unless it is among the best, important or pinned.",
    )


class ReadMemorySerializer(MemorySerializer):
    """A memory read by its id, with its merge sources and the shorter versions of its text."""

    levels = LevelsSerializer()

    merged_from = IdsField(help_text="The memories it was merged from; it supersedes each.")


class RelatedMemorySerializer(MemorySerializer):
    """A memory at the other end of an edge."""

    relation_type = serializers.CharField()
    strength = serializers.FloatField(help_text="0-1")


class RelatedSerializer(ApiSerializer):
    """Related memories, the strongest first."""

    results = RelatedMemorySerializer(many=True)


def warnings_of(result: WriteResult) -> list[str]:
    """Returns warnings for the caller about how a memory was stored."""
    warnings = [WAS_MASKED] if result.secret_masked else []
    if result.wording:
        warnings.append(NOT_STANDALONE.format(how=", ".join(result.wording)))
    return [*warnings, *result.judging]
