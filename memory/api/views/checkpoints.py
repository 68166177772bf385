"""States of graphs: saved step by step, listed, copied, pruned and deleted."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers
from memory.api.fields import (
    LINE,
    NameField,
    OneOfField,
    StrictBooleanField,
    StrictIntegerField,
    TextField,
    name_in_address,
)
from memory.api.pagination import IdPagination
from memory.api.serializers.base import (
    PER_REQUEST,
    ApiSerializer,
    PageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.api.views.threads import THREAD, ObjectField
from memory.domain.viewer import Viewer
from memory.models import GraphCheckpoint
from memory.models.graphs import MAX_CHANNEL_CHARS, MAX_GRAPH_ID_CHARS, MAX_NAMESPACE_CHARS
from memory.selectors.graph_states import checkpoints_of, contents_of
from memory.services.graph_states import (
    Encoded,
    Keep,
    NewCheckpoint,
    NewWrite,
    copy_thread,
    delete_runs,
    delete_threads,
    prune_threads,
    save_checkpoint,
    save_writes,
)

MAX_CHANNELS = 1_000
CHECKPOINT = OpenApiParameter("checkpoint_id", OpenApiTypes.STR, OpenApiParameter.PATH)


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
    pattern = f"^{LINE}$"

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

    thread_id = ExactNameField(required=False, max_length=200)
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
    thread_ids = serializers.ListField(child=ExactNameField(max_length=200), max_length=PER_REQUEST)
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

    large_bodies = ("save", "add_writes")
    serializer_class = LoadedGraphSerializer

    @extend_schema(
        operation_id="checkpoints_save",
        parameters=[THREAD, CHECKPOINT],
        request=GraphCheckpointSerializer,
        responses=answers(SavedGraphSerializer, 403, 409, 413, 422),
    )
    def save(self, request: Request, thread_id: str, checkpoint_id: str) -> Response:
        """Save the state of a graph after one of its steps; the same id again replaces it."""
        name, number = _names(thread_id, checkpoint_id)
        given = self.body(GraphCheckpointSerializer)
        self.check_agent(given.get("agent"))
        save_checkpoint(
            viewer=self.viewer,
            thread_id=name,
            agent=given.get("agent"),
            user=given.get("user"),
            checkpoint=NewCheckpoint(
                checkpoint_id=number,
                namespace=given["namespace"],
                parent_id=given["parent_id"],
                data=given["data"],
                metadata=given.get("metadata", {}),
                channels=given.get("channels", {}),
                values={each["channel"]: _encoded(each) for each in given.get("values", ())},
                needs_ancestors=given["needs_ancestors"],
            ),
            now=timezone.now(),
        )
        return Response(
            {"thread_id": name, "namespace": given["namespace"], "checkpoint_id": number}
        )

    @extend_schema(
        operation_id="checkpoints_add_writes",
        parameters=[THREAD, CHECKPOINT],
        request=GraphWritesSerializer,
        responses=answers(SavedGraphSerializer, 403, 409, 413, 422),
    )
    def add_writes(self, request: Request, thread_id: str, checkpoint_id: str) -> Response:
        """Keep what a task wrote after a checkpoint, so that it need not run again."""
        name, number = _names(thread_id, checkpoint_id)
        given = self.body(GraphWritesSerializer)
        self.check_agent(given.get("agent"))
        save_writes(
            viewer=self.viewer,
            thread_id=name,
            agent=given.get("agent"),
            user=given.get("user"),
            namespace=given["namespace"],
            checkpoint_id=number,
            task_id=given["task_id"],
            task_path=given["task_path"],
            writes=[
                NewWrite(each["index"], each["channel"], _encoded(each)) for each in given["writes"]
            ],
            replaces=given["replace"],
        )
        return Response(
            {"thread_id": name, "namespace": given["namespace"], "checkpoint_id": number}
        )

    @extend_schema(
        operation_id="checkpoints_list",
        parameters=[GraphCheckpointQuerySerializer],
        responses=answers(GraphPageSerializer, 403, 404, 422),
    )
    def entries(self, request: Request) -> Response:
        """Saved states of one thread or of all, the latest first, with values and writes."""
        given = self.filters(GraphCheckpointQuerySerializer)
        with self.team_scope():
            viewer = self.named_viewer({"agent": given.pop("agent", None)})
            pages = GraphPagination()
            rows = pages.paginate_queryset(checkpoints_of(viewer=viewer, **given), request)
            contents = contents_of(viewer=viewer, rows=rows)
        results = [
            _shown(row)
            | {
                "values": [_content(each) for each in contents.values.get(row.pk, ())],
                "writes": [
                    _content(each)
                    | {"task_id": each.task_id, "task_path": each.task_path, "index": each.index}
                    for each in contents.writes.get(row.pk, ())
                ],
            }
            for row in contents.rows
        ]
        return Response(pages.links() | {"results": results})

    @extend_schema(
        operation_id="checkpoints_delete_thread",
        parameters=[THREAD, AgentQuerySerializer],
        responses=answers(CheckpointCountSerializer, 403, 404, 422),
    )
    def remove(self, request: Request, thread_id: str) -> Response:
        """Delete all states of a thread; the count is 0 where there are none."""
        name, _ = _names(thread_id)
        viewer = self._owner(self.params(AgentQuerySerializer))
        return Response({"count": delete_threads(viewer=viewer, thread_ids=[name])})

    @extend_schema(
        operation_id="checkpoints_copy_thread",
        parameters=[THREAD],
        request=CopySerializer,
        responses=answers(CheckpointCountSerializer, 403, 404, 409, 422),
    )
    def copy(self, request: Request, thread_id: str) -> Response:
        """Copy all states of a thread to a new one."""
        name, _ = _names(thread_id)
        given = self.body(CopySerializer)
        count = copy_thread(
            viewer=self._owner(given),
            thread_id=name,
            target_id=given["target_id"],
        )
        return Response({"count": count})

    @extend_schema(
        operation_id="checkpoints_prune",
        request=ThreadIdsSerializer,
        responses=answers(CheckpointCountSerializer, 403, 404, 409, 422),
    )
    def prune(self, request: Request) -> Response:
        """Delete all but the latest state of each namespace of these threads, or all of them."""
        given = self.body(ThreadIdsSerializer)
        count = prune_threads(
            viewer=self._owner(given), thread_ids=given["thread_ids"], keep=Keep(given["keep"])
        )
        return Response({"count": count})

    @extend_schema(
        operation_id="checkpoints_delete_runs",
        request=RunIdsSerializer,
        responses=answers(CheckpointCountSerializer, 403, 404, 422),
    )
    def remove_runs(self, request: Request) -> Response:
        """Delete the states that these runs saved, in any thread."""
        given = self.body(RunIdsSerializer)
        return Response({"count": delete_runs(viewer=self._owner(given), run_ids=given["run_ids"])})

    def _owner(self, given: Mapping[str, Any]) -> Viewer:  # Any: checked input
        with self.team_scope():
            return self.named_viewer({"agent": given.get("agent")})


def _names(thread_id: str, checkpoint_id: str | None = None) -> tuple[str, str]:
    name = _exact(thread_id, field="thread_id", most=200)
    if checkpoint_id is None:
        return name, ""
    return name, _exact(checkpoint_id, field="checkpoint_id", most=MAX_GRAPH_ID_CHARS)


def _exact(value: str, *, field: str, most: int) -> str:
    """A name as it stands in the address; ValidationError for one with spaces around it."""
    if name_in_address(value, field=field, max_length=most) != value:
        raise serializers.ValidationError({field: ExactNameField.default_error_messages["spaces"]})
    return value


def _encoded(given: Mapping[str, Any]) -> Encoded:  # Any: checked input
    return Encoded(given["type"], given["value"])


def _content(stored: Any) -> dict[str, object]:  # Any: a value or a write
    value = b64encode(stored.value).decode()
    return {"channel": stored.channel, "type": stored.kind, "value": value}


def _shown(row: GraphCheckpoint) -> dict[str, object]:
    """What LoadedGraphSerializer describes, without values and writes."""
    thread = row.thread
    return {
        "thread_id": thread.thread_id,
        "user": thread.end_user.external_id if thread.end_user else None,
        "agent": thread.agent.slug if thread.agent else None,
        "namespace": row.namespace,
        "checkpoint_id": row.checkpoint_id,
        "parent_id": row.parent_id,
        "saved_at": row.saved_at,
        "data": json.loads(row.data),
        "metadata": row.metadata,
    }
