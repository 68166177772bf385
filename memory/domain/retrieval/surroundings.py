"""What stands around a memory in its conversation, and what that says about the memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.domain.scoring import Floats

Whole = NDArray[np.int64]

# The share of a signal that reaches a memory so many messages away. Two statements out of one
# message stand apart on purpose, so they share less than neighbours do.
SHARES = (0.5, 0.9, 0.6, 0.3)
REACH = len(SHARES) - 1
NO_CONVERSATION = -1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Pairs of candidates near each other in a conversation, and what each gives the other."""

    one: Whole
    other: Whole
    share: Floats

    def strongest(self, values: Floats) -> Floats:
        """Each row's own value, not negative, or the largest share of a neighbour's, by column."""
        spread = values.copy()
        shares = self.share if values.ndim == 1 else self.share[:, None]
        np.maximum.at(spread, self.one, shares * values[self.other])
        np.maximum.at(spread, self.other, shares * values[self.one])
        return spread


def find_surroundings(*, conversation: Whole, position: Whole) -> Surroundings:
    """Who stands near whom, by conversation (-1: none) and position of the message."""
    order = np.lexsort((position, conversation))
    ones, others, shares = [], [], []
    table = np.array(SHARES)
    for step in range(1, len(order)):
        left, right = order[:-step], order[step:]
        apart = position[right] - position[left]
        near = (
            (conversation[left] == conversation[right])
            & (conversation[left] != NO_CONVERSATION)
            & (apart <= REACH)
        )
        if not near.any():  # then nobody further along is near either
            break
        ones.append(left[near])
        others.append(right[near])
        shares.append(table[apart[near]])
    if not ones:
        empty = np.zeros(0, dtype=np.int64)
        return Surroundings(empty, empty, np.zeros(0))
    return Surroundings(np.concatenate(ones), np.concatenate(others), np.concatenate(shares))
