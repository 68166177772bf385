"""Extractions and episodes as jobs: the list opens on those that are not done."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from memory.models import Job
from memory.writing.jobs import ENDED_BADLY, queue_again
from teams.admin.base import TeamAdmin, section
from teams.admin.confirm import Change, list_action, page_action
from teams.admin.display import (
    excerpt_column,
    json_column,
    label_column,
    row_column,
    time_column,
)
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import RelatedFilter, display


def _run_again(request: HttpRequest, job: Job, reason: str) -> None:
    del request, reason
    queue_again(job=job)


RUN_AGAIN: Change[Job] = Change(
    verb="Run again",
    done="queued",
    explanation="The messages are read once more; what was stored already is not stored twice.",
    apply=_run_again,
)
_STATE_COLOURS = {
    "queued": "info",
    "running": "primary",
    "done": "success",
    "failed": "danger",
    "set_aside": "warning",
}


class WaitingFilter(OpenFirstFilter):
    """Jobs that are not done first."""

    title = "state"
    parameter_name = "state"
    states = {
        "waiting": ("Not done", ~Q(state=Job.State.DONE)),
        "at-work": ("Queued or running", Q(state__in=[Job.State.QUEUED, Job.State.RUNNING])),
        **{state.value: (str(state.label), Q(state=state)) for state in Job.State},
        "all": ("All", Q()),
    }


@admin.register(Job)
class JobAdmin(TeamAdmin[Job]):
    """Extractions and episodes, with the work that waits first."""

    list_display = [
        "messages",
        "kind",
        "state_label",
        "conversation",
        "attempts",
        "problem",
        "team",
        "created",
        "finished",
    ]
    list_filter = [
        WaitingFilter,
        ("conversation__agent", RelatedFilter),
        ("team", RelatedFilter),
        ("created_at", DaysFilter),
    ]
    list_select_related = ["team", "conversation"]
    ordering = ["-id"]
    when_empty = "No job waits, runs or has failed. The filter “state” shows those that are done."
    search_fields = ["conversation__thread_id", "error"]
    actions = ["run_again_selected"]
    actions_detail = ["run_again_this"]
    fieldsets = [
        section(
            None,
            ("kind", "state", "attempts", "team"),
            ("conversation_link", "messages"),
            ("created", "due", "finished"),
            ("tags_text", "ends"),
            "error",
            "result_document",
        )
    ]

    run_again_selected = list_action("run_again_selected", RUN_AGAIN, "Run again")
    run_again_this = page_action("run_again_this", RUN_AGAIN, "Run again", icon="replay")
    state_label = label_column("state", "state", _STATE_COLOURS)
    problem = excerpt_column("error", "problem", length=60)
    conversation_link = row_column("conversation", "conversation")
    result_document = json_column("result", "result")
    created = time_column("created_at", "created", ordering="id")
    finished = time_column("finished_at", "finished")
    ends = time_column("valid_to", "its memories end")
    due = time_column("due_at", "due")

    def useful_actions(self, row: Job) -> Collection[str]:
        """Show the button for a job that failed or was skipped."""
        return self.actions_detail if row.state in ENDED_BADLY else ()

    @display(description="tags of its memories")
    def tags_text(self, job: Job) -> str:
        """What each memory that it makes is tagged with."""
        return ", ".join(job.tags) or "—"

    @display(description="messages", ordering="from_position")
    def messages(self, job: Job) -> str:
        """Which messages it reads."""
        return f"{job.from_position} to {job.to_position}"
