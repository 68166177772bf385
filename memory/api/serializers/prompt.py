"""The prompt: what it is asked for and what it is made of."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import QuestionField
from memory.api.serializers.base import ApiSerializer
from memory.api.serializers.contradictions import ContradictionSerializer
from memory.api.serializers.found import (
    PackedMemorySerializer,
    PackedMessageSerializer,
    ReadOptionsSerializer,
    StatsSerializer,
)
from memory.domain.plans.prompt import LAYERS
from memory.domain.updates import Kind

LAYER_NAMES = [(layer.value, layer.value) for layer in LAYERS]


class PromptSerializer(ReadOptionsSerializer):
    """Which agent answers what, in which conversation, within how many tokens."""

    query = QuestionField(help_text="The message the agent is to answer.")


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

    prompt = serializers.CharField(
        help_text='A line has the person\'s own name, if known, where the memory says "User".'
    )
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
