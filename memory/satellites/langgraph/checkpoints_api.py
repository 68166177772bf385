"""The API of states of graphs: saved step by step, listed, copied, pruned and deleted."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import (
    NameField,
    ObjectField,
    OneOfField,
    StrictBooleanField,
    StrictIntegerField,
    TextField,
    name_in_address,
)
from memory.api.pagination import IdPagination
from memory.api.schemas import (
    PER_REQUEST,
    ApiSerializer,
    PageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.domain.audience import Viewer
from memory.satellites.langgraph.checkpoints import (
    MAX_WRITES,
    Encoded,
    Keep,
    NewCheckpoint,
    Write,
    checkpoints_of,
    copy_thread,
    delete_runs,
    delete_threads,
    loaded,
    prune_threads,
    save_checkpoint,
    save_writes,
)
from memory.satellites.langgraph.models import (
    MAX_CHANNEL_CHARS,
    MAX_GRAPH_ID_CHARS,
    MAX_NAMESPACE_CHARS,
    GraphCheckpoint,
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

    def to_representation(self, value: Any) -> str:  # Any: bytes
        return b64encode(value).decode()


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
    """A JSON object that the database can compare: no NUL, no half surrogates, no infinity."""

    default_error_messages = {
        "text": "Its texts must be valid Unicode without NUL.",
        "finite": "Numbers must be finite.",
    }

    def to_internal_value(self, data: Any) -> dict[str, object]:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (UnicodeEncodeError, RecursionError):
            self.fail("text")
        except ValueError:
            self.fail("finite")
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
    """The owner of the thread."""

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
    """The value of a channel."""

    channel = TextField(max_length=MAX_CHANNEL_CHARS)
    type = TextField(max_length=50, source="kind", help_text="How the client encoded the bytes.")
    value = Base64Field()


class GraphCheckpointSerializer(OwnerSerializer):
    """The state of a graph to save."""

    namespace = _namespace()
    parent_id = TextField(
        required=False, allow_blank=True, default="", max_length=MAX_GRAPH_ID_CHARS
    )
    data_ = JsonField(help_text="What is saved besides the values of channels.")
    metadata = JsonField(
        required=False, default=dict, help_text="What lists are filtered by; `run_id` too."
    )
    channels = serializers.DictField(
        child=TextField(max_length=MAX_GRAPH_ID_CHARS),
        required=False,
        default=dict,
        help_text="The version of the value that each channel holds.",
    )
    values = serializers.ListField(
        child=ChannelValueSerializer(),
        required=False,
        default=list,
        max_length=MAX_CHANNELS,
        help_text="The values of these versions that are not stored yet.",
    )
    needs_ancestors = StrictBooleanField(
        required=False,
        default=False,
        help_text="Whether it can only be read together with the checkpoints before it.",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        channels = given["channels"]
        if len(channels) > MAX_CHANNELS or any(
            not 0 < len(name) <= MAX_CHANNEL_CHARS or not name.isprintable() for name in channels
        ):
            raise serializers.ValidationError(
                {
                    "channels": f"At most {MAX_CHANNELS} printable names of at most"
                    f" {MAX_CHANNEL_CHARS} characters."
                }
            )
        if any(each["channel"] not in channels for each in given["values"]):
            raise serializers.ValidationError({"values": "Each is of one of the channels."})
        return given


class GraphWriteSerializer(ChannelValueSerializer):
    """A write of a task."""

    index = StrictIntegerField(min_value=-1000, max_value=100_000)


class GraphWritesSerializer(OwnerSerializer):
    """The writes of a task after a checkpoint."""

    namespace = _namespace()
    task_id = TextField(max_length=MAX_GRAPH_ID_CHARS)
    task_path = TextField(required=False, allow_blank=True, default="", max_length=1000)
    replace = StrictBooleanField(
        required=False,
        default=False,
        source="replaces",
        help_text="Whether a write takes the place of the one that is stored at its index.",
    )
    writes = serializers.ListField(child=GraphWriteSerializer(), max_length=MAX_WRITES)


class AgentQuerySerializer(QuerySerializer):
    """The owner of the threads."""

    agent = NameField(required=False)


class GraphCheckpointQuerySerializer(PageQuerySerializer, AgentQuerySerializer):
    """Filters of the list of checkpoints."""

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
    """The threads to prune, and the checkpoints kept of them."""

    agent = NameField(required=False, allow_null=True)
    thread_ids = serializers.ListField(
        child=ExactNameField(max_length=MAX_THREAD_CHARS), max_length=PER_REQUEST
    )
    keep = OneOfField([each.value for each in Keep], default=Keep.LATEST.value)


class RunIdsSerializer(StrictSerializer):
    """The runs to delete."""

    agent = NameField(required=False, allow_null=True)
    run_ids = serializers.ListField(child=TextField(max_length=200), max_length=PER_REQUEST)


class CopySerializer(StrictSerializer):
    """The name of the copy."""

    agent = NameField(required=False, allow_null=True)
    target_id = ExactNameField(max_length=200)


class CheckpointCountSerializer(ApiSerializer):
    """The number of checkpoints or threads."""

    count = serializers.IntegerField()


class SavedGraphSerializer(ApiSerializer):
    """The place of the saved checkpoint."""

    thread_id = serializers.CharField()
    namespace = serializers.CharField()
    checkpoint_id = serializers.CharField()


class ShownValueSerializer(ApiSerializer):
    """The value of a channel."""

    channel = serializers.CharField()
    type = serializers.CharField(source="kind")
    value = Base64Field(help_text="Base64.")


class ShownWriteSerializer(ShownValueSerializer):
    """A task's write after the checkpoint."""

    task_id = serializers.CharField()
    task_path = serializers.CharField()
    index = serializers.IntegerField()


class StoredJsonField(ObjectField):
    """A JSON object that is stored as its text."""

    def to_representation(self, value: Any) -> Any:  # Any: text; JSON
        return json.loads(value)


class LoadedGraphSerializer(ApiSerializer):
    """A saved state."""

    thread_id = serializers.CharField(source="row.thread.thread_id")
    namespace = serializers.CharField(source="row.namespace")
    checkpoint_id = serializers.CharField(source="row.checkpoint_id")
    user = serializers.CharField(source="row.thread.end_user.external_id", allow_null=True)
    agent = serializers.CharField(source="row.thread.agent.slug", allow_null=True)
    parent_id = serializers.CharField(source="row.parent_id")
    saved_at = serializers.DateTimeField(source="row.saved_at")
    data_ = StoredJsonField(source="row.data")
    metadata = ObjectField(source="row.metadata")
    values = ShownValueSerializer(many=True)
    writes = ShownWriteSerializer(many=True, help_text="By task path, task and index.")


GraphPageSerializer = page_schema("GraphCheckpointPage", LoadedGraphSerializer)


def _exact_parameter(name: str, most: int) -> OpenApiParameter:
    schema = {"type": "string", "minLength": 1, "maxLength": most, "pattern": EXACT_LINE}
    return OpenApiParameter(name, schema, OpenApiParameter.PATH)


THREAD = _exact_parameter("thread_id", MAX_THREAD_CHARS)
CHECKPOINT = _exact_parameter("checkpoint_id", MAX_GRAPH_ID_CHARS)


class GraphPagination(IdPagination):
    """Checkpoints, the latest first."""

    page_size = 10
    max_page_size = PER_REQUEST
    # Copies of a thread have the same ids.
    ordering = ("-checkpoint_id", "-id")  # type: ignore[assignment]
    offset_cutoff = 10_000_000
    position_field = serializers.CharField(max_length=MAX_GRAPH_ID_CHARS, trim_whitespace=False)

    def chars_of(self, row: GraphCheckpoint) -> int:
        """The bytes of a checkpoint with its values and writes."""
        return row.size + int(getattr(row, "write_bytes", 0))


class GraphCheckpointViewSet(ApiViewSet):
    """States of graphs, of an agent or of the team itself."""

    @operation(
        "checkpoints_save",
        body=GraphCheckpointSerializer,
        answer=SavedGraphSerializer,
        refuses=(403, 409, 413, 422),
        parameters=[THREAD, CHECKPOINT],
    )
    def save(self, given: Given, thread_id: str, checkpoint_id: str) -> Response:
        """Save the state of a graph after one of its steps; the same id again replaces it."""
        name, number = _names(thread_id, checkpoint_id)
        agent, user = given.pop("agent", None), given.pop("user", None)
        # Of two values of a channel the last counts: one statement cannot store both.
        values = {each["channel"]: Encoded(**each) for each in given["values"]}
        given["values"] = list(values.values())
        save_checkpoint(
            viewer=self.viewer,
            thread_id=name,
            agent=agent,
            user=user,
            checkpoint=NewCheckpoint(checkpoint_id=number, **given),
            now=timezone.now(),
        )
        return _saved(name, given["namespace"], number)

    @operation(
        "checkpoints_add_writes",
        body=GraphWritesSerializer,
        answer=SavedGraphSerializer,
        refuses=(403, 409, 413, 422),
        parameters=[THREAD, CHECKPOINT],
    )
    def add_writes(self, given: Given, thread_id: str, checkpoint_id: str) -> Response:
        """Keep what a task wrote after a checkpoint, so that it need not run again."""
        name, number = _names(thread_id, checkpoint_id)
        given["writes"] = [Write(**each) for each in given["writes"]]
        save_writes(viewer=self.viewer, thread_id=name, checkpoint_id=number, **given)
        return _saved(name, given["namespace"], number)

    @operation(
        "checkpoints_list",
        query=GraphCheckpointQuerySerializer,
        answer=GraphPageSerializer,
    )
    def entries(self, given: Given) -> Response:
        """Saved states of one thread or of all, the latest first, with values and writes."""
        with self.team_scope():
            viewer = self.named_lister({"agent": given.pop("agent", None)})
            pages = GraphPagination()
            rows = pages.paginate_queryset(checkpoints_of(viewer=viewer, **given), self.request)
            found = loaded(viewer=viewer, rows=rows)
        return Response(pages.links() | {"results": LoadedGraphSerializer(found, many=True).data})

    @operation(
        "checkpoints_delete_thread",
        query=AgentQuerySerializer,
        answer=CheckpointCountSerializer,
        parameters=[THREAD],
    )
    def remove(self, given: Given, thread_id: str) -> Response:
        """Delete all states of a thread; the count is 0 where there are none."""
        name, _ = _names(thread_id)
        viewer = self._owner(given)
        return Response({"count": delete_threads(viewer=viewer, thread_ids=[name])})

    @operation(
        "checkpoints_copy_thread",
        body=CopySerializer,
        answer=CheckpointCountSerializer,
        refuses=WITH_CONFLICT,
        parameters=[THREAD],
    )
    def copy(self, given: Given, thread_id: str) -> Response:
        """Copy all states of a thread to a new one."""
        name, _ = _names(thread_id)
        viewer = self._owner(given)
        count = copy_thread(viewer=viewer, thread_id=name, target_id=given["target_id"])
        return Response({"count": count})

    @operation(
        "checkpoints_prune",
        body=ThreadIdsSerializer,
        answer=CheckpointCountSerializer,
        refuses=WITH_CONFLICT,
    )
    def prune(self, given: Given) -> Response:
        """Delete all but the latest state of each namespace of these threads, or all of them."""
        count = prune_threads(
            viewer=self._owner(given), thread_ids=given["thread_ids"], keep=Keep(given["keep"])
        )
        return Response({"count": count})

    @operation(
        "checkpoints_delete_runs",
        body=RunIdsSerializer,
        answer=CheckpointCountSerializer,
    )
    def remove_runs(self, given: Given) -> Response:
        """Delete the states that these runs saved, in any thread."""
        return Response({"count": delete_runs(viewer=self._owner(given), run_ids=given["run_ids"])})

    def _owner(self, given: Mapping[str, Any]) -> Viewer:  # Any: checked input
        with self.team_scope():
            return self.named_viewer({"agent": given.get("agent")})


def _names(thread_id: str, checkpoint_id: str | None = None) -> tuple[str, str]:
    name = _exact(thread_id, field="thread_id", most=MAX_THREAD_CHARS)
    if checkpoint_id is None:
        return name, ""
    return name, _exact(checkpoint_id, field="checkpoint_id", most=MAX_GRAPH_ID_CHARS)


def _exact(value: str, *, field: str, most: int) -> str:
    """A name as it stands in the address; ValidationError for one with spaces around it."""
    if name_in_address(value, field=field, max_length=most) != value:
        raise serializers.ValidationError({field: ExactNameField.default_error_messages["spaces"]})
    return value


def _saved(thread_id: str, namespace: str, checkpoint_id: str) -> Response:
    return Response(
        {"thread_id": thread_id, "namespace": namespace, "checkpoint_id": checkpoint_id}
    )
