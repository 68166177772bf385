"""Checks that a model's memory says only what its messages say, in any language.

Every number, date and name must be said, and a share of the other words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, Literal

from memory.domain.text.calendar import Lean, NamedTime
from memory.domain.text.dates import read_dates
from memory.domain.text.words import UNSPACED, number_value, ordinal_value

SHARE_OF_WORDS: Final = 0.5
"""Share of a memory's longer words that must be said; figures in decision 32."""

UNSAID_WORDS: Final = "words that no message says"

_LEANS: Final[tuple[Lean, ...]] = ("nearest", "past", "future")
_NEAR: Final = timedelta(days=45)
_TOKEN: Final = re.compile(
    rf"(?P<sign>[{UNSPACED}])"
    r"|(?P<number>\d+(?:[.,:'’]\d+)*)"
    r"|(?P<word>[^\W\d_]+)"
)
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;…]\s+|\n\s*)[\"'“‘(\[*-]*\s*$")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[\s./()-]+(?=[\d(])")
# Two words are one where they share their first five letters, or all of the shorter one. Shorter
# words than four letters are mostly grammar and do not count.
_BEGINNING, _SHORTEST = 5, 4
_LONG_NUMBER, _NOON = 5, 12
# Where so large a share of the words inside sentences has a capital, capitals mark no names.
_NOUN_CAPITALS, _FEWEST_TO_TELL = 0.2, 20


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message as grounds of a memory: its words, and its aware time on the speakers' clock."""

    text: str
    at: datetime


@dataclass(frozen=True)
class Grounds:
    """The texts that ground a memory: its messages, their context and the speakers' names.

    `sources` are the messages that the memory names and those right before them, which they may
    answer; `window` are all messages up to there, which lend words and names.
    """

    sources: Sequence[Spoken]
    window: Sequence[Spoken]
    names: Collection[str] = ()

    @cached_property
    def numbers(self) -> set[str]:
        """The numbers of the sources, each in its usual forms."""
        found: set[str] = set()
        for each in self.sources:
            for token in _tokens(each.text):
                found |= token.numbers
            found |= {str(each.at.year)}
        return found | {str(time.first.year) for time in self.times}

    @cached_property
    def digits(self) -> str:
        """The digits of the sources, those of a telephone number as one run."""
        said = "\n".join(each.text for each in self.sources)
        return re.sub(r"\D+", " ", _BETWEEN_DIGITS.sub("", said))

    @cached_property
    def words(self) -> set[str]:
        """The words of all messages and speakers, each with its beginning."""
        lent = [*(each.text for each in (*self.sources, *self.window)), *self.names]
        return {form for text in lent for token in _tokens(text) for form in token.forms}

    @cached_property
    def has_names(self) -> bool:
        """Returns whether capitals inside the messages' sentences mark names, not every noun."""
        inside = [
            token
            for each in (*self.sources, *self.window)
            for token in _tokens(each.text)
            if token.is_inside and len(token.text) > 1
        ]
        capitals = sum(token.is_name for token in inside)
        return len(inside) < _FEWEST_TO_TELL or capitals < _NOUN_CAPITALS * len(inside)

    @cached_property
    def times(self) -> list[NamedTime]:
        """The times that the sources name, in each reading."""
        return [
            time
            for each in self.sources
            for lean in _LEANS
            for time in read_dates(each.text, anchor=each.at, lean=lean)
        ]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: Literal["word", "number", "sign"]
    text: str
    start: int
    end: int
    numbers: frozenset[str]
    is_inside: bool
    is_name: bool

    @property
    def is_number(self) -> bool:
        """Returns whether the token counts something, in digits or as a word other than "one"."""
        return self.kind == "number" or (self.text != "one" and number_value(self.text) is not None)

    @property
    def forms(self) -> set[str]:
        if len(self.text) < _SHORTEST:
            return {self.text}
        return {self.text, self.text[:_BEGINNING], f"{self.text[:_SHORTEST]}-"}


def ungrounded(text: str, *, grounds: Grounds) -> str:
    """Returns why the text cannot be a memory of its messages, "" where it can."""
    spans = _named_times(text, grounds)
    left = [token for token in _tokens(text) if not _within(token, spans)]
    if any(token.is_number and not _is_said(token, grounds) for token in left):
        return "a number that no message says"
    words = [token for token in left if not token.is_number]
    if grounds.has_names and any(
        token.is_name and not _stands_in(token, grounds.words) for token in words
    ):
        return "a name that no message says"
    weighed = [token for token in words if token.kind == "sign" or len(token.text) >= _SHORTEST]
    known = sum(_stands_in(token, grounds.words) for token in weighed)
    return UNSAID_WORDS if known < SHARE_OF_WORDS * len(weighed) else ""


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        found = match.group()
        if match.lastgroup == "sign":
            yield _Token("sign", found, start, end, frozenset(), True, False)
        elif match.lastgroup == "number":
            forms = _number_forms(found, text[end : end + 6])
            yield _Token("number", found, start, end, frozenset(forms), True, False)
        else:
            word = found.casefold()
            values = (number_value(word), ordinal_value(word))
            numbers = frozenset(str(each) for each in values if each is not None)
            is_inside = _SENTENCE_START.search(text, max(0, start - 12), start) is None
            is_name = is_inside and len(word) > 1 and found[0].isupper()
            yield _Token("word", word, start, end, numbers, is_inside, is_name)


def _stands_in(token: _Token, words: set[str]) -> bool:
    if token.text in words:
        return True
    if len(token.text) == _SHORTEST:
        return f"{token.text}-" in words
    is_long = len(token.text) > _SHORTEST
    return is_long and not words.isdisjoint((token.text[:_BEGINNING], token.text[:_SHORTEST]))


def _is_said(token: _Token, grounds: Grounds) -> bool:
    """Returns whether the number is said; of a long one (a telephone's) only digits count."""
    if not token.numbers.isdisjoint(grounds.numbers):
        return True
    bare = re.sub(r"\D", "", token.text)
    return len(bare) >= _LONG_NUMBER and bare in grounds.digits


def _number_forms(number: str, behind: str) -> set[str]:
    """The usual forms of a number: a list as its parts, "9k" as 9000, "3 pm" as 15:00."""
    if "," in number and not _THOUSANDS.fullmatch(number):
        return {_plain(part) for part in number.split(",")}
    plain = _plain(number)
    forms = {plain}
    hour, colon, minutes = plain.partition(":")
    if not hour.isdecimal():
        return forms
    if colon and minutes == "00":
        forms.add(str(int(hour)))
    mark = behind.strip().lower()
    if mark.startswith(("pm", "p.m")) and int(hour) < _NOON:
        late = str(int(hour) + _NOON)
        forms |= {f"{late}:{minutes}"} if colon else {late, f"{late}:00"}
    if behind[:1].lower() == "k" and not colon:
        forms.add(f"{hour}000")
    return forms


def _plain(number: str) -> str:
    plain = re.sub(r"[,'’]", "", number)
    if ":" not in plain and "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


def _named_times(text: str, grounds: Grounds) -> list[tuple[int, int]]:
    if not grounds.sources:
        return []
    said = [each.at for each in grounds.sources]

    def is_named(time: NamedTime) -> bool:
        if any(time.first <= at < time.last for at in said):
            return True
        # "the 13th" alone is that day of a month near by.
        is_near = any(abs(time.first - at) < _NEAR for at in said)
        if is_near and str(time.first.day) in grounds.numbers:
            return True
        return any(time.first < each.last and each.first < time.last for each in grounds.times)

    found = read_dates(text, anchor=said[-1], lean="nearest")
    return [(each.start, each.end) for each in found if is_named(each)]


def _within(token: _Token, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= token.start and token.end <= end for start, end in spans)
