"""Extraction jobs: the list opens on those that are not done."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse

from memory.models import Job
from memory.services.extracting.jobs import queue_again
from teams.admin.base import TeamAdmin
from teams.admin.confirm import Change, confirm_and_run
from teams.admin.display import NOTHING, as_json, excerpt, link, moment, page_of
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import RelatedFilter, action, display


def _run_again(request: HttpRequest, job: Job, reason: str) -> None:
    del request, reason
    queue_again(job=job)


RUN_AGAIN: Change[Job] = Change(
    verb="Run again",
    done="queued",
    explanation="The messages are read once more; what was stored already is not stored twice.",
    apply=_run_again,
)


class WaitingFilter(OpenFirstFilter):
    """Unfinished and failed ones first."""

    title = "state"
    parameter_name = "state"
    states = {
        "waiting": ("Not done", ~Q(state=Job.State.DONE)),
        "at-work": ("At work", Q(state__in=[Job.State.QUEUED, Job.State.RUNNING])),
        **{state.value: (str(state.label), Q(state=state)) for state in Job.State},
        "all": ("All", Q()),
    }


@admin.register(Job)
class JobAdmin(TeamAdmin[Job]):
    """What the workers have to do, did, or failed at."""

    list_display = [
        "messages",
        "state_label",
        "conversation",
        "attempts",
        "problem",
        "team",
        "created",
        "finished",
    ]
    list_filter = [WaitingFilter, ("team", RelatedFilter), ("created_at", DaysFilter)]
    list_select_related = ["team", "conversation"]
    ordering = ["-id"]
    when_empty = "No job waits, runs or has failed. The filter “state” shows those that are done."
    search_fields = ["conversation__thread_id", "error"]
    actions = ["run_again_selected"]
    actions_detail = ["run_again_this"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("state", "attempts", "team"),
                    ("conversation_link", "messages"),
                    ("created", "finished", "leased"),
                    "error",
                    "result_document",
                ]
            },
        )
    ]

    @action(description="Run again", permissions=["act"])
    def run_again_selected(
        self, request: HttpRequest, queryset: QuerySet[Job]
    ) -> HttpResponse | None:
        """Queue the chosen failed jobs."""
        return confirm_and_run(self, request, queryset, RUN_AGAIN)

    @action(description="Run again", permissions=["act"], url_path="run-again", icon="replay")
    def run_again_this(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Queue this failed job."""
        return self.change_this(request, object_id, RUN_AGAIN)

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> list[Any]:
        """A button for a failed job alone."""
        job = self.get_object(request, object_id)
        has_failed = job is not None and job.state == Job.State.FAILED
        return super().get_actions_detail(request, object_id) if has_failed else []

    @display(description="messages", ordering="from_position")
    def messages(self, job: Job) -> str:
        """Which messages it reads."""
        return f"{job.from_position} to {job.to_position}"

    @display(
        description="state",
        ordering="state",
        label={"queued": "info", "running": "primary", "done": "success", "failed": "danger"},
    )
    def state_label(self, job: Job) -> str:
        """Where it stands, coloured."""
        return job.state

    @display(description="problem")
    def problem(self, job: Job) -> str:
        """The beginning of the last error."""
        return excerpt(job.error, 60) or NOTHING

    @display(description="conversation")
    def conversation_link(self, job: Job) -> str:
        """The conversation whose messages it reads."""
        page = page_of("teams_conversation", job.conversation_id)
        return link(page, job.conversation.thread_id)

    @display(description="result")
    def result_document(self, job: Job) -> str:
        """What it did."""
        return as_json(job.result)

    @display(description="created", ordering="id")
    def created(self, job: Job) -> str:
        """When it was queued."""
        return moment(job.created_at)

    @display(description="finished", ordering="finished_at")
    def finished(self, job: Job) -> str:
        """When it was done or given up."""
        return moment(job.finished_at)

    @display(description="leased until")
    def leased(self, job: Job) -> str:
        """Until when its run, or its pause, lasts."""
        return moment(job.lease_until)
