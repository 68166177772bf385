"""States of graphs: saved step by step, listed, copied, pruned and deleted."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import name_in_address
from memory.api.pagination import IdPagination
from memory.api.schemas import PER_REQUEST
from memory.domain.audience import Viewer
from memory.satellites.langgraph.graph_states import (
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
from memory.satellites.langgraph.models import MAX_GRAPH_ID_CHARS, GraphCheckpoint
from memory.satellites.langgraph.selectors import checkpoints_of, contents_of
from memory.satellites.langgraph.serializers import (
    EXACT_LINE,
    AgentQuerySerializer,
    CheckpointCountSerializer,
    CopySerializer,
    ExactNameField,
    GraphCheckpointQuerySerializer,
    GraphCheckpointSerializer,
    GraphPageSerializer,
    GraphWritesSerializer,
    RunIdsSerializer,
    SavedGraphSerializer,
    ThreadIdsSerializer,
)
from teams.models.conversations import MAX_THREAD_CHARS


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

    @operation("checkpoints_list", query=GraphCheckpointQuerySerializer, answer=GraphPageSerializer)
    def entries(self, given: Given) -> Response:
        """Saved states of one thread or of all, the latest first, with values and writes."""
        with self.team_scope():
            viewer = self.named_lister({"agent": given.pop("agent", None)})
            pages = GraphPagination()
            rows = pages.paginate_queryset(checkpoints_of(viewer=viewer, **given), self.request)
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
        count = copy_thread(
            viewer=self._owner(given),
            thread_id=name,
            target_id=given["target_id"],
        )
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

    @operation("checkpoints_delete_runs", body=RunIdsSerializer, answer=CheckpointCountSerializer)
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
