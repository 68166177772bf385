"""What models cost: every settled call, what is held for calls under way, and the sums."""

from __future__ import annotations

from decimal import Decimal

from django.db import models

from routing.domain.budgets import CapKind
from teams.models import Agent, EndUser
from teams.models.base import SameTeamKey, TeamOwned


class Spender(TeamOwned):
    """A row about the money that an agent spends, for an end user where there is one.

    What no agent asked for, such as the judging of a person's merge, is the team's alone.
    """

    agent = SameTeamKey(Agent, null=True, blank=True)
    end_user = SameTeamKey(EndUser, null=True, blank=True)

    class Meta:
        abstract = True


class SpendEntry(Spender):
    """One settled call of a model; never changed, never removed.

    `day` is the day of the team's time zone in which the money was reserved: whatever happens at
    midnight or to the time zone later, the call counts in the windows whose caps admitted it.
    """

    reservation_id = models.UUIDField()
    model = models.CharField(max_length=200)
    tier = models.CharField(max_length=40)
    input_tokens = models.PositiveIntegerField()
    output_tokens = models.PositiveIntegerField()
    cost_usd = models.DecimalField(max_digits=12, decimal_places=6)
    day = models.DateField()
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "spend entries"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "reservation_id"], name="spend_entry_once_a_reservation"
            ),
            models.CheckConstraint(
                condition=models.Q(cost_usd__gte=0), name="spend_entry_not_negative"
            ),
        ]
        indexes = [models.Index(fields=["team", "-at"], name="spend_entry_by_time")]

    def __str__(self) -> str:
        return f"{self.cost_usd} USD of {self.model}"


class SpendReservation(Spender):
    """Money held for a call under way; gone once the call is settled or given up.

    Its id is the reservation's. After `expires_at` it holds nothing any more.
    """

    estimated_usd = models.DecimalField(max_digits=12, decimal_places=6)
    day = models.DateField()
    reserved_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(estimated_usd__gte=0), name="spend_reservation_not_negative"
            ),
        ]
        indexes = [models.Index(fields=["team", "expires_at"], name="spend_reservation_by_end")]

    def __str__(self) -> str:
        return f"{self.estimated_usd} USD until {self.expires_at}"


class SpendTotal(TeamOwned):
    """What the entries of one window sum up to; the database keeps it with each entry.

    `begins_on` is the window's first day. `agent` and `end_user` say whose window it is; the
    team's own has neither. Beside the windows that a cap may bound there is the team's day.
    """

    kind = models.CharField(
        max_length=20,
        choices=[*((kind.value, kind.title) for kind in CapKind), ("team_day", "Team's day")],
    )
    agent = SameTeamKey(Agent, null=True, blank=True)
    end_user = SameTeamKey(EndUser, null=True, blank=True)
    begins_on = models.DateField()
    spent_usd = models.DecimalField(max_digits=18, decimal_places=6, default=Decimal(0))
    calls = models.PositiveBigIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = "spend total"
        ordering = ["-begins_on", "kind", "-spent_usd"]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "kind", "begins_on", "agent", "end_user"],
                nulls_distinct=False,
                name="spend_total_once_a_window",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.spent_usd} USD from {self.begins_on}"


class SpendEpoch(TeamOwned):
    """How often the durable record decided by itself: counters of an earlier epoch are stale."""

    number = models.PositiveBigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team"], name="spend_epoch_of_team")]

    def __str__(self) -> str:
        return str(self.number)
