"""Runs that tend a team's store: what each planned and changed, and which pairs were judged."""

from __future__ import annotations

from enum import StrEnum

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from memory.domain.types import Verdict
from memory.models.memory import Memory
from teams.models import EndUser, Project
from teams.models.base import SameTeamKey, TeamOwned

ALL_VERDICTS = [(verdict.value, verdict.value) for verdict in Verdict]


class Step(StrEnum):
    """The steps in the order in which they run; a memory is changed by one step of a run."""

    DEDUPLICATE = "deduplicate"
    COMPRESS = "compress"
    RANK = "rank"
    CONTRADICTIONS = "contradictions"
    FORGET = "forget"
    LINK = "link"


class Kind(StrEnum):
    """The effect of a planned change on its memory."""

    MERGE = "merge"
    SUPERSEDE = "supersede"
    DISPUTE = "dispute"
    MOVE_TIER = "move_tier"
    EXPIRE = "expire"
    SHORTEN = "shorten"
    LINK = "link"
    WEAKEN = "weaken"
    UNLINK = "unlink"


STEPS = [(step.value, step.value) for step in Step]


class ConsolidationRun(TeamOwned):
    """One consolidation of a team, a person or a project.

    It is planned first and then carried out, page by page: `cursor` says how far planning got. A
    dry run ends with its plan. `counts` holds for each step how many changes were planned, made and
    left out.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        UNDONE = "undone", "Undone"

    steps = ArrayField(models.CharField(max_length=20, choices=STEPS))
    end_user = SameTeamKey(EndUser, null=True, blank=True, verbose_name="person")
    project = SameTeamKey(Project, null=True, blank=True)
    is_dry = models.BooleanField("dry run", default=False)
    actor = models.CharField(max_length=200)
    state = models.CharField(max_length=20, choices=State.choices, default=State.QUEUED)
    is_planned = models.BooleanField(default=False)
    cursor = models.JSONField(default=dict, blank=True)
    counts = models.JSONField(default=dict, blank=True)
    judged = models.PositiveIntegerField("pairs judged", default=0)
    cost_usd = models.DecimalField("cost (USD)", max_digits=12, decimal_places=6, default=0)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "memory_consolidationrun"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["team", "-created_at"], name="consolidation_by_time"),
            models.Index(
                fields=["team", "due_at"],
                condition=models.Q(state__in=["queued", "running"]),
                name="consolidation_unfinished",
            ),
        ]

    def __str__(self) -> str:
        return f"{'dry run' if self.is_dry else 'run'} {str(self.pk)[-6:]}"


class ConsolidationChange(TeamOwned):
    """One change that a run planned, in the order in which it is made; it holds no text
    of theirs but what `because` quotes, which goes with an erasure.

    Of a change that was made, the rows `first_seq` to `last_seq` of the log that belong to
    `commit_id` say what it did together with the others of its batch; there are none where it
    changed no memory. `result` names what else was written, such as a contradiction. `note` says
    why one was left out.
    """

    class State(models.TextChoices):
        PLANNED = "planned", "Planned"
        MADE = "made", "Made"
        LEFT_OUT = "left_out", "Skipped"

    run = SameTeamKey(ConsolidationRun, related_name="changes")
    position = models.PositiveIntegerField()
    step = models.CharField(max_length=20, choices=STEPS)
    kind = models.CharField(max_length=20)  # a `Kind`
    memory = SameTeamKey(Memory)
    other = SameTeamKey(Memory, null=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    because = models.CharField("reason", max_length=300)
    state = models.CharField(max_length=20, choices=State.choices, default=State.PLANNED)
    note = models.CharField(max_length=300, blank=True, default="")
    result = models.JSONField(default=dict)
    commit_id = models.BigIntegerField(null=True, editable=False)
    first_seq = models.BigIntegerField(null=True, editable=False)
    last_seq = models.BigIntegerField(null=True, editable=False)

    class Meta:
        db_table = "memory_consolidationchange"
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "run", "position"], name="consolidation_change_once"
            ),
        ]
        indexes = [
            models.Index(fields=["team", "run", "memory"], name="consolidation_by_memory"),
            models.Index(
                fields=["team", "run", "other"],
                condition=models.Q(other__isnull=False),
                name="consolidation_by_other",
            ),
            models.Index(fields=["team", "memory"], name="consolidation_of_memory"),
            models.Index(
                fields=["team", "other"],
                condition=models.Q(other__isnull=False),
                name="consolidation_of_other",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {str(self.memory_id)[-6:]}"


class JudgedPair(TeamOwned):
    """A judge's verdict on a pair of memories, kept so that nobody asks again (seed 004, §4).

    `earlier` was said first. `similarity` is their cosine, rounded to hundredths: a pair that lies
    otherwise by now is judged anew.
    """

    earlier = SameTeamKey(Memory)
    later = SameTeamKey(Memory)
    similarity = models.DecimalField(max_digits=4, decimal_places=2)
    end_user = SameTeamKey(EndUser, null=True)
    verdict = models.CharField(max_length=20, choices=ALL_VERDICTS)
    confidence = models.FloatField()
    reason = models.CharField(max_length=500, blank=True)
    judge = models.CharField(max_length=200)
    judged_at = models.DateTimeField()

    class Meta:
        db_table = "memory_judgedpair"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "earlier", "later", "similarity"], name="judged_pair_once"
            ),
        ]
        indexes = [
            models.Index(fields=["team", "end_user", "judged_at"], name="judged_pairs_of_person"),
            models.Index(fields=["team", "later"], name="judged_pairs_by_later"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} {str(self.pk)[-6:]}"


RUN_STATES = ConsolidationRun.State.choices
CHANGE_STATES = ConsolidationChange.State.choices
