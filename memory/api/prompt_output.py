"""What a prompt's answer looks like."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.contradiction_output import ContradictionSerializer
from memory.api.output import LEVELS, PackedMemorySerializer
from memory.api.said_output import PackedMessageSerializer
from memory.domain.plans.prompt import LAYERS
from memory.domain.updates import Kind

LAYER_NAMES = [(layer.value, layer.value) for layer in LAYERS]


class LayerSerializer(serializers.Serializer[Any]):
    """One of the seven layers; an empty one has no tokens."""

    layer = serializers.IntegerField(source="number", help_text="1-7")
    name = serializers.ChoiceField(choices=LAYER_NAMES)
    tokens = serializers.IntegerField(help_text="With its headings; those of all layers add up.")
    memories = serializers.IntegerField(help_text="How many memories stand in it.")


class TrimmedLayerSerializer(serializers.Serializer[Any]):
    """What the budget took away of a layer's own room; layers are trimmed 7, 6, 5, 4."""

    layer = serializers.IntegerField(source="number")
    name = serializers.ChoiceField(choices=LAYER_NAMES)
    count = serializers.IntegerField(source="cut", help_text="How many memories or texts.")
    tokens = serializers.IntegerField(source="cut_tokens")


class PromptMemorySerializer(PackedMemorySerializer):
    """A memory in the prompt, with the layer it stands in."""

    layer = serializers.IntegerField()


class PromptStatsSerializer(serializers.Serializer[Any]):
    """What the prompt took."""

    tokens_used = serializers.IntegerField()
    token_budget = serializers.IntegerField()
    token_counter = serializers.CharField(
        help_text="estimate (characters / 3.5), or tiktoken with its encoding: an exact count."
    )
    signals_hit = serializers.DictField(child=serializers.IntegerField())
    duplicates = serializers.IntegerField(
        help_text="Memories left out because another one in the prompt says the same."
    )
    cache_hit = serializers.BooleanField()
    total_ms = serializers.FloatField()
    steps_ms = serializers.DictField(child=serializers.FloatField())
    searched = serializers.ListField(
        child=serializers.ChoiceField(choices=LEVELS), help_text="The levels that were looked at."
    )


class UpdateSerializer(serializers.Serializer[Any]):
    """A bullet: what became of which memory."""

    kind = serializers.ChoiceField(choices=[(kind.value, kind.value) for kind in Kind])
    memory = serializers.UUIDField(source="memory.memory_id")
    importance = serializers.IntegerField(source="memory.importance")


class UpdatesSerializer(serializers.Serializer[Any]):
    """The lines at the head of the prompt: what changed after revision `since`."""

    since = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="Up to where it is told now.")
    text = serializers.CharField()
    tokens = serializers.IntegerField(help_text="Part of those of layer 1.")
    changes = UpdateSerializer(source="told", many=True)


class BuiltPromptSerializer(serializers.Serializer[Any]):
    """An agent's system prompt and what it is made of."""

    prompt = serializers.CharField()
    updates = UpdatesSerializer(
        allow_null=True, help_text="null without a conversation, and when nothing has changed."
    )
    layers = LayerSerializer(many=True)
    trimmed = TrimmedLayerSerializer(many=True, help_text="The first trimmed first.")
    memories = PromptMemorySerializer(many=True)
    messages = PackedMessageSerializer(
        many=True, help_text="What was said itself; their lines stand in layer 5."
    )
    contradictions = ContradictionSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())
    stats = PromptStatsSerializer()
