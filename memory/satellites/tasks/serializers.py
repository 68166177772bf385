"""Tasks, their items, and what is promoted of them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from memory.api.fields import (
    ContentField,
    NameField,
    OneOfField,
    StatementField,
    StrictBooleanField,
    StrictIntegerField,
    TextField,
)
from memory.api.serializers.base import ApiSerializer, QuerySerializer, StrictSerializer
from memory.domain.types import MAX_SUBJECT_CHARS, MAX_TAGS
from memory.satellites.tasks.domain import TASK_ID, ItemKind, ProjectKind, TaskState

KINDS = [(each.value, each.value) for each in ItemKind]
PROJECT_KINDS = [(each.value, each.value) for each in ProjectKind]
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
    """Which task."""

    agent = NameField(required=False, help_text=_WHOSE)


class ItemFilterSerializer(TaskQuerySerializer):
    """Which items of a task."""

    stage = NameField(required=False)
    kind = OneOfField(choices=KINDS, required=False)


class NewItemSerializer(StrictSerializer):
    """Reasoning with its text, or the output of a tool."""

    kind = OneOfField(choices=KINDS)
    stage = NameField(required=False, allow_null=True, help_text="Of the task, such as `plan`.")
    text = ContentField(required=False, help_text="Of `reasoning`.")
    tool = NameField(required=False, help_text="Of `tool_output`: which tool.")
    output = serializers.JSONField(
        required=False, allow_null=True, help_text="Of `tool_output`: any JSON value."
    )
    importance = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=10,
        help_text="If omitted: 5 for reasoning, 7 for the output of a tool.",
    )
    tags = serializers.ListField(child=NameField(), required=False, max_length=MAX_TAGS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """What belongs to the kind is there, and nothing else."""
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
    """Items of a task, the first one first."""

    results = ItemSerializer(many=True)


class PromotionSerializer(StrictSerializer):
    """How an item is kept as a memory of the project."""

    content = StatementField(required=False, help_text="In these words; as it is if omitted.")
    kind = OneOfField(
        choices=PROJECT_KINDS,
        required=False,
        allow_null=True,
        help_text="Gives the importance (9, 8 and 9), a tag, and the category of that name where"
        " the team's vocabulary has it.",
    )
    lesson = StatementField(required=False, help_text="Of a `failure`, which needs one.")
    project = NameField(required=False, help_text="Of a task that belongs to none.")
    importance = StrictIntegerField(required=False, allow_null=True, min_value=1, max_value=10)
    category = NameField(required=False, allow_blank=True)
    subject = NameField(required=False, allow_blank=True, max_length=MAX_SUBJECT_CHARS)
    tags = serializers.ListField(child=NameField(), required=False, max_length=MAX_TAGS)
    is_pinned = StrictBooleanField(required=False, default=False)
    reason = TextField(required=False, allow_blank=True, allow_null=True, max_length=2000)
