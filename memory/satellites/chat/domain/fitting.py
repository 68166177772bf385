"""How much of a conversation fits beside the prompt, and where it may be cut."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

# Above this share of its window a context is about to overflow, for sizes are estimates. What is
# compacted then leaves so much of the talk's room filled: the rest is for the turns that follow,
# which else would each compact again.
FULL_SHARE = 0.9
KEPT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Piece:
    """A message as far as its size matters; `position` is that of its last row in the log.

    It is None for one without words. `tokens` counts what it takes of the context. Only before an
    `is_start` the context may be cut, so that no answer stands without its question and no result
    of a tool without its call.
    """

    tokens: int
    is_start: bool
    position: int | None


def is_full(*, tokens: int, answer_tokens: int, window: int) -> bool:
    """Whether so many tokens to read and to write come too near to the end of the window."""
    return tokens + answer_tokens > window * FULL_SHARE


def room_for_talk(*, window: int, other_tokens: int, answer_tokens: int) -> int:
    """How many tokens of the last messages stay, beside the prompt, the tools and the answer."""
    return max(0, int((window * FULL_SHARE - other_tokens - answer_tokens) * KEPT_SHARE))


def first_that_stays(pieces: Sequence[Piece], *, room: int) -> int:
    """The index from which on the messages fit in `room`: the last start at most, 0 for all."""
    starts = _starts(pieces)
    for index in starts:
        if sum(piece.tokens for piece in pieces[index:]) <= room:
            return index
    return starts[-1]


def after_position(pieces: Sequence[Piece], *, position: int) -> int:
    """The index of the first start after all that is kept up to `position` of the log.

    A turn that goes beyond it stays whole, and so does the last one.
    """
    starts = _starts(pieces)
    for start, end in itertools.pairwise(starts):
        if any((piece.position or 0) > position for piece in pieces[start:end]):
            return start
    return starts[-1]


def position_before(pieces: Sequence[Piece], index: int) -> int:
    """The last position of the log before a message that stays; 0 where nothing can go."""
    position = pieces[index].position if index else None
    return 0 if position is None else position - 1


def _starts(pieces: Sequence[Piece]) -> list[int]:
    return [index for index, piece in enumerate(pieces) if piece.is_start or not index] or [0]
