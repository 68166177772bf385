"""A year that a date takes from the one before it: "hired in May 2024 and fired in July"."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ..language.words import MONTHS, word_set, words_of
from .far_dates import nth
from .span_dates import Resolved, month_number

_MONTH = rf"(?:{'|'.join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_NAMED = re.compile(
    rf"\b(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?)?(?P<m>{_MONTH})\.?(?:\s(?:the\s)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?)?"
    r",?\s(?:of\s)?(?P<y>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
# What goes on telling: another subject, or a word for now, begins anew.
_GOES_ON = re.compile(r"(?:,\s|\s)(?:and|then|but|before|until)\b|,\s|[;–—]", re.IGNORECASE)
_ANEW = word_set("now today currently since this next last yesterday recently is are will has have")
_YEAR = timedelta(days=365)


# "I was born in May 1990", "the firm was founded in 1998": long before what is told next.
_LONG_AGO = re.compile(r"\b(?:born|founded|built|established|since|has|have|died)\b|['’]ve\s")
_OF_SAME = re.compile(r"(?:(?:and|but|then)\s)?(?P<who>he|she|it|they|i|we)\s", re.IGNORECASE)
_SPEAKS = re.compile(r"(?:i|we)\s", re.IGNORECASE)


def goes_on_from(*, text: str, before: str) -> str:
    """The sentence `before` where `text` goes on telling of the same with no year, else ""."""
    of_same = _OF_SAME.match(text)
    if of_same is None or _LONG_AGO.search(before) or not _NAMED.search(before):
        return ""
    own = of_same["who"].lower() in {"i", "we"}
    return "" if own and not _SPEAKS.match(before) else before


def in_named_year(
    *, match: re.Match[str], found: Resolved, today: date, before: str = ""
) -> date | None:
    """The day from which a past date without a year is to be counted on, or None.

    That is the date that names its year in the same sentence, where the telling goes on from it,
    or in the sentence `before`.
    """
    named = None
    for each in _NAMED.finditer(match.string, 0, match.start()):
        named = each
    between = match.string[named.end() if named else 0 : match.start()]
    if _ANEW & {*words_of(between)} or (named and not _GOES_ON.search(between)):
        return None
    for each in _NAMED.finditer(before) if named is None else ():
        named = each
    if named is None:
        return None
    try:
        day = nth(named["d"] or named["d2"] or "1")
        begun = date(int(named["y"]), month_number(named["m"]), day)
    except ValueError:
        return None
    on = found[2].replace(year=begun.year, day=min(found[2].day, 28))
    on += timedelta(0) if on >= begun.replace(day=1) else _YEAR
    return begun if begun < found[2] and on <= today else None
