"""Providers and models of teams, routing decisions, and what language models cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint
from django.utils import timezone

from routing.domain.budgets import CapKind
from routing.domain.complexity import Tier
from routing.domain.endpoints import problem_with_key_name, problem_with_url
from teams.models import Agent, EndUser
from teams.models.base import SameTeamKey, TeamOwned

TIERS = [(tier.value, tier.value.title()) for tier in Tier]
MAX_TIMEOUT_SECONDS = 600
MIN_CONTEXT_TOKENS = 1_024
MAX_CONTEXT_TOKENS = 100_000_000
# USD per 1,000 tokens; the dearest published price is far below.
MAX_PRICE_USD = Decimal(1_000)


def check_url(value: str) -> None:
    """Raises ValidationError for an address that cannot be a provider's."""
    if problem := problem_with_url(value):
        raise ValidationError(problem)


def check_key_name(value: str) -> None:
    """Raises ValidationError for an invalid name of a key's variable."""
    if problem := problem_with_key_name(value):
        raise ValidationError(problem)


class Provider(TeamOwned):
    """An OpenAI-compatible endpoint of the team.

    Its key stays in the server's environment, in `key_variable`, or here, encrypted.
    """

    name = models.CharField(
        max_length=60,
        validators=[RegexValidator(r"\A[\w][\w .-]*\Z", "Use letters, digits, spaces, . _ and -.")],
    )
    base_url = models.CharField(
        "base URL",
        max_length=500,
        default="https://api.openai.com/v1",
        validators=[check_url],
        help_text="For example https://host/v1.",
    )
    key_variable = models.CharField(
        "API key variable",
        max_length=100,
        blank=True,
        default="",
        validators=[check_key_name],
        help_text="The server's environment variable with the API key, for example"
        " PROVIDER_KEY_OPENAI. Empty: no key is sent.",
    )
    encrypted_key = models.TextField(blank=True, default="", db_default="", editable=False)
    timeout_seconds = models.FloatField(
        "timeout (seconds)",
        default=60.0,
        validators=[MinValueValidator(0.1), MaxValueValidator(MAX_TIMEOUT_SECONDS)],
        help_text="Seconds without a response after which the next model is tried.",
    )
    is_enabled = models.BooleanField("enabled", default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            UniqueConstraint(fields=["team", "name"], name="provider_name_once"),
            CheckConstraint(
                condition=Q(timeout_seconds__gt=0, timeout_seconds__lte=MAX_TIMEOUT_SECONDS),
                name="provider_timeout_sane",
            ),
            CheckConstraint(
                condition=Q(base_url__startswith="http://") | Q(base_url__startswith="https://"),
                name="provider_speaks_http",
            ),
            CheckConstraint(
                condition=Q(key_variable="") | Q(key_variable__regex=r"^PROVIDER_KEY_[A-Z0-9_]+$"),
                name="provider_key_is_a_name",
            ),
            CheckConstraint(
                condition=Q(key_variable="") | Q(encrypted_key=""), name="provider_has_one_key"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def unique_error_message(self, *_: object) -> ValidationError:
        return ValidationError("The team already has a provider of this name.", code="unique")


_PRICE: dict[str, Any] = {  # Any: of a field, any type
    "max_digits": 13,
    "decimal_places": 9,
    "validators": [MinValueValidator(0), MaxValueValidator(MAX_PRICE_USD)],
}


class ChatModel(TeamOwned):
    """A model of a provider, in one tier; prices are USD per 1,000 tokens."""

    provider = SameTeamKey(Provider, related_name="chat_models")
    name = models.CharField(
        max_length=200,
        validators=[RegexValidator(r"\A[!-~]+\Z", "Use the provider's name, without spaces.")],
        help_text="The provider's name for it, for example anthropic/claude-haiku-4.5.",
    )
    tier = models.CharField(max_length=20, choices=TIERS)
    input_price = models.DecimalField(
        "input price", help_text="USD per 1,000 input tokens.", **_PRICE
    )
    output_price = models.DecimalField(
        "output price", help_text="USD per 1,000 output tokens.", **_PRICE
    )
    context_window = models.PositiveIntegerField(
        default=128_000,
        validators=[MinValueValidator(MIN_CONTEXT_TOKENS), MaxValueValidator(MAX_CONTEXT_TOKENS)],
        help_text="Maximum tokens of input and output together.",
    )
    max_output_tokens = models.PositiveIntegerField(
        default=8_192, validators=[MinValueValidator(1)], help_text="Maximum tokens of a response."
    )
    priority = models.PositiveSmallIntegerField(
        default=100, help_text="Within a tier, the model with the lowest number is tried first."
    )
    is_enabled = models.BooleanField("enabled", default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "model"
        ordering = ["tier", "priority", "name"]
        constraints = [
            UniqueConstraint(fields=["team", "provider", "name"], name="chat_model_once"),
            CheckConstraint(
                condition=Q(tier__in=[tier for tier, _ in TIERS]), name="chat_model_tier_known"
            ),
            CheckConstraint(
                condition=Q(input_price__gte=0, output_price__gte=0),
                name="chat_model_prices_not_negative",
            ),
            CheckConstraint(
                condition=Q(
                    context_window__gte=MIN_CONTEXT_TOKENS,
                    max_output_tokens__gte=1,
                    max_output_tokens__lte=F("context_window"),
                ),
                name="chat_model_windows_sane",
                violation_error_message=(
                    "The longest answer must fit into the context window, which has"
                    f" {MIN_CONTEXT_TOKENS} tokens at least."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def unique_error_message(self, *_: object) -> ValidationError:
        return ValidationError("This provider already has a model of this name.", code="unique")


SCORERS = [("heuristics", "Heuristics"), ("model", "Model")]
OUTCOMES = [
    ("advised", "Advised"),
    ("answered", "Answered"),
    ("cut", "Cut off"),
    ("failed", "Failed"),
]


class RoutingDecision(TeamOwned):
    """The choice of a model, without the query's words: `query_hash` is keyed, and the team's own.

    `scores` is {dimension: {"score": 0-10, "reason": …}} and `score` their weighted sum. `outcome`
    and what follows it are written once, after the call: until then it is `advised`. `attempts` is
    [{"model", "provider", "failure"}…] of the models that failed. Costs are USD.
    """

    agent = SameTeamKey(Agent)
    end_user = SameTeamKey(EndUser, null=True, blank=True, verbose_name="person")
    query_hash = models.CharField(max_length=64)
    scores = models.JSONField()
    score = models.FloatField()
    scorer = models.CharField(max_length=20, choices=SCORERS)
    tier = models.CharField(max_length=20, choices=[(tier.value, tier.value) for tier in Tier])
    model = models.CharField(max_length=200)
    provider = models.CharField(max_length=60)
    reason = models.TextField()
    estimated_usd = models.DecimalField(max_digits=12, decimal_places=6)
    at = models.DateTimeField(default=timezone.now)

    outcome = models.CharField(max_length=20, choices=OUTCOMES, default="advised")
    answered_by = models.CharField(max_length=200, blank=True, default="")
    attempts = models.JSONField(default=list, blank=True)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    class Meta:
        verbose_name = "routing decision"
        ordering = ["-id"]
        constraints = [
            CheckConstraint(
                condition=Q(tier__in=[tier.value for tier in Tier]),
                name="routing_decision_tier_known",
            ),
            CheckConstraint(
                condition=Q(scorer__in=[name for name, _ in SCORERS]),
                name="routing_decision_scorer_known",
            ),
            CheckConstraint(
                condition=Q(outcome__in=[name for name, _ in OUTCOMES]),
                name="routing_decision_outcome_known",
            ),
            CheckConstraint(
                condition=Q(estimated_usd__gte=0), name="routing_decision_estimate_sane"
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-at"], name="routing_decision_by_time"),
            models.Index(fields=["team", "end_user", "-at"], name="routing_decision_by_user"),
        ]

    def __str__(self) -> str:
        return f"{self.tier} {self.model}"


class SpenderRow(TeamOwned):
    """A row about money that an agent spends, for an end user if any, or the team alone."""

    agent = SameTeamKey(Agent, null=True, blank=True)
    end_user = SameTeamKey(EndUser, null=True, blank=True, verbose_name="person")

    class Meta:
        abstract = True


class SpendEntry(SpenderRow):
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
            UniqueConstraint(
                fields=["team", "reservation_id"], name="spend_entry_once_a_reservation"
            ),
            CheckConstraint(condition=Q(cost_usd__gte=0), name="spend_entry_not_negative"),
        ]
        indexes = [models.Index(fields=["team", "-at"], name="spend_entry_by_time")]

    def __str__(self) -> str:
        return f"{self.cost_usd} USD of {self.model}"


class SpendReservation(SpenderRow):
    """Money held for a call until `expires_at`; removed when it is settled or released."""

    estimated_usd = models.DecimalField(max_digits=12, decimal_places=6)
    day = models.DateField()
    reserved_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            CheckConstraint(
                condition=Q(estimated_usd__gte=0), name="spend_reservation_not_negative"
            ),
        ]
        indexes = [models.Index(fields=["team", "expires_at"], name="spend_reservation_by_end")]

    def __str__(self) -> str:
        return f"{self.estimated_usd} USD until {self.expires_at}"


class SpendTotal(SpenderRow):
    """The sum of the entries of one window, kept by the database with each entry.

    `begins_on` is the first day of the window. `agent` or `end_user` is its owner; neither is set
    for the team's own. Beside the windows that a cap may limit there is the team's day.
    """

    kind = models.CharField(
        max_length=20,
        choices=[*((kind.value, kind.title) for kind in CapKind), ("team_day", "Team's day")],
    )
    begins_on = models.DateField()
    spent_usd = models.DecimalField(max_digits=18, decimal_places=6, default=Decimal(0))
    calls = models.PositiveBigIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = "spend total"
        ordering = ["-begins_on", "kind", "-spent_usd"]
        constraints = [
            UniqueConstraint(
                fields=["team", "kind", "begins_on", "agent", "end_user"],
                nulls_distinct=False,
                name="spend_total_once_a_window",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.spent_usd} USD from {self.begins_on}"


class SpendEpoch(TeamOwned):
    """The count of budget decisions by the database alone; counters of an older epoch are stale."""

    number = models.PositiveBigIntegerField()

    class Meta:
        constraints = [UniqueConstraint(fields=["team"], name="spend_epoch_of_team")]

    def __str__(self) -> str:
        return str(self.number)
