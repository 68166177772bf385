"""The five judgements of a query by its features and fitted weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .cues import counted, cue_table
from .features import Measured, measure
from .reasons import reasons_for
from .text import take_apart
from .types import DIMENSIONS, ComplexityScore
from .weights import BIAS, WEIGHT_OF

# A short follow-up such as "still wrong, try again" is nearly as hard as what it follows. No
# labelled item has earlier turns, so these are chosen, not fitted: towards the harder side,
# because a hard query sent to a fast model is the costly mistake.
_FOLLOW_UP_WORDS = 15
_TURNS_BACK = 3
_AS_HARD = 0.85
# What cannot be read is taken for a middling query, for the same reason.
_UNREAD = {
    "reasoning_depth": 5.0,
    "domain_specificity": 5.0,
    "creativity": 2.0,
    "output_length": 4.0,
}
_CARRIED = ("reasoning_depth", "domain_specificity")


def score_query(
    *, query: str, history_turns: int = 0, history: Sequence[str] = ()
) -> ComplexityScore:
    """The complexity of `query`, asked after `history_turns` earlier turns.

    `history` holds the texts of the latest earlier turns, oldest first, as far as they are known;
    `history_turns` counts all of them. The same input always gives the same score. The reasons
    name kinds of words and fields, and never repeat the query.
    """
    measured = measure(query=query, history_turns=history_turns)
    values = _judged(measured)
    reasons = reasons_for(measured)
    least: list[tuple[dict[str, float], str]] = []
    if not measured.is_readable:
        least.append((_UNREAD, "a language that the word lists do not hold"))
    if history and measured.words <= _FOLLOW_UP_WORDS and _asks_anew(query):
        least.append((_carried(history), "follows up on a harder turn"))
    for floors, why in least:
        for name, floor in floors.items():
            if floor > values[name]:
                values[name], reasons[name] = floor, why
    return ComplexityScore(**values, reasons=reasons)


def _judged(measured: Measured) -> dict[str, float]:
    sums = list(BIAS)
    for name, value in measured.features.items():
        weights = WEIGHT_OF.get(name)
        if value and weights:
            for place, weight in enumerate(weights[1:]):
                sums[place] += value * weight
    return {
        name: round(10 / (1 + math.exp(-max(-30.0, min(30.0, total)))), 2)
        for name, total in zip(DIMENSIONS, sums, strict=True)
    }


def _asks_anew(query: str) -> bool:
    return counted(cue_table().hits(take_apart(query).tokens))["anew"] > 0


def _carried(history: Sequence[str]) -> dict[str, float]:
    """What a follow-up takes over from the hardest of the last turns."""
    earlier = [_judged(measure(query=text, history_turns=0)) for text in history[-_TURNS_BACK:]]
    return {name: round(_AS_HARD * max(values[name] for values in earlier), 2) for name in _CARRIED}
