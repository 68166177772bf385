"""Models that may answer a call, its expected cost, and the choice of a tier (seed 000)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from .budgets import cost_of
from .complexity import Tier, tier_of
from .endpoints import Reach

TIERS = tuple(Tier)
# Seed 000: characters / 3.5, rounded up, is an upper-leaning estimate of tokens.
CHARS_PER_TOKEN = 3.5
# An expected answer has 60 tokens at an output length of 0 and about 3,500 at 10.
_SHORTEST_ANSWER = 60
_GROWTH = 1.5
# A dearer tier replaces a failed one only if the budget pays for so many of its calls.
CALLS_TO_SPARE = 10
MOST_FALLBACKS = 8


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model of an endpoint, with all that a call needs.

    Prices are USD per 1,000 tokens; `timeout_seconds` is time without a byte from the endpoint.
    `circuit` names endpoint and model in the circuit breaker; a `problem` says why the model cannot
    be called, and `reach` which addresses its host may have. The key is never part of a repr.
    """

    provider: str
    name: str
    tier: Tier
    base_url: str
    input_price: Decimal
    output_price: Decimal
    context_window: int
    max_output_tokens: int
    timeout_seconds: float
    circuit: str
    api_key: str = field(default="", repr=False)
    reach: Reach = Reach.ANY
    problem: str = ""

    def cost(self, *, input_tokens: int, output_tokens: int) -> Decimal:
        """USD of a call."""
        return cost_of(
            input_price=self.input_price,
            output_price=self.output_price,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
        )


Ladder = Mapping[Tier, Sequence[ModelChoice]]


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected tokens of a call; `output_limit` is the caller's limit on the answer, if any."""

    input_tokens: int
    output_tokens: int
    output_limit: int | None = None

    def cost(self, choice: ModelChoice) -> Decimal:
        """Probable USD with this model."""
        return choice.cost(input_tokens=self.input_tokens, output_tokens=self._written(choice))

    def most(self, choice: ModelChoice) -> Decimal:
        """The most USD that the call can cost with this model."""
        most = self._most_written(choice)
        return choice.cost(input_tokens=self.input_tokens, output_tokens=most)

    def fits(self, choice: ModelChoice) -> bool:
        """Returns whether prompt and answer fit the model's context window."""
        return self.input_tokens + self._written(choice) <= choice.context_window

    def _written(self, choice: ModelChoice) -> int:
        return min(self.output_tokens, self._most_written(choice))

    def _most_written(self, choice: ModelChoice) -> int:
        most = choice.max_output_tokens
        return most if self.output_limit is None else min(self.output_limit, most)


def estimate_tokens(text: str) -> int:
    """Tokens of a text, rather too many than too few."""
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def expected_output(output_length: float) -> int:
    """Tokens of an answer by the scorer's dimension output_length, 0 to 10."""
    return round(_SHORTEST_ANSWER * math.pow(_GROWTH, min(max(output_length, 0.0), 10.0)))


@dataclass(frozen=True, slots=True)
class Way:
    """The models in the order of calling, the reason, and the ladder that they are of."""

    tier: Tier
    choices: tuple[ModelChoice, ...]
    reason: str
    ladder: Ladder = field(default_factory=dict)


def at_most(ladder: Ladder, highest: Tier | None) -> Ladder:
    """The tiers up to the highest one allowed."""
    top = TIERS.index(highest) if highest else len(TIERS)
    return {tier: choices for tier, choices in ladder.items() if TIERS.index(tier) <= top}


def holding(ladder: Ladder, expected: Expected) -> Ladder:
    """The models whose context window fits the call; all of them if none does."""
    fitting = {tier: [c for c in choices if expected.fits(c)] for tier, choices in ladder.items()}
    return {tier: choices for tier, choices in fitting.items() if choices} or ladder


def choose_way(
    *,
    ladder: Ladder,
    score: float,
    expected: Expected,
    left_usd: Decimal,
    is_nearly_gone: bool,
    force_tier: Tier | None = None,
    wished_tier: Tier | None = None,
    max_tier: Tier | None = None,
) -> Way:
    """The models of the chosen tier, then those of cheaper tiers, then those of dearer ones.

    The agent's `force_tier`, or else the caller's `wished_tier`, holds whatever the score and the
    budget, but never above `max_tier`. `left_usd` may be spent on one call; `is_nearly_gone` if a
    cap is nearly used up. Raises ValueError for an empty ladder.
    """
    asked, forced = tier_of(score), force_tier or wished_tier
    wanted = forced or asked
    if force_tier:
        reasons = [f"The agent's force_tier is {force_tier}."]
    elif wished_tier:
        reasons = [f"The caller asked for {wished_tier}."]
    else:
        reasons = [f"A score of {score:.1f} falls in the tier {asked}."]
    if max_tier and TIERS.index(wanted) > TIERS.index(max_tier):
        wanted = max_tier
        reasons.append(f"The agent's max_tier is {max_tier}.")
    tier = _nearest(ladder, wanted)
    if tier is not wanted:
        reasons.append(f"No model of the tier {wanted} can take it, so {tier} does.")
    may_climb = not forced
    if not forced:
        # The dearest tier up to this one that the budget pays for, else the cheapest.
        lower = [each for each in TIERS[: TIERS.index(tier) + 1] if each in ladder]
        paid = [each for each in lower if expected.most(ladder[each][0]) <= left_usd]
        affordable = lower[0] if is_nearly_gone or not paid else paid[-1]
        if affordable is not tier:
            near = "is nearly used up" if is_nearly_gone else "does not pay for it"
            reasons.append(f"The budget {near}, so {affordable} does.")
            tier, may_climb = affordable, False
    start = TIERS.index(tier)
    order = [choice for each in reversed(TIERS[: start + 1]) for choice in ladder.get(each, ())]
    if may_climb:
        dearer = [choice for each in TIERS[start + 1 :] for choice in ladder.get(each, ())]
        order += [c for c in dearer if expected.most(c) * CALLS_TO_SPARE <= left_usd]
    return Way(tier, tuple(order[: MOST_FALLBACKS + 1]), " ".join(reasons), ladder)


def _nearest(ladder: Ladder, wanted: Tier) -> Tier:
    """The tier itself, else the next higher one of the ladder, else the highest below."""
    start = TIERS.index(wanted)
    for tier in (*TIERS[start:], *reversed(TIERS[:start])):
        if tier in ladder:
            return tier
    raise ValueError("The ladder has no tier.")
