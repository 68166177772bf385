"""Extractions and episodes as jobs: the list opens on those that are not done."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib import admin
from django.db.models import Q

from memory.models import Job
from memory.writing.jobs import ENDED_BADLY, queue_again
from teams.admin import display
from teams.admin.base import TeamAdmin, section
from teams.admin.confirm import Change, list_action, page_action
from teams.admin.filters import DaysFilter, condition_filter
from teams.admin.theme import RelatedFilter

RUN_AGAIN: Change[Job] = Change(
    verb="Run again",
    done="queued",
    explanation="The messages are read again. Memories that are already stored are not duplicated.",
    apply=lambda _request, job, _reason: queue_again(job=job),
)
_STATE_COLOURS = {
    "queued": "info",
    "running": "primary",
    "done": "success",
    "failed": "danger",
    "set_aside": "warning",
}


WaitingFilter = condition_filter(
    "state",
    {
        "waiting": ("Unfinished", ~Q(state=Job.State.DONE)),
        "at-work": ("Queued or running", Q(state__in=[Job.State.QUEUED, Job.State.RUNNING])),
        **{state.value: (str(state.label), Q(state=state)) for state in Job.State},
        "all": ("All", Q()),
    },
    opens_first=True,
)


@admin.register(Job)
class JobAdmin(TeamAdmin[Job]):
    """Extractions and episodes, with the work that waits first."""

    list_display = ["messages", "kind", "state_label", "conversation", "attempts", "problem"]
    list_display += ["team", "created", "finished"]
    list_filter = [
        WaitingFilter,
        ("conversation__agent", RelatedFilter),
        ("team", RelatedFilter),
        ("created_at", DaysFilter),
    ]
    list_select_related = ["team", "conversation"]
    ordering = ["-id"]
    when_empty = (
        "No jobs are waiting, running or failed. Use the filter “State” to see finished jobs."
    )
    search_fields = ["conversation__thread_id", "error"]
    actions = [list_action("run_again_selected", RUN_AGAIN, "Run again")]
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

    run_again_this = page_action("run_again_this", RUN_AGAIN, "Run again", icon="replay")
    messages = display.column(
        "messages",
        lambda job: f"{job.from_position} to {job.to_position}",
        ordering="from_position",
    )
    tags_text = display.column(
        "tags of the memories", lambda job: ", ".join(job.tags) or display.NOTHING
    )
    state_label = display.label_column("state", "state", _STATE_COLOURS)
    problem = display.excerpt_column("error", "problem", length=60)
    conversation_link = display.row_column("conversation", "conversation")
    result_document = display.json_column("result", "result")
    created = display.time_column("created_at", "created", ordering="id")
    finished = display.time_column("finished_at", "finished")
    ends = display.time_column("valid_to", "memories valid until")
    due = display.time_column("due_at", "due")

    def useful_actions(self, row: Job) -> Collection[str]:
        return self.actions_detail if row.state in ENDED_BADLY else ()
