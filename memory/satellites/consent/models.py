"""Changes that wait for a person's yes."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from memory.models.memory import Memory
from teams.models import Agent, EndUser
from teams.models.base import SameTeamKey, TeamOwned


class ConsentRequest(TeamOwned):
    """A proposed change that is applied only with a yes, and until then is no memory.

    A `profile_field` proposes `content` for a field of the person (`field`, such as "city");
    `present` is the memory that says it now, `draft` what a yes writes. A `team_preference`
    proposes that all know `memory`, which belongs to the person until then, or to the project where
    there is no `end_user`. `memory` is also what an approved value was written as. A `workflow`
    proposes `draft`, steps that `agent` took several times; its `end_user` is the one person in
    whose talk it did. A `team_fact` proposes to write `draft` for all: its `parts` are memories of
    several `people` that say it. `agent` is set where the draft would be that agent's alone,
    `heard_by` is the agent of the talk it comes from, or the one that proposed it. A
    request that needs nobody waits for a second independent signal. A `team_preference` with a
    `present` proposes to write `draft` in place of that preference of the team. The rows
    `first_seq` to `last_seq` of the log that belong to `commit_id` are what a yes changed.
    """

    class Kind(models.TextChoices):
        PROFILE_FIELD = "profile_field", "Profile field"
        TEAM_PREFERENCE = "team_preference", "Team preference"
        WORKFLOW = "workflow", "Workflow"
        TEAM_FACT = "team_fact", "Team fact"

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        APPROVED = "approved", "Approved"
        REJECTED = "rejected", "Rejected"
        EXPIRED = "expired", "Expired"

    kind = models.CharField(max_length=20, choices=Kind.choices, default=Kind.PROFILE_FIELD)
    state = models.CharField(max_length=20, choices=State.choices, default=State.WAITING)
    end_user = SameTeamKey(EndUser, null=True, blank=True, verbose_name="person")
    field = models.CharField(max_length=200, blank=True, default="")
    content = models.TextField()
    value_key = models.BinaryField(max_length=32, editable=False)
    category = models.CharField(max_length=100, blank=True, default="")
    present = SameTeamKey(Memory, null=True, blank=True)
    memory = SameTeamKey(Memory, null=True, blank=True)
    draft = models.JSONField(default=dict, blank=True)
    agent = SameTeamKey(Agent, null=True, blank=True)
    heard_by = SameTeamKey(Agent, null=True, blank=True)
    needs_person = models.BooleanField(default=True)
    source_message_ids = ArrayField(models.UUIDField(), default=list, blank=True)
    signals = models.JSONField(default=list, blank=True)
    proposed_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    snoozed_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then the inbox leaves it out."
    )
    decided_by = models.CharField(max_length=200, blank=True, default="")
    decided_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True, default="")
    commit_id = models.BigIntegerField(null=True, editable=False)
    first_seq = models.BigIntegerField(null=True, editable=False)
    last_seq = models.BigIntegerField(null=True, editable=False)

    class Meta:
        db_table = "memory_consentrequest"
        verbose_name = "consent request"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "end_user", "kind", "field", "value_key"],
                condition=models.Q(state="waiting"),
                name="consent_waiting_once",
            ),
            models.UniqueConstraint(
                fields=["team", "agent", "value_key"],
                condition=models.Q(state="waiting", kind="workflow"),
                name="consent_workflow_once",
            ),
            models.UniqueConstraint(
                fields=["team", "value_key"],
                condition=models.Q(state="waiting", kind="team_fact"),
                name="consent_team_fact_once",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["waiting", "approved", "rejected", "expired"],
                    kind__in=["profile_field", "team_preference", "workflow", "team_fact"],
                ),
                name="consent_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state="waiting", decided_at__isnull=True)
                | ~models.Q(state="waiting") & models.Q(decided_at__isnull=False),
                name="consent_decided_whole",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "created_at"],
                condition=models.Q(state="waiting"),
                name="consent_waiting",
            ),
            models.Index(fields=["team", "created_at"], name="consent_by_age"),
            models.Index(fields=["team", "end_user"], name="consent_by_person"),
            models.Index(
                fields=["team", "memory"],
                condition=models.Q(memory__isnull=False),
                name="consent_by_memory",
            ),
        ]

    def __str__(self) -> str:
        field = self.field.replace("_", " ") or self.get_kind_display()
        return f"{field} of {self.end_user}"

    @property
    def people(self) -> int:
        """The number of people who say the proposed fact; 1 for all but a team fact."""
        return int(self.draft.get("stated_by", 1))

    @property
    def is_waiting(self) -> bool:
        """Returns whether nobody decided yet and it has not expired."""
        return self.state == self.State.WAITING
