"""The models a team may call: its own rows, or without any those of the settings."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

from routing.clients.endpoints import EndpointCheck, check_endpoint
from routing.domain.choices import ModelChoice
from routing.domain.complexity import Tier
from routing.domain.endpoints import Reach, problem_with_url
from routing.models import ChatModel, Provider
from routing.services.keys import decrypt_key
from teams.domain.agent_document import CustomTier
from teams.models import Team

SETTINGS_PROVIDER = "settings"
_OPENAI = "https://api.openai.com/v1"
_UNREADABLE = "The stored API key is for another address or cannot be read. Enter it again."
_LISTS = ("_HOSTS", "_TEAMS")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The models a team may call, by priority; `is_configured` if an endpoint is known."""

    choices: tuple[ModelChoice, ...]
    is_configured: bool

    def ladder(self) -> dict[Tier, tuple[ModelChoice, ...]]:
        """The models by tier, cheapest tier first; tiers without one are left out."""
        found = {tier: tuple(c for c in self.choices if c.tier is tier) for tier in Tier}
        return {tier: choices for tier, choices in found.items() if choices}

    def named(self, name: str, *, tier: Tier) -> tuple[ModelChoice, ...]:
        """The models of that name as of `tier`; an unknown one is asked of the first provider."""
        known = tuple(replace(each, tier=tier) for each in self.choices if each.name == name)
        if known or not self.choices:
            return known
        first = self.choices[0]
        own = (c for c in self.choices if c.provider == first.provider and c.tier is tier)
        like = next(own, first)
        return (replace(like, name=name, tier=tier, circuit=circuit_name(like.circuit, name)),)

    def customised(self, tiers: Sequence[CustomTier]) -> dict[Tier, tuple[ModelChoice, ...]]:
        """The ladder of an agent's own tiers, at the agent's own prices."""
        own, found = {tier.name: tier for tier in tiers}, {}
        for tier in Tier:
            if custom := own.get(tier.value):
                prices = custom.cost_per_1k_input, custom.cost_per_1k_output
                models = self.named(custom.model_name, tier=tier)
                found[tier] = tuple(
                    replace(each, input_price=prices[0], output_price=prices[1]) for each in models
                )
        return found


def catalogue_of(*, team: Team) -> Catalogue:
    """The team's models; call it in the team's scope."""
    rows = ChatModel.objects.filter(team_id=team.pk).select_related("provider")
    found = list(rows.order_by("priority", "name", "id"))
    if not found:
        is_configured = bool(settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY.strip())
        return Catalogue(_from_settings(), is_configured)
    usable = [row for row in found if row.is_enabled and row.provider.is_enabled]
    return Catalogue(tuple(_from_row(row, team) for row in usable), bool(usable))


def provider_key(*, provider: Provider, team: Team) -> tuple[str, str]:
    """The provider's key and the reason why it cannot be sent: at least one of the two is empty."""
    if provider.encrypted_key:
        key = decrypt_key(provider.encrypted_key, team_id=team.pk, base_url=provider.base_url)
        return (key, "") if key else ("", _UNREADABLE)
    name, keys = provider.key_variable, settings.PROVIDER_KEYS
    if not name:
        return "", ""
    if name.endswith(_LISTS) or not keys.get(name, "").strip():
        return "", f"{name} is not set on this server."
    if not _is_listed(keys, f"{name}_HOSTS", urlsplit(provider.base_url).hostname or ""):
        return "", f"{name} may not be sent to this host."
    if not _is_listed(keys, f"{name}_TEAMS", team.slug):
        return "", f"{name} may not be used by this team."
    return keys[name].strip(), ""


def reach_of(base_url: str) -> Reach:
    """Returns what the host of a team's provider may lead to, by PROVIDER_PRIVATE_HOSTS."""
    host = urlsplit(base_url).hostname or ""
    is_allowed = not {host, "*"}.isdisjoint(settings.PROVIDER_PRIVATE_HOSTS)
    return Reach.PRIVATE if is_allowed else Reach.PUBLIC


def prepare_check(*, provider: Provider, team: Team) -> Callable[[], EndpointCheck]:
    """Prepares a check of the provider in the team's scope; call the result in no transaction."""
    key, problem = provider_key(provider=provider, team=team)
    if problem := problem_with_url(provider.base_url) or problem:
        return lambda: EndpointCheck(False, f"Nothing was sent: {problem}", 0)
    rows = ChatModel.objects.filter(team_id=team.pk, provider_id=provider.pk, is_enabled=True)
    return partial(
        check_endpoint,
        base_url=provider.base_url,
        api_key=key,
        timeout=provider.timeout_seconds,
        models=tuple(rows.order_by("priority", "name").values_list("name", flat=True)),
        reach=reach_of(provider.base_url),
    )


def circuit_name(*parts: str | UUID) -> str:
    """A short name that differs if any of these parts does."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:24]


def _is_listed(keys: Mapping[str, str], name: str, value: str) -> bool:
    allowed = [item.strip().lower() for item in keys.get(name, "").split(",") if item.strip()]
    return not allowed or value.lower() in allowed


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
            team.pk,
            provider.pk,
            provider.base_url,
            provider.key_variable,
            provider.encrypted_key,
            row.name,
        ),
        api_key=key,
        reach=reach_of(provider.base_url),
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
