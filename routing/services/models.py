"""Which models a team may call: its own rows, or without any those of the settings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.conf import settings

from routing.domain.choices import ModelChoice
from routing.domain.complexity import Tier
from routing.domain.endpoints import host_of
from routing.models import ChatModel, Provider
from teams.domain.agent_document import CustomTier
from teams.models import Team
from teams.prepared import Columns, run_prepared

SETTINGS_PROVIDER = "settings"
_OPENAI = "https://api.openai.com/v1"
_LISTS = ("_HOSTS", "_TEAMS")
_MODEL, _PROVIDER = Columns(ChatModel), Columns(Provider)
_ROWS = """
SELECT COLUMNS FROM routing_chatmodel m
JOIN routing_provider p ON p.team_id = m.team_id AND p.id = m.provider_id
WHERE m.team_id = $1 ORDER BY m.priority, m.name, m.id
""".replace("COLUMNS", f"{_MODEL.named('m')}, {_PROVIDER.named('p')}")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The models a team may call, in the order of their priority.

    `is_configured` is False where only the default names of the settings are known, without an
    endpoint to ask.
    """

    choices: tuple[ModelChoice, ...]
    is_configured: bool

    def ladder(self) -> dict[Tier, tuple[ModelChoice, ...]]:
        """The models by tier, cheapest tier first; tiers without one are left out."""
        found = {tier: tuple(c for c in self.choices if c.tier is tier) for tier in Tier}
        return {tier: choices for tier, choices in found.items() if choices}

    def named(self, name: str, *, tier: Tier) -> tuple[ModelChoice, ...]:
        """The models of that name, as models of `tier`.

        One that nobody entered is asked of the provider that is asked first, at the prices of its
        model of that tier, or of its first one.
        """
        known = tuple(replace(each, tier=tier) for each in self.choices if each.name == name)
        if known or not self.choices:
            return known
        first = self.choices[0]
        like = next(
            (
                each
                for each in self.choices
                if each.provider == first.provider and each.tier is tier
            ),
            first,
        )
        return (replace(like, name=name, tier=tier, circuit=circuit_name(like.circuit, name)),)

    def customised(self, tiers: Sequence[CustomTier]) -> dict[Tier, tuple[ModelChoice, ...]]:
        """The ladder of an agent's own tiers, at the agent's own prices."""
        own = {Tier(tier.name): tier for tier in tiers}
        return {
            tier: tuple(
                replace(
                    choice,
                    input_price=own[tier].cost_per_1k_input,
                    output_price=own[tier].cost_per_1k_output,
                )
                for choice in self.named(own[tier].model_name, tier=tier)
            )
            for tier in Tier
            if tier in own
        }


def catalogue_of(*, team: Team) -> Catalogue:
    """The team's models; call it in the team's scope."""
    rows = [_built(values) for values in run_prepared(_ROWS, [team.pk])]
    if not rows:
        is_configured = bool(settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY.strip())
        return Catalogue(_from_settings(), is_configured)
    usable = [row for row in rows if row.is_enabled and row.provider.is_enabled]
    return Catalogue(tuple(_from_row(row, team) for row in usable), bool(usable))


def provider_key(*, provider: Provider, team: Team) -> tuple[str, str]:
    """The provider's key, and what keeps it from being sent: one of the two is empty, or both are.

    A key goes to the hosts and the teams that PROVIDER_KEY_X_HOSTS and PROVIDER_KEY_X_TEAMS name,
    where these are set.
    """
    name, keys = provider.key_variable, settings.PROVIDER_KEYS
    if not name:
        return "", ""
    if name.endswith(_LISTS) or not keys.get(name, "").strip():
        return "", f"{name} is not set on this server."
    if not _is_listed(keys, f"{name}_HOSTS", host_of(provider.base_url)):
        return "", f"{name} may not be sent to this host."
    if not _is_listed(keys, f"{name}_TEAMS", team.slug):
        return "", f"{name} may not be used by this team."
    return keys[name].strip(), ""


def circuit_name(*parts: str | UUID) -> str:
    """A short name for what these parts tell apart."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:24]


def _is_listed(keys: Mapping[str, str], name: str, value: str) -> bool:
    allowed = [item.strip().lower() for item in keys.get(name, "").split(",") if item.strip()]
    return not allowed or value.lower() in allowed


def _built(values: Sequence[Any]) -> ChatModel:  # Any: columns of any type
    columns = iter(values)
    row, provider = _MODEL.take(columns), _PROVIDER.take(columns)
    assert row is not None
    assert provider is not None
    row.provider = provider
    return row


def _from_row(row: ChatModel, team: Team) -> ModelChoice:
    provider = row.provider
    key, problem = provider_key(provider=provider, team=team)
    return ModelChoice(
        provider=provider.name,
        name=row.name,
        tier=Tier(row.tier),
        base_url=provider.base_url,
        input_price=row.input_price,
        output_price=row.output_price,
        context_window=row.context_window,
        max_output_tokens=row.max_output_tokens,
        timeout_seconds=provider.timeout_seconds,
        circuit=circuit_name(
            team.pk, provider.pk, provider.base_url, provider.key_variable, row.name
        ),
        api_key=key,
        problem=problem,
    )


def _from_settings() -> tuple[ModelChoice, ...]:
    base_url = settings.OPENAI_BASE_URL or _OPENAI
    return tuple(
        ModelChoice(
            provider=SETTINGS_PROVIDER,
            name=name,
            tier=Tier(tier),
            base_url=base_url,
            input_price=input_price,
            output_price=output_price,
            context_window=settings.CHAT_CONTEXT_TOKENS,
            max_output_tokens=min(settings.CHAT_MAX_OUTPUT_TOKENS, settings.CHAT_CONTEXT_TOKENS),
            timeout_seconds=settings.OPENAI_TIMEOUT_SECONDS,
            circuit=circuit_name(SETTINGS_PROVIDER, base_url, name),
            api_key=settings.OPENAI_API_KEY.strip(),
        )
        for tier, (name, input_price, output_price) in settings.CHAT_MODELS.items()
        if name
    )
