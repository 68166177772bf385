"""Background work on ranges of messages as rows, and what a context no longer holds in full."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from memory.models.memory import Memory
from teams.models import Conversation
from teams.models.base import SameTeamKey, TeamOwned


class JobQuerySet(models.QuerySet["Job"]):
    """Jobs by what they do."""

    def extractions(self) -> JobQuerySet:
        """Returns those that extract memories; each message belongs to one of them."""
        return self.filter(kind=Job.Kind.EXTRACT)


class Job(TeamOwned):
    """The extraction of one range of a conversation's messages, or the episode of one.

    A range is given to one job when the job is made. Messages up to `done_position` are extracted:
    their memories and that position were committed together. Whoever runs the job holds the lock of
    its conversation; a job that is `running` while nobody holds it lost its worker. Candidates over
    a cap are kept in `waiting`, of a job that is done as well, until `due_at`. A range that fails
    again and again becomes a job of its own, skipped until somebody runs it again. `reported_at` is
    when a caller was last answered with its result.
    """

    class Kind(models.TextChoices):
        EXTRACT = "extract", "Extraction"
        EPISODE = "episode", "Episode"

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        SET_ASIDE = "set_aside", "Skipped"

    conversation = SameTeamKey(Conversation, related_name="jobs")
    kind = models.CharField(
        max_length=10, choices=Kind.choices, default=Kind.EXTRACT, db_default=Kind.EXTRACT.value
    )
    from_position = models.PositiveIntegerField()
    to_position = models.PositiveIntegerField()
    state = models.CharField(max_length=20, choices=State.choices, default=State.QUEUED)
    is_capped = models.BooleanField(
        default=True, help_text="Whether the caps of talk hold; imports have none."
    )
    done_position = models.PositiveIntegerField(
        default=0, help_text="The messages up to here are extracted."
    )
    left_out = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="How many candidates the caps kept out; empty before anything was extracted.",
    )
    waiting = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        blank=True,
        help_text="Those candidates, until a later run writes them.",
    )
    written_on = models.DateField(
        null=True, blank=True, help_text="The last day (UTC) on which it wrote memories."
    )
    written_that_day = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How many memories it wrote on that day."
    )
    attempts = models.PositiveIntegerField(default=0)
    one_by_one_to = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="The messages up to here are read one at a time, as one of them fails.",
    )
    due_at = models.DateTimeField(
        db_default=Now(), help_text="It is not run before; by the database's clock."
    )
    tags = ArrayField(
        models.CharField(max_length=100),
        default=list,
        db_default=models.Value([]),
        blank=True,
        help_text="Tags of every memory that it makes, beside the memory's own.",
    )
    valid_to = models.DateTimeField(
        null=True, blank=True, help_text="When every memory that it makes ends at the latest."
    )
    result = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    reported_at = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "conversation", "from_position", "kind"],
                name="job_range_of_kind_once",
            ),
            models.CheckConstraint(
                condition=models.Q(to_position__gte=models.F("from_position")),
                name="job_range_ordered",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "due_at"],
                condition=models.Q(state__in=["queued", "running"])
                | models.Q(state="done", left_out__gt=0),
                name="job_due",
            ),
            models.Index(
                fields=["team", "-finished_at"],
                condition=models.Q(state="done"),
                name="job_done_by_time",
            ),
            models.Index(
                fields=["team", "-finished_at"],
                condition=models.Q(state="failed"),
                name="job_failed_by_time",
            ),
            models.Index(
                fields=["team", "-finished_at"],
                condition=models.Q(state="set_aside"),
                name="job_set_aside_by_time",
            ),
            models.Index(fields=["team", "-created_at"], name="job_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.from_position}-{self.to_position}"

    @property
    def messages(self) -> int:
        return self.to_position - self.from_position + 1

    @property
    def messages_done(self) -> int:
        """The number of extracted messages."""
        if self.state == self.State.DONE:
            return self.messages
        return max(0, self.done_position - self.from_position + 1)


class Compaction(TeamOwned):
    """Messages `from_position` to `to_position`, extracted and summed up; they stay in the log.

    `summary` covers everything up to `to_position`, earlier compactions included. `points` are the
    statements it was made of, the less important ones that found no room in it included: what the
    next summary is built on. Each is `{"text", "importance", "said_at", "memory_ids"}`.
    """

    conversation = SameTeamKey(Conversation, related_name="compactions")
    from_position = models.PositiveIntegerField()
    to_position = models.PositiveIntegerField()
    summary = models.TextField()
    points = models.JSONField(default=list, blank=True)
    summary_memory = SameTeamKey(Memory)
    extraction = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["conversation", "to_position"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "conversation", "from_position"], name="compaction_range_once"
            ),
            models.CheckConstraint(
                condition=models.Q(to_position__gte=models.F("from_position")),
                name="compaction_range_ordered",
            ),
        ]

    def __str__(self) -> str:
        return f"compact {self.from_position}-{self.to_position}"
