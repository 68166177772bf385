"""Where a figure, a date, a time or a count belongs that puts what was said right."""

from __future__ import annotations

import re

from ..language.words import (
    MONTHS,
    NUMBER_WORDS,
    PREPOSITIONS,
    WEEKDAYS,
    word_set,
    words_of,
)
from .correction_words import VALUES
from .splices import replaced

NUMBERS = frozenset(NUMBER_WORDS) - {"a", "an"} | frozenset(map(str, range(21)))
_ORDINALS = word_set(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
_FIGURE = re.compile(r"(?P<sign>[$€£]?)(?P<n>\d[\d.,:]*)(?P<unit>[a-zA-Z%]*)")
_PAIR = re.compile(r"\d+\s(?P<by>over|by|x)\s\d+")
_ORDINAL = re.compile(r"(?:the\s)?(?P<day>\d{1,2})(?:st|nd|rd|th)", re.IGNORECASE)
_MONTH = rf"(?:{'|'.join(MONTHS)})"
_MONTH_DAY = re.compile(
    rf"{_MONTH}\s(?P<day>\d{{1,2}})(?!\d)|\b(?P<first>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}",
    re.IGNORECASE,
)
# "June 3 to 5", "9am until 5pm", "Monday to Wednesday", "May to July"
_POINT = (
    rf"(?:(?:{_MONTH}\s)?(?:the\s)?\d{{1,2}}(?::\d\d)?(?:st|nd|rd|th)?(?:\s?[ap]m)?(?:\s(?:of\s)?{_MONTH})?"
    rf"|{_MONTH}|(?:{'|'.join(WEEKDAYS)}))"
)
_SPAN = re.compile(
    rf"(?<![\w:.])(?P<a>{_POINT})(?P<to>\s(?:to|until|till|through)\s|\s?[–-]\s?)(?P<b>{_POINT})(?![\w:])",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?|"
    rf"{_MONTH}\s(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?(?!\d)",
    re.IGNORECASE,
)
_DATED_KINDS = (_DAY, *(pattern for _, pattern in VALUES[:5]))
TOKEN = re.compile(r"[^\s,;!?()]+")

# From where to where the new wording goes.
Spot = tuple[int, int, str]


def spanned(*, text: str, value: str) -> str:
    """ "4 to 6" in the place of "June 3 to 5": the month that only the first one names stays."""
    new, olds = _SPAN.fullmatch(re.sub(r"^(?:from|on)\s", "", value)), list(_SPAN.finditer(text))
    if new is None or not olds:
        return ""
    old = olds[-1]
    figures = (
        list(re.finditer(r"\d[\d:]*", new.group())),
        list(re.finditer(r"\d[\d:]*", old.group())),
    )
    if (
        new.group("a")[0].isdigit()
        and new.group("b").isdigit()
        and len(figures[1]) == 2 == len(figures[0])
    ):
        (first, last), (begun, ended) = figures
        told = old.group()
        told = told[: ended.start()] + last.group() + told[ended.end() :]
        told = told[: begun.start()] + first.group() + told[begun.end() :]
    else:
        told = new.group()
    return text[: old.start()] + told + text[old.end() :]


def valued(*, text: str, value: str) -> str:
    """A weekday, a date, a time or a price in the place of the last one of its kind."""
    for pattern in _DATED_KINDS:
        new = pattern.search(value)
        others = set(words_of(value)) - PREPOSITIONS - {"the", "every"}
        if new is None or others - set(words_of(new.group())):
            continue
        has_figure = any(char.isdigit() for char in new.group())
        for old in reversed(list(pattern.finditer(text))):
            if old.group() != new.group() and has_figure == any(map(str.isdigit, old.group())):
                return replaced(text, *old.span(), new.group())
    return ""


def dated(*, text: str, value: str) -> Spot | None:
    """ "the 5th" is a day of the month that was named."""
    new, old = _ORDINAL.fullmatch(value), _MONTH_DAY.search(text)
    if new is None or old is None:
        return None
    group = "day" if old.group("day") else "first"
    return (*old.span(group), new.group("day"))


def figure(*, text: str, value: str) -> Spot | None:
    """The last figure of the same unit, or of what the value counts."""
    said, pair = _FIGURE.match(value), _PAIR.fullmatch(value)
    pairs = [each for each in _PAIR.finditer(text) if pair and each["by"] == pair["by"]]
    if pairs:
        return (*pairs[-1].span(), value)
    if said is None:
        return None
    spots = list(_FIGURE.finditer(text))
    of_unit = [each for each in spots if each.group("unit").lower() == said.group("unit").lower()]
    half = {"am": "pm", "pm": "am"}.get(said.group("unit").lower())
    of_unit = of_unit or [each for each in spots if each.group("unit").lower() == half]
    counted = words_of(value[said.end() :])[:1]
    following = {each: words_of(text[each.end() :])[:1] for each in spots}
    if counted:
        spots = [
            each for each in spots
            if following[each] and following[each][0].rstrip("s")[:4] == counted[0].rstrip("s")[:4]
        ] or (spots if len(spots) == 1 else [])  # fmt: skip
        if not spots:
            return None
        spot, unit = spots[-1], following[spots[-1]]
        end = text.find(unit[0], spot.end()) + len(unit[0]) if unit else spot.end()
        return spot.start(), end, value
    spots = of_unit or ([] if said.group("unit") else spots)
    return (*spots[-1].span(), value) if spots else None


def counted(*, text: str, value: str) -> Spot | None:
    """ "one" after "two sisters", "fourth" after "the third floor"."""
    for kind in (NUMBERS, _ORDINALS):
        said = [each for each in TOKEN.finditer(text) if each.group().lower() in kind]
        if value.lower() in kind and said:
            return (*said[-1].span(), value.lower())
    return None


def ranked(*, text: str, value: str) -> Spot | None:
    """ "the fourth" after "on the third floor", which stays a floor."""
    article, _, bare = value.lower().rpartition(" ")
    return counted(text=text, value=bare) if article == "the" and bare in _ORDINALS else None
