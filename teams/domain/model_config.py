"""Which model speaks for an agent and what it may spend (seed 000, AgentModelConfig)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from .checking import Checked

TIERS = ("fast", "balanced", "powerful")
MAX_BUDGET_USD = Decimal(1_000_000)
MAX_PRICE_USD = Decimal(1_000)
MAX_MODEL_CHARS = 200

_FIELDS = (
    "enable_model_routing",
    "model_name",
    "force_tier",
    "max_tier",
    "custom_tiers",
    "daily_budget_usd",
    "monthly_budget_usd",
)
_TIER_FIELDS = ("name", "model_name", "cost_per_1k_input", "cost_per_1k_output")


@dataclass(frozen=True, slots=True)
class CustomTier:
    """The agent's own model of a tier, with its prices in USD per 1,000 tokens."""

    name: str
    model_name: str
    cost_per_1k_input: Decimal
    cost_per_1k_output: Decimal

    def as_json(self) -> dict[str, object]:
        """As the document holds it."""
        return {
            "name": self.name,
            "model_name": self.model_name,
            "cost_per_1k_input": float(self.cost_per_1k_input),
            "cost_per_1k_output": float(self.cost_per_1k_output),
        }


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """How the agent's model is chosen; budgets are USD, None for none beyond user's and team's.

    `force_tier` and `max_tier` are names of TIERS. With `custom_tiers`, each of another name, only
    these tiers are chosen from. `model_name` is what speaks when routing is off.
    """

    enable_model_routing: bool = True
    model_name: str | None = None
    force_tier: str | None = None
    max_tier: str | None = None
    custom_tiers: tuple[CustomTier, ...] = ()
    daily_budget_usd: Decimal | None = None
    monthly_budget_usd: Decimal | None = None

    @classmethod
    def read(cls, value: object) -> ModelConfig:
        """The configuration of a stored document; what is missing keeps its default.

        Raises DocumentError, whose paths begin with `model_config`, for what cannot be used.
        """
        given = Checked(value, "model_config")
        config = cls.check(given)
        given.raise_problems()
        return config

    @classmethod
    def check(cls, given: Checked) -> ModelConfig:
        """The configuration as far as it can be read; what cannot is noted as a problem."""
        parts = given.fields(_FIELDS)
        is_routed = parts["enable_model_routing"].flag()
        config = cls(
            enable_model_routing=True if is_routed is None else is_routed,
            model_name=parts["model_name"].line(most=MAX_MODEL_CHARS),
            force_tier=parts["force_tier"].choice(TIERS),
            max_tier=parts["max_tier"].choice(TIERS),
            custom_tiers=tuple(_tiers(parts["custom_tiers"])),
            daily_budget_usd=parts["daily_budget_usd"].amount(most=MAX_BUDGET_USD, places=6),
            monthly_budget_usd=parts["monthly_budget_usd"].amount(most=MAX_BUDGET_USD, places=6),
        )
        config._check_tiers(parts)
        return config

    def as_json(self) -> dict[str, object]:
        """As the document holds it, without what has its default."""
        found = {
            "enable_model_routing": None if self.enable_model_routing else False,
            "model_name": self.model_name,
            "force_tier": self.force_tier,
            "max_tier": self.max_tier,
            "custom_tiers": [tier.as_json() for tier in self.custom_tiers] or None,
            "daily_budget_usd": _number(self.daily_budget_usd),
            "monthly_budget_usd": _number(self.monthly_budget_usd),
        }
        return {name: value for name, value in found.items() if value is not None}

    def _check_tiers(self, parts: Mapping[str, Checked]) -> None:
        """What no choice could satisfy: the seed's rules 1, 4 and 5 of the router, together."""
        own = [tier.name for tier in self.custom_tiers]
        for place, name in enumerate(own):
            if name in own[:place]:
                parts["custom_tiers"].problem(f"The tier '{name}' stands there twice.")
        if own and self.force_tier is not None and self.force_tier not in own:
            parts["force_tier"].problem(
                f"It must be one of the custom tiers: {', '.join(own)}; or leave them out."
            )
        if self.max_tier is None:
            return
        most = TIERS.index(self.max_tier)
        if own and all(TIERS.index(name) > most for name in own):
            parts["max_tier"].problem(
                "No custom tier is as low as that; raise it or add a cheaper tier."
            )
        if self.force_tier is not None and TIERS.index(self.force_tier) > most:
            parts["force_tier"].problem(
                f"It is above max_tier, '{self.max_tier}'; leave one of them out."
            )


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def _tiers(given: Checked) -> list[CustomTier]:
    tiers = []
    for item in given.items(most=len(TIERS)):
        parts = item.fields(_TIER_FIELDS)
        name = parts["name"].choice(TIERS, is_required=True)
        model = parts["model_name"].line(most=MAX_MODEL_CHARS, is_required=True)
        prices = [
            parts[field].amount(most=MAX_PRICE_USD, places=9, is_required=True)
            for field in _TIER_FIELDS[2:]
        ]
        if name is not None and model is not None and None not in prices:
            paid_in, paid_out = prices
            assert paid_in is not None
            assert paid_out is not None
            tiers.append(CustomTier(name, model, paid_in, paid_out))
    return tiers
