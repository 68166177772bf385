"""States of graphs: what is sent and what is answered."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from memory.api.fields import (
    NameField,
    ObjectField,
    OneOfField,
    StrictBooleanField,
    StrictIntegerField,
    TextField,
)
from memory.api.schemas import (
    PER_REQUEST,
    ApiSerializer,
    PageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.satellites.langgraph.graph_states import Keep
from memory.satellites.langgraph.models import (
    MAX_CHANNEL_CHARS,
    MAX_GRAPH_ID_CHARS,
    MAX_NAMESPACE_CHARS,
)
from teams.domain.documents import LINE
from teams.models.conversations import MAX_THREAD_CHARS

MAX_CHANNELS = 1_000
# What the schema says of a name that has no spaces around it.
EXACT_LINE = f"^{LINE}$"


class Base64Field(TextField):
    """Bytes as base64; the empty text is none."""

    default_error_messages = {"base64": "Must be base64."}
    pattern = "^[A-Za-z0-9+/]*={0,2}$"

    def __init__(self, **kwargs: Any) -> None:  # Any: DRF's own options
        super().__init__(allow_blank=True, **kwargs)

    def run_validation(self, data: Any = empty) -> Any:  # Any: as below
        """The bytes; Django REST framework takes an empty text for read."""
        return super().run_validation(data) or b""

    def to_internal_value(self, data: Any) -> Any:  # Any: whatever the body holds; bytes
        try:
            return b64decode(super().to_internal_value(data), validate=True)
        except ValueError:
            self.fail("base64")


class ExactNameField(NameField):
    """A name that is kept apart from one with other spaces around it: it must have none."""

    default_error_messages = {"spaces": "Must have no spaces around it."}
    pattern = EXACT_LINE

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        if value != data:
            self.fail("spaces")
        return value


class JsonField(ObjectField):
    """A JSON object that the database can compare: no NUL, no half surrogates."""

    default_error_messages = {"text": "Its texts must be valid Unicode without NUL."}

    def to_internal_value(self, data: Any) -> dict[str, object]:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        try:
            text = json.dumps(value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError):
            self.fail("text")
        # Two backslashes are one in a text, whatever comes behind it.
        if b"\\u0000" in text.replace(rb"\\", b""):
            self.fail("text")
        return value


@extend_schema_field(OpenApiTypes.STR)
class JsonInAddressField(JsonField):
    """The same as the value of a parameter."""

    def to_internal_value(self, data: Any) -> dict[str, object]:  # Any: as above
        try:
            return super().to_internal_value(json.loads(data))
        except (ValueError, RecursionError, TypeError):
            self.fail("no_object")


def _namespace() -> TextField:
    return TextField(
        required=False,
        allow_blank=True,
        default="",
        max_length=MAX_NAMESPACE_CHARS,
        help_text="Of a graph within the graph; empty for the graph itself.",
    )


class OwnerSerializer(StrictSerializer):
    """Whose thread it is."""

    agent = NameField(
        required=False,
        allow_null=True,
        help_text="Whose thread it is; a key of one agent has that agent's. Without an agent it is"
        " the team's own, separate from those of agents.",
    )
    user = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="Whom the thread is about: it is erased with that person.",
    )


class ChannelValueSerializer(StrictSerializer):
    """What a channel holds."""

    channel = TextField(max_length=MAX_CHANNEL_CHARS)
    type = TextField(max_length=50, help_text="How the client encoded the bytes.")
    value = Base64Field()


class GraphCheckpointSerializer(OwnerSerializer):
    """The state of a graph to save."""

    namespace = _namespace()
    parent_id = TextField(
        required=False, allow_blank=True, default="", max_length=MAX_GRAPH_ID_CHARS
    )
    data_ = JsonField(help_text="What is saved besides the values of channels.")
    metadata = JsonField(required=False, help_text="What lists are filtered by; `run_id` too.")
    channels = serializers.DictField(
        child=TextField(max_length=MAX_GRAPH_ID_CHARS),
        required=False,
        help_text="The version of the value that each channel holds.",
    )
    values = serializers.ListField(
        child=ChannelValueSerializer(),
        required=False,
        max_length=MAX_CHANNELS,
        help_text="The values of these versions that are not stored yet.",
    )
    needs_ancestors = StrictBooleanField(
        required=False,
        default=False,
        help_text="Whether it can only be read together with the checkpoints before it.",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        channels = given.get("channels", {})
        if len(channels) > MAX_CHANNELS or any(
            not 0 < len(name) <= MAX_CHANNEL_CHARS or not name.isprintable() for name in channels
        ):
            raise serializers.ValidationError(
                {
                    "channels": f"At most {MAX_CHANNELS} printable names of at most"
                    f" {MAX_CHANNEL_CHARS} characters."
                }
            )
        if any(each["channel"] not in channels for each in given.get("values", ())):
            raise serializers.ValidationError({"values": "Each is of one of the channels."})
        return given


class GraphWriteSerializer(ChannelValueSerializer):
    """What a task wrote."""

    index = StrictIntegerField(min_value=-1000, max_value=100_000)


class GraphWritesSerializer(OwnerSerializer):
    """What a task wrote after a checkpoint."""

    namespace = _namespace()
    task_id = TextField(max_length=MAX_GRAPH_ID_CHARS)
    task_path = TextField(required=False, allow_blank=True, default="", max_length=1000)
    replace = StrictBooleanField(
        required=False,
        default=False,
        help_text="Whether a write takes the place of the one that is stored at its index.",
    )
    writes = serializers.ListField(child=GraphWriteSerializer(), max_length=MAX_CHANNELS)


class AgentQuerySerializer(QuerySerializer):
    """Whose threads."""

    agent = NameField(required=False)


class GraphCheckpointQuerySerializer(PageQuerySerializer, AgentQuerySerializer):
    """Which checkpoints."""

    thread_id = ExactNameField(required=False, max_length=MAX_THREAD_CHARS)
    namespace = TextField(required=False, allow_blank=True, max_length=MAX_NAMESPACE_CHARS)
    checkpoint_id = TextField(required=False, max_length=MAX_GRAPH_ID_CHARS)
    before = TextField(
        required=False, max_length=MAX_GRAPH_ID_CHARS, help_text="Only those of smaller ids."
    )
    metadata = JsonInAddressField(
        required=False, help_text="A JSON object; its members must be among the metadata."
    )


class ThreadIdsSerializer(StrictSerializer):
    """Which threads to prune, and what is kept of them."""

    agent = NameField(required=False, allow_null=True)
    thread_ids = serializers.ListField(
        child=ExactNameField(max_length=MAX_THREAD_CHARS), max_length=PER_REQUEST
    )
    keep = OneOfField([each.value for each in Keep], default=Keep.LATEST.value)


class RunIdsSerializer(StrictSerializer):
    """Which runs."""

    agent = NameField(required=False, allow_null=True)
    run_ids = serializers.ListField(child=TextField(max_length=200), max_length=PER_REQUEST)


class CopySerializer(StrictSerializer):
    """The name of the copy."""

    agent = NameField(required=False, allow_null=True)
    target_id = ExactNameField(max_length=200)


class CheckpointCountSerializer(ApiSerializer):
    """How many checkpoints, or threads, it was."""

    count = serializers.IntegerField()


class SavedGraphSerializer(ApiSerializer):
    """What was saved."""

    thread_id = serializers.CharField()
    namespace = serializers.CharField()
    checkpoint_id = serializers.CharField()


class ShownValueSerializer(ApiSerializer):
    """What a channel holds."""

    channel = serializers.CharField()
    type = serializers.CharField()
    value = serializers.CharField(help_text="Base64.")


class ShownWriteSerializer(ShownValueSerializer):
    """What a task wrote after the checkpoint."""

    task_id = serializers.CharField()
    task_path = serializers.CharField()
    index = serializers.IntegerField()


class LoadedGraphSerializer(SavedGraphSerializer):
    """A saved state."""

    user = serializers.CharField(allow_null=True)
    agent = serializers.CharField(allow_null=True)
    parent_id = serializers.CharField()
    saved_at = serializers.DateTimeField()
    data_ = ObjectField()
    metadata = ObjectField()
    values = ShownValueSerializer(many=True)
    writes = ShownWriteSerializer(many=True, help_text="By task path, task and index.")


GraphPageSerializer = page_schema("GraphCheckpointPage", LoadedGraphSerializer)
