"""Providers and models of a team for tests; call these in the team's scope."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.utils import timezone

from routing.domain.choices import ModelChoice
from routing.domain.complexity import Tier
from routing.models import ChatModel, Provider
from routing.services.router import Route, choose_route
from tests.support.cast import Cast
from tests.support.openai_server import FakeOpenAI

QUERY = "What time is it?"
NAMES = {"fast": "swift", "balanced": "steady", "powerful": "mighty"}
PRICES = {
    "fast": ("0.001", "0.004"),
    "balanced": ("0.003", "0.015"),
    "powerful": ("0.015", "0.075"),
}


def make_provider(cast: Cast, server: FakeOpenAI | None = None, **fields: Any) -> Provider:
    """A provider of the team, at a local server or nowhere."""
    url = server.base_url if server else "https://models.example/v1"
    return Provider.objects.create(
        team=cast.team, **{"name": "local", "base_url": url, "timeout_seconds": 2.0, **fields}
    )


def make_model(provider: Provider, tier: str, **fields: Any) -> ChatModel:
    """A model of the provider with the tier's usual name and prices."""
    paid_in, paid_out = PRICES[tier]
    usual = {
        "name": NAMES[tier],
        "input_price": Decimal(paid_in),
        "output_price": Decimal(paid_out),
        "max_output_tokens": 1_000,
    }
    return ChatModel.objects.create(
        team_id=provider.team_id, provider=provider, tier=tier, **{**usual, **fields}
    )


def make_models(cast: Cast, server: FakeOpenAI | None = None, **fields: Any) -> Provider:
    """One provider with a model in each tier: swift, steady and mighty."""
    provider = make_provider(cast, server, **fields)
    for tier in Tier:
        make_model(provider, tier.value)
    return provider


def route_of(cast: Cast, query: str = QUERY, **given: Any) -> Route:
    """Returns the router's choice for Kyra."""
    given = {"end_user": cast.sarah, "now": timezone.now(), **given}
    return choose_route(team=cast.team, agent=cast.kyra, query=query, **given)


def names(choices: tuple[ModelChoice, ...]) -> list[str]:
    """Their names."""
    return [choice.name for choice in choices]
