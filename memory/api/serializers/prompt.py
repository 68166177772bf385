"""The prompt: what it is asked for and what it is made of."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memory.api.fields import ContentField, QuestionField, TextField
from memory.api.serializers.base import ApiSerializer, StrictSerializer
from memory.api.serializers.contradictions import ContradictionSerializer
from memory.api.serializers.found import (
    PackedMemorySerializer,
    PackedMessageSerializer,
    ReadOptionsSerializer,
    StatsSerializer,
)
from memory.domain.plans.layouts import LAYERS
from memory.domain.updates import Kind

LAYER_NAMES = [(layer.value, layer.value) for layer in LAYERS]


MAX_DOCUMENTS = 100
_MAX_NAME_CHARS = 500


class DocumentSerializer(StrictSerializer):
    """A text that the caller found elsewhere; the prompt quotes it apart from memory."""

    text = ContentField()
    title = TextField(required=False, default="", allow_blank=True, max_length=_MAX_NAME_CHARS)
    source = TextField(  # type: ignore[assignment]  # a field of this name
        required=False,
        default="",
        allow_blank=True,
        max_length=_MAX_NAME_CHARS,
        help_text="Where it is from, such as an address.",
    )


class DocumentsField(serializers.ListField):
    """A list of documents."""

    child = DocumentSerializer()

    def __init__(self, **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(**{"max_length": MAX_DOCUMENTS, **kwargs})


class PromptSerializer(ReadOptionsSerializer):
    """Which agent answers what, in which conversation, within how many tokens."""

    query = QuestionField(help_text="The message the agent is to answer.")
    documents = DocumentsField(
        required=False,
        allow_null=True,
        help_text="Told after the layers as RELEVANT CONTEXT, in at most 30 per cent of the budget;"
        " the first ones go before the others.",
    )


class LayerSerializer(ApiSerializer):
    """One of the seven layers; an empty one has no tokens."""

    layer = serializers.IntegerField(source="number", help_text="1-7")
    name = serializers.ChoiceField(choices=LAYER_NAMES)
    tokens = serializers.IntegerField(
        help_text="Including headings; the layers' tokens and those of the documents add up to the"
        " prompt's."
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


class ToldDocumentsSerializer(ApiSerializer):
    """The section of the documents, after the layers."""

    tokens = serializers.IntegerField(help_text="Beside those of the layers.")
    told = serializers.IntegerField()
    shortened = serializers.IntegerField(help_text="Of which the beginning alone is told.")
    cut = serializers.IntegerField(help_text="How many found no room.")


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
    documents = ToldDocumentsSerializer(allow_null=True, help_text="null where none were passed.")
    warnings = serializers.ListField(child=serializers.CharField())
    stats = PromptStatsSerializer()
