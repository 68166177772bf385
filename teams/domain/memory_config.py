"""How an agent's memory is read and filled (seed 000: `agent.memory`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from .checking import Checked
from .context_policy import check_policy

# The five signals of a retrieval, as the memory's scoring names their weights.
SIGNALS = ("semantic", "recency", "importance", "continuity", "relation")
MAX_WEIGHT = 1000
# A prompt is built with at least so many tokens; the floor of the memory's packing.
LEAST_TOKEN_BUDGET = 100
MOST_TOKEN_BUDGET = 1_000_000
DEFAULT_TOKEN_BUDGET = 2000
DEFAULT_SUMMARIZE_INTERVAL = 20
MOST_SUMMARIZE_INTERVAL = 10_000
MAX_CATEGORIES = 200
MAX_CATEGORY_CHARS = 100

_FIELDS = (
    "retrieval_weights",
    "token_budget",
    "summarize_interval",
    "allowed_categories",
    "keeps_to_itself",
    "context_policy",
)


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """What an agent remembers by; a weight that is missing has its default.

    `token_budget` is of one prompt, `summarize_interval` counts the messages between two
    extractions, None for the installation's; no categories allow all. What an agent learns in talk
    that `keeps_to_itself` belongs to it and to no other agent. `context_policy` holds what a
    `ContextPolicy` says beside the defaults.
    """

    retrieval_weights: Mapping[str, float] = field(default_factory=dict)
    token_budget: int = DEFAULT_TOKEN_BUDGET
    summarize_interval: int | None = None
    allowed_categories: tuple[str, ...] = ()
    keeps_to_itself: bool = False
    context_policy: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def check(cls, given: Checked) -> MemoryConfig:
        """The configuration as far as it can be read; what cannot is noted as a problem."""
        parts = given.fields(_FIELDS)
        budget = parts["token_budget"].whole(least=LEAST_TOKEN_BUDGET, most=MOST_TOKEN_BUDGET)
        return cls(
            retrieval_weights=_weights(parts["retrieval_weights"]),
            token_budget=DEFAULT_TOKEN_BUDGET if budget is None else budget,
            summarize_interval=parts["summarize_interval"].whole(
                least=1, most=MOST_SUMMARIZE_INTERVAL
            ),
            allowed_categories=tuple(
                dict.fromkeys(
                    parts["allowed_categories"].lines(
                        most=MAX_CATEGORIES, most_chars=MAX_CATEGORY_CHARS
                    )
                )
            ),
            keeps_to_itself=parts["keeps_to_itself"].flag() or False,
            context_policy=check_policy(parts["context_policy"]),
        )


def _weights(given: Checked) -> dict[str, float]:
    weights: dict[str, float] = {}
    parts = given.fields(SIGNALS)
    for name, part in parts.items():
        value = part.value
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            part.problem("Must be a number.")
        elif not (0 <= value <= MAX_WEIGHT and math.isfinite(value)):
            part.problem(f"Must be from 0 to {MAX_WEIGHT}.")
        else:
            weights[name] = float(value)
    if len(weights) == len(SIGNALS) and not any(weights.values()):
        given.problem("The weights must not all be zero.")
    return weights
