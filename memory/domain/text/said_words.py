"""The words and numbers of a text, and whether another text has them in one of their forms.

Letters of scripts without spaces count one by one. English is known by its grammar; in other
languages words are compared by their beginnings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from .calendar import MONTHS, WEEKDAYS
from .numbers import number_value, ordinal_value
from .stop_words import STOP_WORDS
from .verb_forms import stem

_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_TOKEN: Final = re.compile(
    rf"(?P<sign>[{_UNSPACED}])"
    r"|(?P<number>\d+(?:[.,:'’]\d+)*)"
    r"|(?P<word>(?:(?!\d)\w)+(?:['’.&](?:(?!\d)\w)+)*)"
)
_CLITIC: Final = re.compile(r"'(?:s|re|ve|ll|d|m)$")
_SEPARATORS: Final = re.compile(r"[,'’]")
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)[\s./()-]+(?=[\d(])")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;…]\s+|\n\s*)[\"'“‘(\[*-]*\s*$")
_SHORTEST_BEGINNING, _SHARE_OF_BEGINNING = 4, 0.6
_LONG_NUMBER: Final = 5
_FEWEST_TO_TELL, _ENGLISH_SHARE, _FOREIGN_SHARE = 6, 0.2, 0.06
_NOON: Final = 12
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CALENDAR: Final = frozenset({*MONTHS, *WEEKDAYS})


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a number or a letter of a script without spaces, with its place.

    `text` is lower-case and without what is joined to it by an apostrophe. `is_capital` is about
    how it is written; `is_name` says that this means something, inside a sentence.
    """

    kind: Literal["word", "number", "sign"]
    text: str
    start: int
    end: int
    is_name: bool = False
    is_capital: bool = False

    @property
    def key(self) -> str:
        """By what two words are one: their stem."""
        return stem(self.text)

    @property
    def value(self) -> int | None:
        """What a number word stands for; of ordinals and "one", which need not count, None."""
        return None if self.text == "one" else number_value(self.text)

    @property
    def is_number(self) -> bool:
        """Whether it counts something, in digits or as a word."""
        return self.kind == "number" or self.value is not None


class SaidWords:
    """The words and numbers of texts, as they are looked up."""

    def __init__(self, texts: Iterable[str]) -> None:
        joined = "\n".join(texts)
        self._numbers: set[str] = set()
        self._signs: set[str] = set()
        self._words: dict[str, set[str]] = defaultdict(set)
        self._count = self._common = 0
        for word in words_in(joined):
            if word.kind == "sign":
                self._signs.add(word.text)
                self._count += 1
            elif word.kind == "number":
                self._numbers |= _number_forms(word.text, joined[word.end : word.end + 6])
            else:
                self._words[word.text[:_SHORTEST_BEGINNING]] |= {word.text, word.key}
                self._words[word.key[:_SHORTEST_BEGINNING]].add(word.key)
                self._count += 1
                self._common += word.text in STOP_WORDS
                values = (number_value(word.text), ordinal_value(word.text))
                self._numbers.update(str(each) for each in values if each is not None)
        self._digits = re.sub(r"\D+", " ", _BETWEEN_DIGITS.sub("", joined))

    @property
    def is_english(self) -> bool:
        """Whether the small words of English are among a text that is long enough to tell."""
        return self._count >= _FEWEST_TO_TELL and self._common >= _ENGLISH_SHARE * self._count

    @property
    def is_foreign(self) -> bool:
        """Whether hardly any of them is."""
        return self._count >= _FEWEST_TO_TELL and self._common <= _FOREIGN_SHARE * self._count

    def has(self, word: Word) -> bool:
        """Whether the word stands there in one of its forms, or the number by its name."""
        if word.kind == "sign":
            return word.text in self._signs
        value = word.value if word.value is not None else ordinal_value(word.text)
        if value is not None and str(value) in self._numbers:
            return True
        near = self._words.get(word.text[:_SHORTEST_BEGINNING], ())
        return (
            word.text in near
            or word.key in self._words.get(word.key[:_SHORTEST_BEGINNING], ())
            or any(_begin_alike(word.text, other) for other in near)
            or self._has_short_day(word)
        )

    def has_name(self, word: Word) -> bool:
        """Whether the name stands there, or a form of it ("Germany" and "German")."""
        near = self._words.get(word.key[:_SHORTEST_BEGINNING], ())
        if word.key in near or self._has_short_day(word):
            return True
        return len(word.key) >= _SHORTEST_BEGINNING and any(
            known.startswith(word.key) or word.key.startswith(known) for known in near
        )

    def _has_short_day(self, word: Word) -> bool:
        """Whether a weekday or month stands there by its first three or four letters."""
        if word.text.removesuffix("s") not in _CALENDAR:
            return False
        return word.text[:3] in self._words or word.text[:4] in self._words

    def has_number(self, word: Word, *, behind: str) -> bool:
        """Whether the number stands there, in digits or words; `behind` may be "k" or "pm".

        Of long ones, such as that of a telephone, only the digits count.
        """
        if word.value is not None:
            return str(word.value) in self._numbers
        if not self._numbers.isdisjoint(_number_forms(word.text, behind)):
            return True
        bare = re.sub(r"\D", "", word.text)
        return len(bare) >= _LONG_NUMBER and bare in self._digits


def words_in(text: str) -> Iterator[Word]:
    """The words, numbers and letters in order, without "not" where it is joined to a verb."""
    plain = text.replace("’", "'")
    for match in _TOKEN.finditer(plain):
        found = match.group()
        start, end = match.span()
        if match.lastgroup == "sign":
            yield Word("sign", found, start, end)
        elif match.lastgroup == "number":
            yield Word("number", found, start, end)
        elif not found.lower().endswith("n't"):
            opens = _SENTENCE_START.search(plain, max(0, start - 12), start) is not None
            for part in re.split(r"[.&]", _CLITIC.sub("", found.lower()) or found.lower()):
                if part:
                    is_capital = found[0].isupper()
                    is_name = is_capital and not opens and part not in STOP_WORDS
                    yield Word("word", part, start, end, is_name, is_capital)


def _plain(number: str) -> str:
    """A number without the marks between its thousands and without idle zeros."""
    plain = _SEPARATORS.sub("", number)
    if ":" not in plain and "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


def _number_forms(number: str, behind: str) -> set[str]:
    """How else the number is written: a list as its parts, "9k" as 9000, "3 pm" as 15:00."""
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


def _begin_alike(word: str, other: str) -> bool:
    """Whether two words share most of their letters from the beginning on."""
    shared = 0
    for one, two in zip(word, other, strict=False):
        if one != two:
            break
        shared += 1
    longest = max(len(word), len(other))
    return shared >= _SHORTEST_BEGINNING and shared >= _SHARE_OF_BEGINNING * longest
