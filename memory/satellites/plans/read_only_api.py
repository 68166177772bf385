"""The API of the read-only block, of selection and of conflicts (seed 001)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers

from memory.api.base import ApiViewSet, Given, operation
from memory.api.fields import NameField, OneOfField, QuestionField, StrictFloatField
from memory.api.memories import MemorySerializer, memory_json
from memory.api.rendering import Json, json_response
from memory.api.request_events import context_event
from memory.api.schemas import PER_REQUEST, ApiSerializer, QuerySerializer, StrictSerializer
from memory.domain.audience import Viewer
from memory.domain.clashes import Cause, Conflict, Resolution
from memory.domain.scoring import Weights
from memory.domain.types import Scope
from memory.reading.answers import own_weights
from memory.reading.conflicts import MOST_READ, ConflictGroup, conflict_groups
from memory.reading.questions import Question
from memory.satellites.plans.choosing import RequestType
from memory.satellites.plans.read_only import ContextRequest, ReadOnlyContext, read_only_context
from memory.selectors.conversations import conversation_with, viewer_in
from memory.understanding.tools import default_tools
from memory.writing.categories import check_allowed
from teams.domain.team_settings import LEAST_CHARS, MAX_CATEGORIES, MOST_CHARS, SCOPES

ASKED_SCOPES = [(scope, scope) for scope in SCOPES]
_TYPES = [(each.value, each.value) for each in RequestType]
_CAUSES = [(each.value, each.value) for each in Cause]
_RESOLUTIONS = [(each.value, each.value) for each in Resolution]
_THRESHOLD = (
    "The least confidence (0-1) of a fact; the team's setting (0.7) if omitted. A general request"
    " is told nothing below the team's confidence for those (0.9)."
)
_CONVERSATION = (
    "Where it is asked: what was learned in it counts for the session, and it gives the user and"
    " the project where none is named."
)
_REQUEST = "What the user asks; its kind decides which categories are relevant."


class _NamedQuerySerializer(QuerySerializer):
    agent = NameField(required=False)
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)


class ContextQuerySerializer(_NamedQuerySerializer):
    """The purpose of the requested context."""

    user_request = QuestionField(help_text=_REQUEST)
    confidence_threshold = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text=_THRESHOLD
    )
    conversation = serializers.UUIDField(required=False, help_text=_CONVERSATION)
    max_chars = serializers.IntegerField(
        required=False,
        min_value=LEAST_CHARS,
        max_value=MOST_CHARS,
        help_text="The most characters of the block; the team's setting (5000) if omitted.",
    )
    only_known = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Whether the block says that nothing else is known, also where it has no facts.",
    )


class SelectSerializer(StrictSerializer):
    """The purpose of the requested facts, and the facts to choose among."""

    user_request = QuestionField(help_text=_REQUEST)
    scope_filter = serializers.ListField(
        child=OneOfField(choices=ASKED_SCOPES),
        required=False,
        allow_null=True,
        max_length=len(SCOPES),
        help_text="Only these scopes, in the team's order.",
    )
    category_filter = serializers.ListField(
        child=NameField(),
        required=False,
        allow_null=True,
        max_length=MAX_CATEGORIES,
        help_text="These categories in place of those that the kind of the request needs.",
    )
    confidence_threshold = StrictFloatField(
        required=False, allow_null=True, min_value=0, max_value=1, help_text=_THRESHOLD
    )
    agent = NameField(required=False, allow_null=True)
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    conversation = serializers.UUIDField(required=False, allow_null=True, help_text=_CONVERSATION)


class ConflictsQuerySerializer(_NamedQuerySerializer):
    """The owner whose conflicts are listed."""

    limit = serializers.IntegerField(
        required=False, default=50, min_value=1, max_value=min(PER_REQUEST, MOST_READ)
    )


class ChosenFactSerializer(MemorySerializer):
    """A memory that is told, and why."""

    scope = serializers.ChoiceField(
        choices=ASKED_SCOPES,
        help_text="Where it counts for this request: `session` for what was learned in the"
        " conversation of the request.",
    )
    reason = serializers.CharField()
    is_flagged = serializers.BooleanField(
        help_text="Whether it is told as disputed, together with what it contradicts."
    )


class LeftOutSerializer(ApiSerializer):
    """A memory that is about the request and is not told."""

    id = serializers.UUIDField()
    cause = serializers.ChoiceField(choices=_CAUSES)
    reason = serializers.CharField()


class FactConflictSerializer(ApiSerializer):
    """Facts of which not all can hold, best first, and what is told of them."""

    ids = serializers.ListField(child=serializers.UUIDField())
    keep = serializers.ListField(child=serializers.UUIDField())
    resolution = serializers.ChoiceField(choices=_RESOLUTIONS)
    reason = serializers.CharField()


class AskedScopesSerializer(ApiSerializer):
    """The scopes that were asked in turn, and why no further one was."""

    asked = serializers.ListField(child=serializers.ChoiceField(choices=ASKED_SCOPES))
    reason = serializers.CharField(help_text="Empty where all of them were asked.")


class SelectionSerializer(ApiSerializer):
    """The facts for a request, with why each was chosen or left out."""

    facts = ChosenFactSerializer(many=True)
    left_out = LeftOutSerializer(many=True)
    conflicts = FactConflictSerializer(many=True)
    request_type = serializers.ChoiceField(choices=_TYPES)
    categories = serializers.ListField(
        child=serializers.CharField(),
        help_text="Those that are relevant; `*` is every one but preferences and procedures.",
    )
    confidence_threshold = serializers.FloatField(help_text="The least confidence that was asked.")
    scopes = AskedScopesSerializer()
    warnings = serializers.ListField(child=serializers.CharField())


class ContextSerializer(SelectionSerializer):
    """The facts for a request as one read-only block."""

    context_ = serializers.CharField(
        help_text="Empty where there are no facts, unless `only_known` is asked."
    )
    chars = serializers.IntegerField()
    truncated = serializers.BooleanField(
        help_text="Whether chosen facts found no room in max_chars."
    )


class ConflictGroupSerializer(ApiSerializer):
    """Facts on one matter that contradict each other, and what the rule recommends."""

    key = serializers.CharField(help_text="The subject that they share; empty for different ones.")
    facts = MemorySerializer(many=True)
    recommended = FactConflictSerializer()
    contradictions = serializers.ListField(
        child=serializers.UUIDField(), help_text="Those to settle, with /v1/contradictions."
    )


class ConflictGroupsSerializer(ApiSerializer):
    """The groups, that of the newest contradiction first."""

    conflicts = ConflictGroupSerializer(many=True)


class ContextViewSet(ApiViewSet):
    """Facts that are authoritative."""

    operations = {"context": ("context", "context"), "select": ("context", "context")}
    only_reads = True
    confirms_keys = True
    memory_actions = ("context", "select", "conflicts")

    @operation(query=ContextQuerySerializer, answer=ContextSerializer)
    def context(self, given: Given) -> HttpResponse:
        """The facts that a request needs, as a block that is marked as read-only.

        They are of the categories that the kind of the request needs, at least as certain as asked,
        each once, and of the narrowest scopes that give enough: session, project, user, team. Both
        sides of an open dispute are told, flagged; of facts whose contradiction nobody recorded the
        more certain, else the newer, else all, flagged. Nothing that is told changes a memory.
        """
        made = self._made(given, is_written=True)
        chars = {"chars": len(made.context), "truncated": made.is_truncated}
        return json_response({"context": made.context, **_selection(made), **chars})

    @operation(body=SelectSerializer, answer=SelectionSerializer)
    def select(self, given: Given) -> HttpResponse:
        """The facts that a request needs, with the reason for each; nothing is written as text."""
        return json_response(_selection(self._made(given, is_written=False)))

    @operation(query=ConflictsQuerySerializer, answer=ConflictGroupsSerializer)
    def conflicts(self, given: Given) -> HttpResponse:
        """Groups of facts that contradict each other, with the recommended resolution and why.

        They are the open contradictions of which the key may see both sides. Nothing is resolved:
        POST /v1/contradictions/{id}/resolve does that.
        """
        groups = conflict_groups(viewer=self.named_lister(given), limit=given["limit"])
        return json_response({"conflicts": [_group(each) for each in groups]})

    def _made(self, given: Mapping[str, Any], *, is_written: bool) -> ReadOnlyContext:
        viewer, conversation_id, weights = self._asker(given)
        categories = tuple(dict.fromkeys(given.get("category_filter") or ()))
        check_allowed(allowed=viewer.allowed_categories, names=categories, field="category_filter")
        made = read_only_context(
            viewer=viewer,
            request=ContextRequest(
                question=Question(given["user_request"], conversation_id),
                threshold=given.get("confidence_threshold"),
                max_chars=given.get("max_chars"),
                scopes=tuple(map(Scope, given.get("scope_filter") or ())),
                categories=categories,
                only_known=given.get("only_known", False),
            ),
            weights=weights,
            tools=default_tools(),
            now=timezone.now(),
            is_written=is_written,
        )
        self.noted([context_event(viewer, made.retrieval, found=len(made.facts))])
        return made

    def _asker(self, given: Mapping[str, Any]) -> tuple[Viewer, UUID | None, Weights]:
        weights = Weights()
        if given.get("agent") is not None:
            viewer, agent = self.named_agent(given)
            weights = own_weights(agent)
        else:
            viewer = self.named_viewer(given)
        if given.get("conversation") is None:
            return viewer, None, weights
        with self.team_scope():
            talk = conversation_with(viewer=viewer, conversation_id=given["conversation"])
            self.check_user(talk.end_user.external_id)
        if viewer.agent_id is None:
            categories = tuple(talk.agent.allowed_categories)
            viewer = replace(viewer, agent_id=talk.agent_id, allowed_categories=categories)
            weights = own_weights(talk.agent)
        return viewer_in(viewer, talk), talk.pk, weights


def _selection(made: ReadOnlyContext) -> Json:
    return {
        "facts": [
            {
                **memory_json(each.memory),
                "scope": each.scope.value,
                "reason": each.reason,
                "is_flagged": each.is_flagged,
            }
            for each in made.facts
        ],
        "left_out": [
            {"id": str(each.key), "cause": each.cause.value, "reason": each.reason}
            for each in made.left_out
        ],
        "conflicts": [_conflict(each) for each in made.conflicts],
        "request_type": made.request_type.value,
        "categories": list(made.categories),
        "confidence_threshold": made.threshold,
        "scopes": {"asked": [scope.value for scope in made.asked], "reason": made.enough},
        "warnings": list(made.retrieval.warnings),
    }


def _conflict(conflict: Conflict) -> Json:
    return {
        "ids": [str(key) for key in conflict.keys],
        "keep": [str(key) for key in conflict.standing],
        "resolution": conflict.resolution.value,
        "reason": conflict.reason,
    }


def _group(group: ConflictGroup) -> Json:
    return {
        "key": group.key,
        "facts": [memory_json(each) for each in group.facts],
        "recommended": _conflict(group.conflict),
        "contradictions": [str(each) for each in group.contradictions],
    }
