"""Working memory: tasks, their items, and what is promoted to the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import answers, refusals
from memory.api.request_events import write_event
from memory.api.serializers.memories import WrittenMemorySerializer
from memory.api.views.memory_changes import MemoryWrites, code_of
from memory.domain.audience import Viewer
from memory.satellites.tasks.domain import ItemKind, ProjectKind, Task, TaskState
from memory.satellites.tasks.promoting import Promotion, promote_item
from memory.satellites.tasks.serializers import (
    ClearedTaskSerializer,
    ItemFilterSerializer,
    ItemSerializer,
    ItemsSerializer,
    NewItemSerializer,
    NewTaskSerializer,
    PromotionSerializer,
    TaskQuerySerializer,
    TaskSerializer,
)
from memory.satellites.tasks.services import (
    NewItem,
    add_item,
    begin_task,
    clear_items,
    end_task,
    items_of,
    task_for,
)
from memory.understanding.tools import default_tools

_ID = OpenApiParameter("task_id", OpenApiTypes.STR, OpenApiParameter.PATH)
# Any: what drf-spectacular takes for a response
_CLEARED: dict[Any, Any] = answers(ClearedTaskSerializer, 403, 404, 409, 422)


class TaskViewSet(MemoryWrites):
    """What an agent notes while it works on a task; it ends with the task."""

    large_bodies = ("add",)
    memory_actions = ("create", "load", "add", "items", "clear", "complete", "fail", "promote")
    operations = {"promote": ("hotpath", "create")}

    @extend_schema(
        operation_id="tasks_create",
        request=NewTaskSerializer,
        responses={201: TaskSerializer, **refusals(403, 409, 422)},
    )
    def create(self, request: Request) -> Response:
        """Begin a task. Its items lie in Redis alone, until it ends or its time to live is over.

        Each item lets the time begin anew. The id is the agent's own: 409 where it has a task of
        that id, or had one that ended within the last day, and where the team has as many open
        tasks as it may.
        """
        given = self.body(NewTaskSerializer)
        self.check_agent(given.get("agent"))
        task = begin_task(
            viewer=self.viewer,
            now=timezone.now(),
            task_id=given.get("id") or "",
            agent=given.get("agent"),
            project=given.get("project"),
            ttl_seconds=given.get("ttl"),
        )
        return Response(TaskSerializer(task).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="tasks_retrieve",
        parameters=[_ID, TaskQuerySerializer],
        responses=answers(TaskSerializer, 403, 404, 409, 422),
    )
    def load(self, request: Request, task_id: str) -> Response:
        """A task; that it ended is known for a day.

        A key of one agent sees that agent's tasks, a key of the team all of the team.
        """
        viewer = self._viewer(self.params(TaskQuerySerializer))
        task = task_for(viewer=viewer, task_id=task_id, now=timezone.now())
        return Response(TaskSerializer(task).data)

    @extend_schema(
        operation_id="tasks_items_create",
        parameters=[_ID, TaskQuerySerializer],
        request=NewItemSerializer,
        responses={201: ItemSerializer, **refusals(403, 404, 409, 413, 422)},
    )
    def add(self, request: Request, task_id: str) -> Response:
        """Note reasoning or the output of a tool; nothing of it becomes a memory by itself."""
        viewer = self._viewer(self.params(TaskQuerySerializer))
        given = self.body(NewItemSerializer)
        item = add_item(
            viewer=viewer,
            task_id=task_id,
            now=timezone.now(),
            item=NewItem(
                kind=ItemKind(given["kind"]),
                stage=given.get("stage") or "",
                text=given.get("text", ""),
                tool=given.get("tool", ""),
                output=given.get("output"),
                importance=given.get("importance"),
                tags=tuple(given.get("tags", ())),
            ),
        )
        shown = ItemSerializer(item, context={"task": task_id}).data
        return Response(shown, status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="tasks_items_list",
        parameters=[_ID, ItemFilterSerializer],
        responses=answers(ItemsSerializer, 403, 404, 409, 422),
    )
    def items(self, request: Request, task_id: str) -> Response:
        """The items of an open task, the first one first, all or those of a stage or kind."""
        given = self.params(ItemFilterSerializer)
        found = items_of(
            viewer=self._viewer(given),
            task_id=task_id,
            now=timezone.now(),
            stage=given.get("stage", ""),
            kind=ItemKind(given["kind"]) if "kind" in given else None,
        )
        shown = ItemSerializer(found, many=True, context={"task": task_id}).data
        return Response({"results": shown})

    @extend_schema(
        operation_id="tasks_items_clear",
        parameters=[_ID, TaskQuerySerializer],
        responses=_CLEARED,
    )
    def clear(self, request: Request, task_id: str) -> Response:
        """Drop all items of a task, which stays open; what was promoted of them stays a memory."""
        viewer = self._viewer(self.params(TaskQuerySerializer))
        return self._cleared(*clear_items(viewer=viewer, task_id=task_id, now=timezone.now()))

    @extend_schema(
        operation_id="tasks_complete",
        parameters=[_ID, TaskQuerySerializer],
        request=None,
        responses=_CLEARED,
    )
    def complete(self, request: Request, task_id: str) -> Response:
        """Complete a task: its items are gone."""
        return self._close(task_id, TaskState.COMPLETED)

    @extend_schema(
        operation_id="tasks_fail",
        parameters=[_ID, TaskQuerySerializer],
        request=None,
        responses=_CLEARED,
    )
    def fail(self, request: Request, task_id: str) -> Response:
        """Say that a task failed: its items are gone."""
        return self._close(task_id, TaskState.FAILED)

    @extend_schema(
        operation_id="tasks_items_promote",
        parameters=[_ID, TaskQuerySerializer],
        request=PromotionSerializer,
        responses={
            201: WrittenMemorySerializer,
            200: OpenApiResponse(
                WrittenMemorySerializer, description="Promoted before: the existing memory."
            ),
            **refusals(403, 404, 409, 422),
        },
    )
    def promote(self, request: Request, task_id: str, item_id: UUID) -> Response:
        """Keep an item as a memory of the project, which all agents of the project see.

        Its tags and the reason in the log name the task and the item. Promoted again it is the
        same memory; with other words it is refused (409): correct the memory instead.
        """
        viewer = self._viewer(self.params(TaskQuerySerializer))
        given = self.body(PromotionSerializer)
        result = promote_item(
            viewer=viewer,
            task_id=task_id,
            item_id=item_id,
            promotion=Promotion(
                content=given.get("content", ""),
                kind=ProjectKind(given["kind"]) if given.get("kind") else None,
                lesson=given.get("lesson", ""),
                project=given.get("project", ""),
                importance=given.get("importance"),
                category=given.get("category", ""),
                subject=given.get("subject", ""),
                tags=tuple(given.get("tags", ())),
                is_pinned=given["is_pinned"],
                reason=given.get("reason") or "",
            ),
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([write_event(result)])
        (shown,) = self.written([result])
        return Response(shown, status=code_of(result))

    def _close(self, task_id: str, state: TaskState) -> Response:
        viewer = self._viewer(self.params(TaskQuerySerializer))
        ended = end_task(viewer=viewer, task_id=task_id, state=state, now=timezone.now())
        return self._cleared(*ended)

    def _cleared(self, task: Task, cleared: int) -> Response:
        return Response({**TaskSerializer(task).data, "cleared": cleared})

    def _viewer(self, given: Mapping[str, Any]) -> Viewer:  # Any: checked parameters
        return self.named_viewer({"agent": given.get("agent")})
