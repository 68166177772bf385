"""What feedback does to a memory's importance."""

from __future__ import annotations

from enum import StrEnum

HIGHEST = 10
# Feedback never pushes a memory below what extraction keeps (seed 000: 3 is a casual mention).
LOWEST = 3
# One unused retrieval says little; this many say something.
IGNORED_PER_STEP = 5


class Feedback(StrEnum):
    """What a caller says of a memory it was given."""

    CITED = "cited"
    IGNORED = "ignored"
    HELPFUL = "helpful"
    WRONG = "wrong"


OF_USE = (Feedback.CITED, Feedback.HELPFUL)


def adjusted_importance(*, importance: int, signal: Feedback, ignored: int) -> int:
    """The importance 1-10 after the signal.

    A helpful memory gains one, up to 10; one that was ignored five more times loses one, down to
    3 and never raised by it; the other signals leave it. `ignored` counts this signal already.
    """
    if signal == Feedback.HELPFUL:
        return min(HIGHEST, importance + 1)
    if signal == Feedback.IGNORED and ignored % IGNORED_PER_STEP == 0:
        return max(importance - 1, min(importance, LOWEST))
    return importance
