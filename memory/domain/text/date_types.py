"""What the date reader reads and finds: tokens, and times with their place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final, Literal

Lean = Literal["past", "future", "nearest"]
"""Which occurrence is meant when words name several: "on Friday", "in May"."""

Side = Literal["", "since", "until", "before", "after"]
"""On which side of a time something lies; "since" and "until" include the time itself."""

Recurrence = Literal["", "daily", "weekly", "monthly", "yearly"]
MAX_CHARS: Final = 32_000
_TOKEN = re.compile(r"\d+|[^\W\d_]+|\S")
_MOST_DIGITS = 4
_APOSTROPHES = "'’"


class Grain(IntEnum):
    """How exact the words of a time are, from the finest to the coarsest."""

    MINUTE = 1
    HOUR = 2
    DAY = 3
    WEEKEND = 4
    WEEK = 5
    MONTH = 6
    QUARTER = 7
    SEASON = 8
    YEAR = 9
    DECADE = 10


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that a text names.

    - `at`, `to`: its tokens, from `at` up to, not including, `to`.
    - `first`, `last`: the named time, from `first` up to, not including, `last`, in the zone of
      the anchor; of a recurring time the next or last occurrence. While a text is being read they
      are on the local clock, which is marked as UTC.
    - `relative`: whether the anchor was needed to tell the time.
    - `yearless`: a day, month or season whose year was not said; `first` and `last` are then the
      occurrence that the lean chose.
    - `rough`: whether the words mean about that time ("three weeks ago").
    - `recurring`, with `weekday` (Monday is 0) or `day` of the month where that is said.
    - `alternative`: the first day in the other reading of "05/06/2026", which is read day first.
    - `start`, `end`: its characters, from `start` up to, not including, `end`; a preposition
      before it is not part of it, unless it needs one ("in two weeks").
    - `side_start`: where the word of its `side` begins ("since"), else `start`.
    """

    at: int
    to: int
    first: datetime
    last: datetime
    grain: Grain
    relative: bool = False
    yearless: bool = False
    rough: bool = False
    side: Side = ""
    recurring: Recurrence = ""
    weekday: int | None = None
    day: int | None = None
    alternative: datetime | None = None
    start: int = 0
    end: int = 0
    side_start: int = 0


class DateTokens:
    """The words, numbers and marks of the first `MAX_CHARS` characters of a text.

    Words are lower-case; the possessive "'s" is left out. Beyond both ends there are only empty
    words. `visits` counts the looks at a token, which is what the work of reading is measured by.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: list[str] = []
        self._spans: list[tuple[int, int]] = []
        self.visits = 0
        for match in _TOKEN.finditer(text[:MAX_CHARS]):
            word, start = match[0].lower(), match.start()
            if word == "s" and self._closes_possessive(start):
                self._words.pop()
                self._spans.pop()
                continue
            self._words.append("'" if word in _APOSTROPHES else word)
            self._spans.append(match.span())

    def _closes_possessive(self, start: int) -> bool:
        return (
            len(self._words) > 1
            and self._words[-1] == "'"
            and self._spans[-1][1] == start
            and self._spans[-2][1] == start - 1
            and self._words[-2].isalpha()
        )

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        """The tokens in order, each of them one look."""
        self.visits += len(self._words)
        return iter(self._words)

    def word(self, index: int) -> str:
        """The token at that place, empty beyond the ends."""
        self.visits += 1
        return self._words[index] if 0 <= index < len(self._words) else ""

    def number(self, index: int) -> int | None:
        """The value of a token of at most four digits, else None."""
        word = self.word(index)
        return int(word) if word.isdecimal() and len(word) <= _MOST_DIGITS else None

    def has(self, index: int, *words: str) -> bool:
        """Whether these words stand there, one after the other."""
        return all(self.word(index + place) == word for place, word in enumerate(words))

    def is_joined(self, index: int) -> bool:
        """Whether no space parts the token from the one before it."""
        if not 0 < index < len(self._spans):
            return False
        return self._spans[index - 1][1] == self._spans[index][0]

    def is_capital(self, index: int) -> bool:
        """Whether the token is written with a capital."""
        return 0 <= index < len(self._spans) and self._text[self._spans[index][0]].isupper()

    def begins_sentence(self, index: int) -> bool:
        """Whether the token is the first of the text or stands behind the end of a sentence."""
        return index <= 0 or self.word(index - 1) in {".", "!", "?", ":", '"', "“"}

    def start(self, index: int) -> int:
        """The character with which the token begins."""
        return self._spans[index][0]

    def end(self, index: int) -> int:
        """The character behind the token."""
        return self._spans[index][1]
