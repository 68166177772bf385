"""The context of work in progress: its signals, its tiers, and topics that are asked for."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import (
    ContentField,
    NameField,
    OneOfField,
    QuestionField,
    StrictIntegerField,
    ZonedDateTimeField,
)
from memory.api.serializers.base import (
    MAX_TOKEN_BUDGET,
    ApiSerializer,
    QuerySerializer,
    StrictSerializer,
)
from memory.api.serializers.found import TEXT_LEVELS, PackedMessageSerializer
from memory.api.serializers.memories import MemorySerializer
from memory.domain.packing import MINIMUM_BUDGET
from memory.satellites.plans.layouts.working import DEFAULT_BUDGET, Activity, ContextTier

_ACTIVITIES = [(each.value, each.value) for each in Activity]
_TIERS = [(each.value, each.value) for each in ContextTier]
_MOST_ERRORS = 10
_MOST_ERROR_CHARS = 8_000
_MOST_PATH_CHARS = 500
_BUDGET = "Tokens of the whole context."


class WorkSignalsSerializer(StrictSerializer):
    """What is known of the work in progress; all of it optional."""

    current_file = NameField(
        required=False, max_length=_MOST_PATH_CHARS, help_text="The open file, from the root."
    )
    branch = NameField(required=False, max_length=250)
    recent_errors = serializers.ListField(
        child=ContentField(max_length=_MOST_ERROR_CHARS), required=False, max_length=_MOST_ERRORS
    )
    activity = OneOfField(
        choices=_ACTIVITIES,
        required=False,
        help_text="It decides the shares of the tiers; debugging where errors are given without.",
    )
    collaborator = NameField(
        required=False,
        max_length=200,
        help_text="The person worked with: where no user is named, what they prefer is told.",
    )
    time = ZonedDateTimeField(required=False)
    query = QuestionField(required=False)


class AssembleSerializer(StrictSerializer):
    """Who works on what."""

    agent = NameField()
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    budget = StrictIntegerField(
        default=DEFAULT_BUDGET,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text=_BUDGET,
    )
    signals = WorkSignalsSerializer(required=False)


class ExpandQuerySerializer(QuerySerializer):
    """Which topic, and for whom."""

    topic = NameField(max_length=_MOST_PATH_CHARS)
    agent = NameField()
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
    budget = serializers.IntegerField(
        default=DEFAULT_BUDGET,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text=_BUDGET,
    )


class ToldMemorySerializer(MemorySerializer):
    """A memory in the context, with the tokens of its line and the form of its text there."""

    level = serializers.ChoiceField(
        choices=TEXT_LEVELS, help_text="How much of its text the context tells."
    )
    score = serializers.FloatField(help_text="Its rank in its tier, 0-1.")
    tokens = serializers.IntegerField()


class PlacedMemorySerializer(ToldMemorySerializer):
    """A memory in the context, where it stands there and why."""

    tier = serializers.ChoiceField(choices=_TIERS, help_text="The tier of the context.")
    why = serializers.CharField()


class TierTokensSerializer(ApiSerializer):
    """The tokens of each tier: critical, relevant, background, index."""

    tier1 = serializers.IntegerField()
    tier2 = serializers.IntegerField()
    tier3 = serializers.IntegerField()
    tier4 = serializers.IntegerField()


class TopicSerializer(ApiSerializer):
    """A topic, and how many of its memories are not in the context."""

    topic = serializers.CharField()
    count = serializers.IntegerField()


class WorkingContextSerializer(ApiSerializer):
    """The context of work in progress."""

    context_ = serializers.CharField(help_text="Empty where nothing is known.")
    token_count = serializers.IntegerField()
    tiers = TierTokensSerializer()
    memories = PlacedMemorySerializer(many=True)
    messages = PackedMessageSerializer(many=True)
    index = TopicSerializer(many=True, help_text="The topics of the fourth tier.")
    activity = serializers.ChoiceField(choices=_ACTIVITIES, allow_null=True)
    rebalanced = serializers.BooleanField(
        help_text="Whether the shares are not the default ones, or a tier has more than its share."
    )
    warnings = serializers.ListField(child=serializers.CharField())


class ExpandedTopicSerializer(ApiSerializer):
    """What is known of a topic, as much as the budget holds."""

    topic = serializers.CharField()
    context_ = serializers.CharField()
    token_count = serializers.IntegerField()
    memories = ToldMemorySerializer(many=True)
    left_out = serializers.IntegerField(
        help_text="How many found no room or say what another one says; at most 500 are looked at."
    )
