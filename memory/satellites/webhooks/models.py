"""Endpoints of a team's programs, and the deliveries that wait for them."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from teams.ids import new_id
from teams.models.base import OfTeam, SameTeamKey, TeamKey, TeamOwned

# The events an endpoint may choose; the files of sql/ and the budget notices announce them.
WEBHOOK_EVENTS = (
    "memory.created",
    "memory.superseded",
    "memory.disputed",
    "memory.deleted",
    "contradiction.opened",
    "contradiction.resolved",
    "consent.requested",
    "budget.near",
    "budget.exhausted",
    "consolidation.finished",
)
TEST_EVENT = "webhook.test"


class WebhookEndpoint(TeamOwned):
    """An address of a team's own program that is told of the `events` it chose.

    `secret` is what its signing secret is made of together with a key outside the database;
    `old_secret` signs too until `old_secret_until`. `failing_since` is when the first of its
    failures in a row was. Nothing is sent to it before `rests_until`.
    """

    name = models.CharField(
        max_length=200, blank=True, default="", help_text="For example Slack bot."
    )
    url = models.CharField("address", max_length=2000)
    events = ArrayField(models.CharField(max_length=40), help_text="Events to send.")
    include_text = models.BooleanField(
        default=False, help_text="Include the text of memories in events."
    )
    is_enabled = models.BooleanField(
        "enabled",
        default=True,
        help_text="A disabled webhook receives no events. Events missed meanwhile are not sent"
        " later.",
    )
    note = models.CharField(max_length=300, blank=True, default="", editable=False)
    secret = models.CharField(max_length=80, editable=False)
    old_secret = models.CharField(max_length=80, blank=True, default="", editable=False)
    old_secret_until = models.DateTimeField(null=True, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False)
    failing_since = models.DateTimeField(null=True, editable=False)
    rests_until = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "teams_webhookendpoint"
        verbose_name = "webhook"
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name or self.url


class WebhookDelivery(OfTeam):
    """One event for one endpoint, written in the transaction of what it tells of.

    `id` is what the receiver knows it by, however often it is sent. Those with one `subject_id` are
    sent in the order of `seq`. `data` holds ids and figures and never a text; what it becomes is
    read when it is sent. With `once` there is one for the endpoint, however often it is announced.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        DELIVERED = "delivered", "Delivered"
        DEAD = "dead", "Failed"

    seq = models.BigAutoField(primary_key=True)
    team = TeamKey()
    id = models.UUIDField(default=new_id, editable=False)
    endpoint = SameTeamKey(WebhookEndpoint, related_name="deliveries")
    type = models.CharField(max_length=40)
    subject_id = models.UUIDField()
    data = models.JSONField(default=dict)
    once = models.CharField(max_length=200, null=True)  # noqa: DJ001 - unique where it is set
    happened_at = models.DateTimeField()
    state = models.CharField(
        max_length=10, choices=State.choices, default=State.WAITING, db_default="waiting"
    )
    attempts = models.PositiveIntegerField(default=0, db_default=0)
    due_at = models.DateTimeField(help_text="The time of the next attempt.")
    give_up_at = models.DateTimeField(help_text="The time after which no further attempt is made.")
    attempted_at = models.DateTimeField(null=True)
    status_code = models.PositiveSmallIntegerField(null=True)
    error = models.CharField(max_length=300, blank=True, default="", db_default="")

    class Meta:
        db_table = "teams_webhookdelivery"
        verbose_name = "webhook delivery"
        verbose_name_plural = "webhook deliveries"
        ordering = ["-seq"]
        constraints = [
            models.UniqueConstraint(fields=["team", "id"], name="webhook_delivery_id_once"),
            models.UniqueConstraint(
                fields=["team", "endpoint", "once"],
                condition=models.Q(once__isnull=False),
                name="webhook_delivery_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["team", "endpoint", "due_at"],
                condition=models.Q(state="waiting"),
                name="webhook_delivery_due",
            ),
            models.Index(
                fields=["team", "endpoint", "subject_id", "seq"],
                condition=models.Q(state="waiting"),
                name="webhook_delivery_order",
            ),
            models.Index(
                fields=["team", "endpoint", "state", "seq"], name="webhook_delivery_by_state"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.seq}"
