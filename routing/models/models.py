"""Whom a team's language models are asked of, which ones there are, and what they cost."""

from __future__ import annotations

from decimal import Decimal

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from routing.domain.complexity import Tier
from routing.domain.endpoints import problem_with_key_name, problem_with_url
from teams.models.base import SameTeamKey, TeamOwned

TIERS = [(tier.value, tier.value.title()) for tier in Tier]
MAX_TIMEOUT_SECONDS = 600
MIN_CONTEXT_TOKENS = 1_024
MAX_CONTEXT_TOKENS = 100_000_000
# USD per 1,000 tokens; the dearest published price is far below.
MAX_PRICE_USD = Decimal(1_000)


def check_url(value: str) -> None:
    """Raise ValidationError for an address that cannot be a provider's."""
    if words := problem_with_url(value):
        raise ValidationError(words)


def check_key_name(value: str) -> None:
    """Raise ValidationError for what is no name of a key's variable."""
    if words := problem_with_key_name(value):
        raise ValidationError(words)


class Provider(TeamOwned):
    """An OpenAI-compatible endpoint of the team; its key stays in the server's environment."""

    name = models.CharField(
        max_length=60,
        validators=[RegexValidator(r"\A[\w][\w .-]*\Z", "Use letters, digits, spaces, . _ and -.")],
    )
    base_url = models.CharField(
        "base URL",
        max_length=500,
        default="https://api.openai.com/v1",
        validators=[check_url],
        help_text="As in https://host/v1: http or https, without a query. The server calls it.",
    )
    key_variable = models.CharField(
        "API key variable",
        max_length=100,
        blank=True,
        default="",
        validators=[check_key_name],
        help_text="The environment variable of the server that holds the key, such as"
        " PROVIDER_KEY_OPENAI; empty for an endpoint that asks for none.",
    )
    timeout_seconds = models.FloatField(
        default=60.0,
        validators=[MinValueValidator(0.1), MaxValueValidator(MAX_TIMEOUT_SECONDS)],
        help_text="How long it may stay silent before the next model is asked.",
    )
    is_enabled = models.BooleanField("enabled", default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="provider_name_once"),
            models.CheckConstraint(
                condition=models.Q(timeout_seconds__gt=0, timeout_seconds__lte=MAX_TIMEOUT_SECONDS),
                name="provider_timeout_sane",
            ),
            models.CheckConstraint(
                condition=models.Q(base_url__startswith="http://")
                | models.Q(base_url__startswith="https://"),
                name="provider_speaks_http",
            ),
            models.CheckConstraint(
                condition=models.Q(key_variable="")
                | models.Q(key_variable__regex=r"^PROVIDER_KEY_[A-Z0-9_]+$"),
                name="provider_key_is_a_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ChatModel(TeamOwned):
    """A model of a provider, in one tier; prices are USD per 1,000 tokens."""

    provider = SameTeamKey(Provider, related_name="chat_models")
    name = models.CharField(
        max_length=200,
        validators=[RegexValidator(r"\A[!-~]+\Z", "Use the provider's name, without spaces.")],
        help_text="As the provider calls it, such as anthropic/claude-haiku-4.5.",
    )
    tier = models.CharField(max_length=20, choices=TIERS)
    input_price = models.DecimalField(
        "input price",
        max_digits=13,
        decimal_places=9,
        validators=[MinValueValidator(0), MaxValueValidator(MAX_PRICE_USD)],
        help_text="USD per 1,000 tokens read.",
    )
    output_price = models.DecimalField(
        "output price",
        max_digits=13,
        decimal_places=9,
        validators=[MinValueValidator(0), MaxValueValidator(MAX_PRICE_USD)],
        help_text="USD per 1,000 tokens written.",
    )
    context_window = models.PositiveIntegerField(
        default=128_000,
        validators=[MinValueValidator(MIN_CONTEXT_TOKENS), MaxValueValidator(MAX_CONTEXT_TOKENS)],
        help_text="How many tokens it reads and writes at once.",
    )
    max_output_tokens = models.PositiveIntegerField(
        default=8_192, validators=[MinValueValidator(1)], help_text="How many it writes at most."
    )
    priority = models.PositiveSmallIntegerField(
        default=100, help_text="Within a tier the lowest is asked first."
    )
    is_enabled = models.BooleanField("enabled", default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "model"
        ordering = ["tier", "priority", "name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "provider", "name"], name="chat_model_once"),
            models.CheckConstraint(
                condition=models.Q(tier__in=[tier for tier, _ in TIERS]),
                name="chat_model_tier_known",
            ),
            models.CheckConstraint(
                condition=models.Q(input_price__gte=0, output_price__gte=0),
                name="chat_model_prices_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    context_window__gte=MIN_CONTEXT_TOKENS,
                    max_output_tokens__gte=1,
                    max_output_tokens__lte=models.F("context_window"),
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
