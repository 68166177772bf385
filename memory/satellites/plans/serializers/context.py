"""Read-only context: what it is asked for, the facts in it, and what was left out of it."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import NameField, OneOfField, QuestionField, StrictFloatField
from memory.api.serializers.base import (
    PER_REQUEST,
    ApiSerializer,
    QuerySerializer,
    StrictSerializer,
)
from memory.api.serializers.memories import MemorySerializer
from memory.domain.clashes import Cause, Resolution
from memory.reading.conflicts import MOST_READ
from memory.satellites.plans.selection.request_types import RequestType
from teams.domain.context_settings import LEAST_CHARS, MAX_CATEGORIES, MOST_CHARS, SCOPES

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


class ContextQuerySerializer(QuerySerializer):
    """What context is wanted for."""

    user_request = QuestionField(help_text=_REQUEST)
    confidence_threshold = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text=_THRESHOLD
    )
    agent = NameField(required=False)
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
    conversation = serializers.UUIDField(required=False, help_text=_CONVERSATION)
    max_chars = serializers.IntegerField(
        required=False,
        min_value=LEAST_CHARS,
        max_value=MOST_CHARS,
        help_text="The most characters of the block; the team's setting (5000) if omitted.",
    )


class SelectSerializer(StrictSerializer):
    """What facts are wanted for, and among which."""

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


class ConflictsQuerySerializer(QuerySerializer):
    """Whose conflicts are listed."""

    agent = NameField(required=False)
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
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

    context_ = serializers.CharField(help_text="Empty where there are no facts.")
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
