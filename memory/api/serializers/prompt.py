"""The prompt: what it is asked for and what it is made of."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.api.fields import NameField, QuestionField
from memory.api.serializers.base import ApiSerializer
from memory.api.serializers.contradictions import ContradictionSerializer
from memory.api.serializers.found import (
    DeepAskSerializer,
    PackedMemorySerializer,
    PackedMessageSerializer,
    StatsSerializer,
    token_budget_field,
)
from memory.domain.plans.prompt import LAYERS
from memory.domain.scoring import Weights
from memory.domain.updates import Kind

MAX_WEIGHT = 1000
LAYER_NAMES = [(layer.value, layer.value) for layer in LAYERS]


@extend_schema_field(
    {
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0},
        "example": {"semantic": 0.6, "recency": 0.1, "importance": 0.15},
    }
)
class WeightsField(serializers.Field[Weights, Any, Any, Any]):
    """{"semantic", "recency", "importance", "continuity", "relation"}: numbers from 0 to 1000.

    A missing one keeps its default; they need not sum to one, but not all may be zero.
    """

    default_error_messages = {
        "object": 'Give an object such as {{"semantic": 0.6, "recency": 0.1}}.',
        "weights": "{reason}.",
        "large": f"A retrieval weight must be at most {MAX_WEIGHT}.",
    }

    def to_internal_value(self, data: Any) -> Weights:  # Any: whatever the body holds
        """The weights; refused are unknown names, negative numbers and nothing but zeros."""
        if not isinstance(data, dict):
            self.fail("object")
        try:
            weights = Weights.from_config(data)
        except ValueError as error:
            reason = str(error)
            self.fail("weights", reason=reason[:1].upper() + reason[1:])
        if max(astuple(weights)) > MAX_WEIGHT:
            self.fail("large")
        return weights

    def to_representation(self, value: Weights) -> Any:  # Any: DRF's own signature
        """As they came in."""
        return value


class PromptSerializer(DeepAskSerializer):
    """Which agent answers what, in which conversation, within how many tokens."""

    query = QuestionField(help_text="The message the agent is to answer.")
    conversation = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="Where it is asked: it gives the summary in layer 7, the user and the project.",
    )
    thread_id = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The conversation's thread id, instead of its id; requires user.",
    )
    token_budget = token_budget_field("Tokens of the whole prompt")
    weights = WeightsField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A conversation is named once, a thread with its user."""
        if attrs.get("thread_id") is not None:
            if attrs.get("conversation") is not None:
                raise serializers.ValidationError(
                    {"thread_id": ["Give either conversation or thread_id."]}
                )
            if attrs.get("user") is None:
                raise serializers.ValidationError(
                    {"thread_id": ["Give the user whose thread it is."]}
                )
        return attrs


class LayerSerializer(ApiSerializer):
    """One of the seven layers; an empty one has no tokens."""

    layer = serializers.IntegerField(source="number", help_text="1-7")
    name = serializers.ChoiceField(choices=LAYER_NAMES)
    tokens = serializers.IntegerField(
        help_text="Including headings; the layers' tokens add up to the prompt's."
    )
    memories = serializers.IntegerField(help_text="How many memories it contains.")


class TrimmedLayerSerializer(ApiSerializer):
    """What the budget cut from a layer; layers are trimmed in the order 7, 6, 5, 4."""

    layer = serializers.IntegerField(source="number")
    name = serializers.ChoiceField(choices=LAYER_NAMES)
    count = serializers.IntegerField(source="cut", help_text="How many memories or texts were cut.")
    tokens = serializers.IntegerField(source="cut_tokens")


class PromptMemorySerializer(PackedMemorySerializer):
    """A memory in the prompt, with the layer it stands in."""

    layer = serializers.IntegerField()


class PromptStatsSerializer(StatsSerializer):
    """Figures about the prompt."""

    duplicates = serializers.IntegerField(
        help_text="How many memories were left out because another one in the prompt says the same."
    )


class UpdateSerializer(ApiSerializer):
    """One bullet: what changed about a memory."""

    kind = serializers.ChoiceField(choices=[(kind.value, kind.value) for kind in Kind])
    memory = serializers.UUIDField(source="memory.memory_id")
    importance = serializers.IntegerField(source="memory.importance")


class UpdatesSerializer(ApiSerializer):
    """The first lines of the prompt: what changed after revision `since`."""

    since = serializers.IntegerField()
    revision = serializers.IntegerField(
        help_text="The revision up to which changes are now reported."
    )
    text = serializers.CharField()
    tokens = serializers.IntegerField(help_text="Included in those of layer 1.")
    changes = UpdateSerializer(source="told", many=True)


class BuiltPromptSerializer(ApiSerializer):
    """An agent's system prompt and its parts."""

    prompt = serializers.CharField()
    updates = UpdatesSerializer(
        allow_null=True, help_text="null without a conversation, or when nothing has changed."
    )
    layers = LayerSerializer(many=True)
    trimmed = TrimmedLayerSerializer(
        many=True, help_text="In the order in which they were trimmed."
    )
    memories = PromptMemorySerializer(many=True)
    messages = PackedMessageSerializer(
        many=True, help_text="Quoted messages; their lines are in layer 5."
    )
    contradictions = ContradictionSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())
    stats = PromptStatsSerializer()
