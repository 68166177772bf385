"""Whether a memory says only what its messages say: every number, date and name, and its words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from memory.domain.text.date_types import Lean, NamedTime
from memory.domain.text.dates import read_dates
from memory.domain.text.said_words import SaidWords, Word, words_in
from memory.domain.text.stop_words import STOP_WORDS, word_set

SHARE_OF_WORDS: Final = 0.5
"""What share of the content words of a model's memory must be said; chosen in record 32."""

UNSAID_WORDS: Final = "words that no message says"

_LEANS: Final[tuple[Lean, ...]] = ("nearest", "past", "future")
# How a statement about somebody is told: what English adds in the third person, and the words
# by which it names who speaks, asks, plans or holds something.
_TELLING: Final = word_set(
    """
    user agent team family assistant customer person people name called want wants need asked ask
    answer gave said say says told mention mentioned prefer prefers like likes dislike have has
    decide decided plan planned use uses work works live lives go goes get gets make makes does
    did would should may might must shall always never not also only still stop currently about
    away around week weekend one there between within without because while since during
    before upon whether ago yet already though old year years age pronouns themself
    """
)
_GRAMMAR: Final = STOP_WORDS | _TELLING
_AUXILIARIES: Final = word_set("is was has had will can does did")
_ORDINAL_DAY: Final = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_NEAR: Final = timedelta(days=45)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message as grounds of a memory: its words, and its aware time on the speakers' clock."""

    text: str
    at: datetime


@dataclass(frozen=True)
class Grounds:
    """What a memory may say: its messages, what lends it words, and who talks.

    `sources` are the messages it names and those right before them, which they may answer;
    `window` are all messages up to there, which lend names (and a model its words).
    """

    sources: Sequence[Spoken]
    window: Sequence[Spoken]
    names: Collection[str] = ()

    @cached_property
    def said(self) -> SaidWords:
        return SaidWords([each.text for each in self.sources])

    @cached_property
    def lent(self) -> SaidWords:
        return SaidWords([*(each.text for each in (*self.sources, *self.window)), *self.names])

    @cached_property
    def times(self) -> list[NamedTime]:
        """The times that the sources name, in each reading."""
        return [
            time
            for each in self.sources
            for lean in _LEANS
            for time in read_dates(each.text, anchor=each.at, lean=lean)
        ]


def ungrounded(text: str, *, grounds: Grounds, is_exact: bool) -> str:
    """Why the text cannot be a memory of its messages, "" where it can.

    Every number, date and name of it must be said. Of the other content words all must be where
    `is_exact`, as for an extractor that takes words over as they are; else `SHARE_OF_WORDS` of
    them, by their stems, so that a paraphrase passes; one in another language than its messages is
    held to its numbers alone.
    """
    said, lent = grounds.said, grounds.lent
    own = SaidWords([text])
    spans = _named_times(text, grounds)
    left = [token for token in words_in(text) if not _within(token, spans)]
    years = {str(each.at.year) for each in grounds.sources}
    years |= {str(each.first.year) for each in grounds.times}
    for token in left:
        is_said = token.text in years or said.has_number(token, behind=text[token.end :][:6])
        if token.is_number and not is_said:
            return "a number that no message says"
    is_translated = (own.is_foreign and lent.is_english) or (own.is_english and lent.is_foreign)
    if is_translated and not is_exact:
        return ""
    words = [token for token in left if not token.is_number and not _is_telling(token)]
    names = [] if lent.is_foreign else [token for token in words if token.is_name]
    names += [] if lent.is_foreign else _opening_name(left)
    if any(not lent.has_name(token) and not lent.has(token) for token in names):
        return "a name that no message says"
    known = said if is_exact else lent
    missing = sum(
        not known.has(token) and not (token.is_capital and lent.has_name(token)) for token in words
    )
    if missing and (is_exact or len(words) - missing < SHARE_OF_WORDS * len(words)):
        return UNSAID_WORDS
    return ""


def _is_telling(token: Word) -> bool:
    return not _GRAMMAR.isdisjoint((token.text, token.key))


def _opening_name(tokens: Sequence[Word]) -> list[Word]:
    """The first word where a verb of the third person follows it, as in "Markus rents …"."""
    if len(tokens) < 2 or not tokens[0].is_capital or _is_telling(tokens[0]):
        return []
    verb = tokens[1].text
    return [tokens[0]] if verb in _AUXILIARIES or verb.endswith(("s", "ed")) else []


def _named_times(text: str, grounds: Grounds) -> list[tuple[int, int]]:
    """Where the text names a time that its sources name or were said in."""
    if not grounds.sources:
        return []
    days = {int(day) for each in grounds.sources for day in _ORDINAL_DAY.findall(each.text)}

    def is_named(time: NamedTime) -> bool:
        said = [each.at for each in grounds.sources]
        if any(time.first <= at < time.last for at in said):
            return True
        if time.first.day in days and any(abs(time.first - at) < _NEAR for at in said):
            return True
        return any(time.first < each.last and each.first < time.last for each in grounds.times)

    found = read_dates(text, anchor=grounds.sources[-1].at, lean="nearest")
    return [(each.start, each.end) for each in found if is_named(each)]


def _within(token: Word, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= token.start and token.end <= end for start, end in spans)
