"""From a score, an agent's rules and a budget to a tier (seed 000, ModelRouter)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from .choices import Expected, ModelChoice
from .complexity import Tier

TIERS = tuple(Tier)
# A dearer tier stands in for a failed one only while so many of its calls are left.
CALLS_TO_SPARE = 10
MOST_FALLBACKS = 8

Ladder = Mapping[Tier, Sequence[ModelChoice]]


@dataclass(frozen=True, slots=True)
class Rules:
    """What is laid down beside the score: the agent's own tier, the caller's wish, the highest."""

    force_tier: Tier | None = None
    wished_tier: Tier | None = None
    max_tier: Tier | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """USD that one call may cost, and whether a cap is nearly used up."""

    left_usd: Decimal
    is_nearly_gone: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """A tier of the ladder, why, and what keeps dearer tiers from standing in for it."""

    tier: Tier
    reason: str
    may_climb: bool


def at_most(ladder: Ladder, highest: Tier | None) -> dict[Tier, Sequence[ModelChoice]]:
    """The tiers up to the highest one allowed."""
    top = TIERS.index(highest) if highest else len(TIERS)
    return {tier: choices for tier, choices in ladder.items() if TIERS.index(tier) <= top}


def holding(ladder: Ladder, expected: Expected) -> dict[Tier, Sequence[ModelChoice]]:
    """The models whose context window holds the call; all of them where none does."""
    fitting = {tier: [c for c in choices if expected.fits(c)] for tier, choices in ladder.items()}
    return {tier: choices for tier, choices in fitting.items() if choices} or dict(ladder)


def choose_tier(
    *,
    ladder: Ladder,
    score: float,
    asked: Tier,
    rules: Rules,
    means: Means,
    expected: Expected,
) -> Chosen:
    """The tier to call; `asked` is the one that the score stands for.

    A forced tier holds whatever the score and the budget say, but never above `max_tier`. Raises
    ValueError for an empty ladder.
    """
    forced = rules.force_tier or rules.wished_tier
    wanted = forced or asked
    if rules.force_tier:
        said = [f"The agent's force_tier is {rules.force_tier}."]
    elif rules.wished_tier:
        said = [f"The caller asked for {rules.wished_tier}."]
    else:
        said = [f"A score of {score:.1f} stands for {asked}."]
    if rules.max_tier and TIERS.index(wanted) > TIERS.index(rules.max_tier):
        wanted = rules.max_tier
        said.append(f"The agent's max_tier is {rules.max_tier}.")
    tier = _nearest(ladder, wanted)
    if tier is not wanted:
        said.append(f"No model of the tier {wanted} can take it, so {tier} does.")
    if forced:
        return Chosen(tier, " ".join(said), may_climb=False)
    affordable = _affordable(ladder, tier, means, expected)
    if affordable is not tier:
        near = "is nearly used up" if means.is_nearly_gone else "does not pay for it"
        said.append(f"The budget {near}, so {affordable} does.")
    return Chosen(affordable, " ".join(said), may_climb=affordable is tier)


def in_order(
    *, ladder: Ladder, chosen: Chosen, means: Means, expected: Expected
) -> tuple[ModelChoice, ...]:
    """The models as they are asked: the chosen tier's, then cheaper tiers', then dearer ones'."""
    start = TIERS.index(chosen.tier)
    order = [*ladder[chosen.tier]]
    for tier in reversed(TIERS[:start]):
        order += ladder.get(tier, ())
    if chosen.may_climb:
        for tier in TIERS[start + 1 :]:
            order += [
                choice
                for choice in ladder.get(tier, ())
                if expected.most(choice) * CALLS_TO_SPARE <= means.left_usd
            ]
    return tuple(order[: MOST_FALLBACKS + 1])


def _nearest(ladder: Ladder, wanted: Tier) -> Tier:
    """The tier itself, else the next higher one there is, else the highest below."""
    start = TIERS.index(wanted)
    for tier in (*TIERS[start:], *reversed(TIERS[:start])):
        if tier in ladder:
            return tier
    raise ValueError("The ladder has no tier.")


def _affordable(ladder: Ladder, tier: Tier, means: Means, expected: Expected) -> Tier:
    """The tier, or a cheaper one where the budget is short: the dearest it pays for, if any."""
    lower = [each for each in TIERS[: TIERS.index(tier) + 1] if each in ladder]
    if means.is_nearly_gone:
        return lower[0]
    paid = [each for each in lower if expected.most(ladder[each][0]) <= means.left_usd]
    return paid[-1] if paid else lower[0]
