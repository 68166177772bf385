"""Where the old value stands that one said anew takes the place of: always one of its own kind."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..language.verbs import THIRD, is_past_form
from ..language.words import (
    ADVERBS,
    COMMON_OPENERS,
    PREPOSITIONS,
    STOPWORDS,
    content_words,
    word_set,
    words_of,
)
from .correction_words import VALUES
from .splices import alike

_BARE_HOUR = re.compile(r"(?<=\bat\s)\d{1,2}\b(?![:.,%]?\d)")
_NO_COUNT = re.compile(
    r"\b(?:quick|this|that|the|no|another|last|next|which|any|every|each)\s$", re.IGNORECASE
)
_CLAUSE_ENDS = re.compile(r"[,;:.!?()]|\s[–—-]\s")
_SIGN = re.compile(r"\s?[%°]")
_NO_NOUNS = (
    STOPWORDS | PREPOSITIONS | ADVERBS | word_set("sharp o'clock am pm altogether total max tops")
)
# Units of one dimension: "six weeks" may become "two months", and never "two metres".
_DIMENSIONS = (
    word_set("second minute min hour night day week fortnight month quarter year"),
    word_set("cm centimetre centimeter inch foot feet yard metre meter km kilometre mile"),
    word_set("gram kg kilo kilogram pound stone ton tonne ounce"),
    word_set("ml cl litre liter pint gallon"),
    word_set("kb mb gb tb megabyte gigabyte terabyte"),
)
_PATTERNS = dict(VALUES)
# A number inside one of these is no number by itself.
_HOLD_NUMBERS = ("date", "time")
_TO = re.compile(r"\s?(?:\b(?:to|until|till|and|or)\b|[–-])\s?", re.IGNORECASE)
_TO_BEFORE = re.compile(rf"{_TO.pattern}$", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"([\w’'-]+)\s[$€£]?$")

# From where to where the new wording goes, and the wording.
Spot = tuple[int, int, str]


def value_spot(*, kind: str, text: str, new: str, value: str, is_sure: bool) -> Spot | None:
    """Where in a text the old value of a kind stands: the last, or the one most like the new.

    `value` is all that was said for it ("eight weeks"), `new` the part that is of the kind. A
    number that counts something gives way to one that counts the same, and only where it is sure
    that something is put right does a number that counts nothing give way to one that does.
    """
    pattern = _PATTERNS[kind]
    spots = [spot for spot in pattern.finditer(text) if spot.group().lower() != new.lower()]
    if kind == "number":
        return number_spot(text=text, new=new, value=value, is_sure=is_sure)
    if kind == "time" and not spots:
        spots = list(_BARE_HOUR.finditer(text))
    if kind == "date":
        spots = [spot for spot in spots if _has_digit(spot.group()) == _has_digit(new)]
    if kind == "name":
        spots = [spot for spot in spots if spot.group().lower() not in COMMON_OPENERS]
        like = [spot for spot in spots if spot.group().split()[-1][:3].lower() == new[:3].lower()]
        spots = like or spots
    return (*spots[-1].span(), new) if spots else None


def number_spot(*, text: str, new: str, value: str, is_sure: bool) -> Spot | None:
    """Where the number stands that `new` takes the place of, as in `value_spot`."""
    held = [spot.span() for kind in _HOLD_NUMBERS for spot in _PATTERNS[kind].finditer(text)]
    spots = [
        spot for spot in _PATTERNS["number"].finditer(text)
        if spot.group().lower() != new.lower()
        and not _NO_COUNT.search(text[: spot.start()])
        and not any(start <= spot.start() < end for start, end in held)
        and not _ends_span(text, spot, held)
    ]  # fmt: skip
    counts = counted_after(text=value, end=value.find(new) + len(new))
    if not counts:
        spots = [spot for spot in spots if alike(new, spot.group())]
        return (*spots[-1].span(), new) if spots else None
    named = bool(_stems(counts) & _stems(words_of(text)))
    for spot in reversed(spots):
        before = counted_after(text=text, end=spot.end())
        is_same = bool(_stems(counts) & _stems(before))
        in_digits = {_has_digit(new), _has_digit(spot.group())}
        if not alike(new, spot.group()) and not (is_same and len(in_digits) == 2):
            continue
        is_bare = not before and _is_quantity(text[: spot.start()])
        if is_same or (is_bare and (is_sure or named)):
            return (*spot.span(), new)
    for spot in reversed(spots):
        before = counted_after(text=text, end=spot.end())
        if is_sure and _is_of_one_dimension(counts, before):
            unit = re.compile(rf"[\s-]+{re.escape(before[0])}").match(text, spot.end())
            return (spot.start(), unit.end(), f"{new} {counts[0]}") if unit else None
    return None


def _ends_span(text: str, spot: re.Match[str], held: Iterable[tuple[int, int]]) -> bool:
    """Whether a number is one end of a span of days or times: "11 to 13 May"."""
    after, before = _TO.match(text, spot.end()), _TO_BEFORE.search(text[: spot.start()])
    ends = {after.end() if after else -1, before.start() if before else -1}
    return any(start in ends or end in ends for start, end in held)


def counts_the_same(*, text: str, new: str, value: str) -> bool:
    """Whether a number of the text counts what the new one does: "14 snapshots", "21 snapshots"."""
    counts = _stems(counted_after(text=value, end=value.find(new) + len(new)))
    return any(
        counts & _stems(counted_after(text=text, end=spot.end()))
        for spot in _PATTERNS["number"].finditer(text)
    )


def counts_something_else(*, text: str, value: str) -> bool:
    """Whether a value counts what no number of the text counts: "six lanes" of "25 metres"."""
    new = _PATTERNS["number"].match(value)
    if new is None or not counted_after(text=value, end=new.end()):
        return False
    olds = [spot.group().lower() for spot in _PATTERNS["number"].finditer(text)]
    olds += [spot.group().lower() for spot in _PATTERNS["time"].finditer(text)]
    if not olds or new.group().lower() in olds:
        return False
    return not number_spot(text=text, new=new.group(), value=value, is_sure=True)


def counted_after(*, text: str, end: int) -> list[str]:
    """The words for what the number counts that ends at `end`; "%" and "°" count as words."""
    sign = _SIGN.match(text, end)
    if sign:
        return [sign.group().strip()]
    phrase = _CLAUSE_ENDS.split(text[end:].lstrip("-"), maxsplit=1)[0]
    counted: list[str] = []
    for word in words_of(phrase):
        if word in _NO_NOUNS or len(counted) == 3:
            break
        counted.append(word)
    return counted


def value_alone(*, kind: str, value: str) -> str | None:
    """The value of a kind in a short phrase that says little else."""
    if kind == "name":
        name = re.fullmatch(
            r"(?:(?:to|at|in|the|with|by)\s)*(?P<name>[A-ZÀ-Þ][\w’'-]+(?:\s[A-ZÀ-Þ][\w’'-]+)*)",
            value,
        )
        fits = name and words_of(name.group("name"))[0] not in COMMON_OPENERS
        return name.group("name") if name and fits else None
    match = _PATTERNS[kind].search(value)
    if match is None or (kind in {"weekday", "date"} and "today" in words_of(value)):
        # "It's Thursday today" tells what day it is, and of nothing else.
        return None
    others = set(content_words(value)) - set(words_of(match.group()))
    return match.group() if len(others) < 2 else None


def _is_quantity(before: str) -> bool:
    """Whether the number behind these words says how many: "seats 30", and not "room 4"."""
    found = _WORD_BEFORE.search(before)
    word = found.group(1).lower() if found else ""
    return word != "at" and (word in _NO_NOUNS or word in THIRD or is_past_form(word=word))


def _stems(words: Iterable[str]) -> set[str]:
    return {word.rstrip("s").rstrip("e") for word in words}


def _is_of_one_dimension(new: list[str], old: list[str]) -> bool:
    units = _stems(new[:1]) | _stems(old[:1])
    return bool(new and old) and any(units <= _stems(each) for each in _DIMENSIONS)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)
