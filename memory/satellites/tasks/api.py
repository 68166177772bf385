"""The API of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import path
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, Given, operation
from memory.api.fields import (
    ContentField,
    ImportanceField,
    NameField,
    NoteField,
    OneOfField,
    StatementField,
    StrictBooleanField,
    StrictIntegerField,
)
from memory.api.memories import WrittenMemorySerializer
from memory.api.memory_views import MemoryWrites, code_of
from memory.api.request_events import write_event
from memory.api.schemas import ApiSerializer, QuerySerializer, StrictSerializer
from memory.domain.audience import Viewer
from memory.domain.types import MAX_SUBJECT_CHARS, MAX_TAGS, Source
from memory.models.memory import SOURCES
from memory.satellites.tasks.services import (
    NewItem,
    Promotion,
    add_item,
    begin_task,
    clear_items,
    end_task,
    items_of,
    promote_item,
    task_for,
)
from memory.satellites.tasks.store import TASK_ID, ItemKind, ProjectKind, Task, TaskState
from memory.understanding.tools import default_tools
from teams.services.idempotency import HEADER

KINDS = [(each.value, each.value) for each in ItemKind]
PROJECT_KINDS = [(each.value, each.value) for each in ProjectKind]
ITEM_ORDERS = ("created_at", "-created_at", "importance", "-importance")
STATES = [(each.value, each.value) for each in TaskState]
_WHOSE = "Of a team's key: whose task it is, where several agents have one of that id."


class TaskIdField(NameField):
    """A task's id as it stands in addresses."""

    default_error_messages = {
        "characters": "Use letters, figures and . _ : - and begin with a letter or a figure."
    }

    pattern = rf"^\s*{TASK_ID.pattern}\s*$"

    def to_internal_value(self, data: Any) -> str:  # Any: whatever the body holds
        value = super().to_internal_value(data)
        if not TASK_ID.fullmatch(value):
            self.fail("characters")
        return value


class NewTaskSerializer(StrictSerializer):
    """A task to begin."""

    example = {"agent": "kyra", "project": "apollo", "id": "release-7"}

    id = TaskIdField(required=False, allow_null=True, help_text="Made where it is left out.")
    agent = NameField(required=False, allow_null=True, help_text="Whose it is; created when new.")
    project = NameField(
        required=False,
        allow_null=True,
        help_text="To which its items can be promoted; created when new.",
    )
    ttl = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=settings.TASK_MAX_TTL_SECONDS,
        help_text="Seconds that the task lives after its last item;"
        f" {settings.TASK_TTL_SECONDS:,} if omitted.",
    )


class TaskSerializer(ApiSerializer):
    """A task."""

    id = serializers.CharField()
    agent = serializers.SerializerMethodField()
    project = serializers.SerializerMethodField()
    status = serializers.ChoiceField(choices=STATES, source="state")
    ttl = serializers.IntegerField(source="ttl_seconds")
    items = serializers.IntegerField(help_text="How many it holds.")
    bytes = serializers.IntegerField(source="size", help_text="The JSON of its items.")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="From then on it is unknown (404).")
    ended_at = serializers.DateTimeField(allow_null=True)

    def get_agent(self, task: Any) -> str | None:  # Any: a Task, or whatever stands for one
        """The slug of the agent, null for a task of the team."""
        return task.agent or None

    def get_project(self, task: Any) -> str | None:  # Any: as above
        """The slug of the project, null without one."""
        return task.project or None


class ClearedTaskSerializer(TaskSerializer):
    """A task whose items are gone."""

    cleared = serializers.IntegerField(help_text="How many items are gone.")


class TaskQuerySerializer(QuerySerializer):
    """A task."""

    agent = NameField(required=False, help_text=_WHOSE)


class ItemFilterSerializer(TaskQuerySerializer):
    """Filters of a task's items."""

    stage = NameField(required=False)
    kind = OneOfField(choices=KINDS, required=False)
    order_by = OneOfField(
        choices=[(name, name) for name in ITEM_ORDERS], required=False, default="created_at"
    )


class NewItemSerializer(StrictSerializer):
    """Reasoning with its text, or the output of a tool."""

    example = {
        "kind": "reasoning",
        "stage": "plan",
        "text": "The tests need Redis.",
        "importance": 7,
    }

    kind = OneOfField(choices=KINDS)
    stage = NameField(required=False, allow_null=True, help_text="Of the task, such as `plan`.")
    text = ContentField(required=False, help_text="Of `reasoning`.")
    tool = NameField(required=False, help_text="Of `tool_output`: which tool.")
    output = serializers.JSONField(
        required=False, allow_null=True, help_text="Of `tool_output`: any JSON value."
    )
    importance = ImportanceField(
        required=False,
        allow_null=True,
        help_text="1-10, or 0.0-1.0; if omitted 5 for reasoning, 7 for the output of a tool.",
    )
    tags = serializers.ListField(child=NameField(), required=False, max_length=MAX_TAGS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Checks that the fields of the kind are given, and no others."""
        is_tool = attrs["kind"] == ItemKind.TOOL_OUTPUT
        needed, others = ["text"], ["tool", "output"]
        if is_tool:
            needed, others = others, needed
        wrong = {name: ["This kind needs it."] for name in needed if name not in attrs}
        wrong |= {name: ["This kind has no such field."] for name in others if name in attrs}
        if wrong:
            raise serializers.ValidationError(wrong)
        return attrs


class ItemSerializer(ApiSerializer):
    """An item of a task."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=KINDS)
    stage = serializers.CharField(help_text="Empty for none.")
    text = serializers.CharField(help_text="Of reasoning, else empty.")
    tool = serializers.CharField(help_text="Of the output of a tool, else empty.")
    output = serializers.JSONField(allow_null=True)
    importance = serializers.IntegerField(help_text="1-10")
    tags = serializers.ListField(child=serializers.CharField())
    tokens = serializers.IntegerField(help_text="About how many a prompt spends on it.")
    source_ = serializers.SerializerMethodField(method_name="get_source")
    promoted_to = serializers.UUIDField(
        allow_null=True, help_text="The memory of the project that was made of it."
    )
    created_at = serializers.DateTimeField()

    def get_source(self, item: Any) -> str:  # Any: a TaskItem, or whatever stands for one
        """`task/{id}/{stage}`."""
        return str(item.source(self.context.get("task", "")))


class ItemsSerializer(ApiSerializer):
    """Items of a task in the order that was asked for, and how many there are."""

    count = serializers.IntegerField()
    results = ItemSerializer(many=True)


class PromotionSerializer(StrictSerializer):
    """The form in which an item is stored as a memory of the project."""

    content = StatementField(required=False, help_text="In these words; as it is if omitted.")
    kind = OneOfField(
        choices=PROJECT_KINDS,
        required=False,
        allow_null=True,
        help_text="Gives the form, the importance (9, 8 and 9), a tag, and the category of that"
        " name where the team's vocabulary has it. Without one, a text of one sentence has the form"
        " that the reader is sure of, if any.",
    )
    lesson = StatementField(required=False, help_text="Of a `failure`, which needs one.")
    project = NameField(required=False, help_text="Of a task that belongs to none.")
    importance = ImportanceField(required=False, allow_null=True, help_text="1-10, or 0.0-1.0.")
    category = NameField(required=False, allow_blank=True)
    subject = NameField(required=False, allow_blank=True, max_length=MAX_SUBJECT_CHARS)
    tags = serializers.ListField(child=NameField(), required=False, max_length=MAX_TAGS)
    is_pinned = StrictBooleanField(required=False, default=False)
    source = OneOfField(  # type: ignore[assignment]  # DRF fields have a `source` too
        choices=SOURCES,
        required=False,
        help_text="Who says it: `tool` for the output of a tool without `content`, else `agent`.",
    )
    reason = NoteField()


class TaskViewSet(MemoryWrites):
    """Notes of an agent at work on a task; they end with the task."""

    memory_actions = ("create", "load", "add", "items", "clear", "complete", "fail", "promote")
    operations = {"promote": ("hotpath", "create")}

    @operation(
        "tasks_create",
        body=NewTaskSerializer,
        answer={201: TaskSerializer},
        refuses=(403, 409, 422),
    )
    def create(self, given: Given) -> Response:
        """Begin a task. Its items lie in Redis alone, until it ends or its time to live is over.

        Each item lets the time begin anew. The id is the agent's own: 409 where it has a task of
        that id, or had one that ended within the last day, and where the team has as many open
        tasks as it may.
        """
        task = begin_task(
            viewer=self.viewer,
            now=timezone.now(),
            task_id=given.get("id") or "",
            agent=given.get("agent"),
            project=given.get("project"),
            ttl_seconds=given.get("ttl"),
        )
        return Response(TaskSerializer(task).data, status=status.HTTP_201_CREATED)

    @operation(
        "tasks_retrieve", query=TaskQuerySerializer, answer=TaskSerializer, refuses=WITH_CONFLICT
    )
    def load(self, given: Given, task_id: str) -> Response:
        """A task; that it ended is known for a day.

        A key of one agent sees that agent's tasks, a key of the team all of the team.
        """
        viewer = self._viewer(given)
        task = task_for(viewer=viewer, task_id=task_id, now=timezone.now())
        return Response(TaskSerializer(task).data)

    @operation(
        "tasks_items_create",
        query=TaskQuerySerializer,
        body=NewItemSerializer,
        answer={201: ItemSerializer},
        refuses=(403, 404, 409, 413, 422),
    )
    def add(self, given: Given, task_id: str) -> Response:
        """Note reasoning or the output of a tool; nothing of it becomes a memory by itself."""
        viewer = self._viewer(given)
        given = _said(given)
        item = add_item(
            viewer=viewer,
            task_id=task_id,
            now=timezone.now(),
            item=NewItem(**given | {"kind": ItemKind(given["kind"])}),
            # Redis may have stored it when its answer came too late.
            sent_as=self.request.headers.get(HEADER, ""),
        )
        shown = ItemSerializer(item, context={"task": task_id}).data
        return Response(shown, status=status.HTTP_201_CREATED)

    @operation(
        "tasks_items_list",
        query=ItemFilterSerializer,
        answer=ItemsSerializer,
        refuses=WITH_CONFLICT,
    )
    def items(self, given: Given, task_id: str) -> Response:
        """The items of an open task, all or those of a stage or kind, usually the first one first.

        A minus before the name of an order turns it round; of equal importance the older is first.
        """
        found = items_of(
            viewer=self._viewer(given),
            task_id=task_id,
            now=timezone.now(),
            stage=given.get("stage", ""),
            kind=ItemKind(given["kind"]) if "kind" in given else None,
        )
        field = given["order_by"]
        found.sort(key=attrgetter(field.removeprefix("-")), reverse=field.startswith("-"))
        shown = ItemSerializer(found, many=True, context={"task": task_id}).data
        return Response({"count": len(shown), "results": shown})

    @operation(
        "tasks_items_clear",
        query=TaskQuerySerializer,
        answer=ClearedTaskSerializer,
        refuses=WITH_CONFLICT,
    )
    def clear(self, given: Given, task_id: str) -> Response:
        """Drop all items of a task, which stays open; what was promoted of them stays a memory."""
        viewer = self._viewer(given)
        return self._cleared(*clear_items(viewer=viewer, task_id=task_id, now=timezone.now()))

    @operation(
        "tasks_complete",
        query=TaskQuerySerializer,
        answer=ClearedTaskSerializer,
        refuses=WITH_CONFLICT,
    )
    def complete(self, given: Given, task_id: str) -> Response:
        """Complete a task: its items are gone."""
        return self._close(task_id, TaskState.COMPLETED)

    @operation(
        "tasks_fail", query=TaskQuerySerializer, answer=ClearedTaskSerializer, refuses=WITH_CONFLICT
    )
    def fail(self, given: Given, task_id: str) -> Response:
        """Say that a task failed: its items are gone."""
        return self._close(task_id, TaskState.FAILED)

    @operation(
        "tasks_items_promote",
        query=TaskQuerySerializer,
        body=PromotionSerializer,
        answer={
            201: WrittenMemorySerializer,
            200: (WrittenMemorySerializer, "Promoted before: the existing memory."),
        },
        refuses=WITH_CONFLICT,
    )
    def promote(self, given: Given, task_id: str, item_id: UUID) -> Response:
        """Keep an item as a memory of the project, which all agents of the project see.

        Its tags and the reason in the log name the task and the item. Promoted again it is the
        same memory; with other words it is refused (409): correct the memory instead.
        """
        viewer = self._viewer(given)
        given = _said(given)
        kind = ProjectKind(given["kind"]) if given.get("kind") else None
        source = Source(given["source"]) if "source" in given else None
        result = promote_item(
            viewer=viewer,
            task_id=task_id,
            item_id=item_id,
            promotion=Promotion(**given | {"kind": kind, "source": source}),
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

    def _viewer(self, given: Given) -> Viewer:
        """The viewer of the agent that the query names, which is taken out of the values."""
        return self.named_viewer({"agent": given.pop("agent", None)})


def _said(given: Mapping[str, Any]) -> dict[str, Any]:  # Any: checked fields
    return {name: value for name, value in given.items() if value is not None}


_ITEMS = "tasks/<str:task_id>/items"
urlpatterns = [
    path("tasks", TaskViewSet.as_view({"post": "create"}), name="tasks"),
    path("tasks/<str:task_id>", TaskViewSet.as_view({"get": "load"}), name="task"),
    path(
        _ITEMS,
        TaskViewSet.as_view({"post": "add", "get": "items", "delete": "clear"}),
        name="task-items",
    ),
    path(
        f"{_ITEMS}/<uuid:item_id>/promote",
        TaskViewSet.as_view({"post": "promote"}),
        name="task-item-promote",
    ),
    *(
        path(f"tasks/<str:task_id>/{end}", TaskViewSet.as_view({"post": end}), name=f"task-{end}")
        for end in ("complete", "fail")
    ),
]
