"""A model that may answer, and the expected cost of a call."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal

from .budgets import MICRO, MOST_USD
from .complexity import Tier

# Seed 000: characters / 3.5, rounded up, is an upper-leaning estimate of tokens.
CHARS_PER_TOKEN = 3.5
# An expected answer has 60 tokens at an output length of 0 and about 3,500 at 10.
_SHORTEST_ANSWER = 60
_GROWTH = 1.5


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model of one endpoint, all that a call needs to know of it.

    Prices are USD per 1,000 tokens; `timeout_seconds` is time without a byte from the endpoint.
    `circuit` names the endpoint and model in the circuit breaker; a `problem` says why it cannot
    be called at all. The key never shows in a repr.
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
    problem: str = ""

    def cost(self, *, input_tokens: int, output_tokens: int) -> Decimal:
        """USD, rounded up to a millionth; at most what one call can be booked with."""
        paid = (self.input_price * input_tokens + self.output_price * output_tokens) / 1000
        return min(paid, MOST_USD).quantize(MICRO, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Expected:
    """How many tokens a call is expected to read and to write.

    `output_limit` is how many it may write at most, where the caller has set a limit.
    """

    input_tokens: int
    output_tokens: int
    output_limit: int | None = None

    def cost(self, choice: ModelChoice) -> Decimal:
        """USD that it will probably cost with this model."""
        written = min(self.output_tokens, self._most_written(choice))
        return choice.cost(input_tokens=self.input_tokens, output_tokens=written)

    def most(self, choice: ModelChoice) -> Decimal:
        """USD that it can cost at most with this model."""
        written = self._most_written(choice)
        return choice.cost(input_tokens=self.input_tokens, output_tokens=written)

    def fits(self, choice: ModelChoice) -> bool:
        """Whether the model can hold what is asked and what is answered."""
        written = min(self.output_tokens, self._most_written(choice))
        return self.input_tokens + written <= choice.context_window

    def _most_written(self, choice: ModelChoice) -> int:
        most = choice.max_output_tokens
        return most if self.output_limit is None else min(self.output_limit, most)


def estimate_tokens(text: str) -> int:
    """How many tokens a text takes, rather too many than too few."""
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def expected_output(output_length: float) -> int:
    """Tokens of the answer that an output length of 0 to 10 (the scorer's dimension) stands for."""
    return round(_SHORTEST_ANSWER * math.pow(_GROWTH, min(max(output_length, 0.0), 10.0)))
