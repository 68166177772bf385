"""Parses a question into its terms, names and periods."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from memory.domain.scoring import Floats
from memory.domain.text.calendar import DAY, WEEK, Grain, Lean, NamedTime, days_from
from memory.domain.text.dates import read_dates
from memory.domain.text.words import search_terms

# What lies just outside a named time has at most this share of what lies inside. Any lower share
# measures the same; it is high enough for what was told late or dated a little wrong.
BESIDE = 0.6
# Beside a time it decays over half of its length, over a fortnight at most.
_OF_LENGTH, _MOST_DAYS = 0.5, 14.0
# People tell of what happened for about a week afterwards; when something happened is a day.
TOLD_DAYS, HAPPENED_DAYS = 7.0, 1.0
# Less is told of what is still to come.
_EARLY = 0.5
_DAY_SECONDS = 86_400.0
# What is due on Friday is due on the next one, what came on Friday came on the last.
_LEANS: tuple[Lean, ...] = ("past", "future")
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
# Who asks for what was before a day means the days before it, of a year the years.
_LEAST_AROUND, _LENGTHS_AROUND = 2 * WEEK, 12
# A leap year: any day of a year can be said of it.
_ANY_YEAR = 2000


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to, not including, `end`; `yearly` when no year was said.

    Both are what calendar and clock show where it is asked, marked as UTC whatever the zone is.
    """

    start: datetime
    end: datetime
    yearly: bool = False


def closeness(
    periods: tuple[Period, ...], *, since: Floats, until: Floats, least_days: float = HAPPENED_DAYS
) -> Floats:
    """Returns each time span's closeness to the nearest period: 1 where they meet, falling to 0.

    Beside a period it is `BESIDE` at most, and decays in proportion to its length, over no fewer
    than `least_days`. `since` and `until` are seconds of the epoch, NaN where unknown, which
    counts as 0.
    """
    best = np.zeros(len(since))
    for period in periods:
        length = (period.end - period.start).total_seconds() / _DAY_SECONDS
        decay = _DAY_SECONDS * min(max(least_days, _OF_LENGTH * length), _MOST_DAYS)
        for start, end in _occurrences(period, since, until):
            away = np.maximum((since - end) / decay, (start - until) / (_EARLY * decay))
            beside = BESIDE * np.exp(-np.maximum(away, 0.0))
            best = np.fmax(best, np.where(away > 0, beside, np.where(np.isnan(away), 0.0, 1.0)))
    return best


def _occurrences(period: Period, since: Floats, until: Floats) -> Iterator[tuple[float, float]]:
    known = np.concatenate([since, until])
    known = known[np.isfinite(known)]
    if not period.yearly or not len(known):
        yield period.start.timestamp(), period.end.timestamp()
        return
    years = np.unique(known.astype("datetime64[s]").astype("datetime64[Y]").astype(int)) + 1970
    length = period.end - period.start
    for year in sorted({int(each) + shift for each in years for shift in (-1, 0, 1)}):
        with suppress(ValueError):  # 29 February
            start = period.start.replace(year=year)
            yield start.timestamp(), (start + length).timestamp()


def _times_in(text: str, *, now: datetime) -> dict[tuple[int, int, Period], None]:
    """The start, end and period of each time that a question names, on the clock of `now`'s zone.

    A month or day without a year means that of any year, a weekday the last and the next one;
    "before", "until", "after" and "since" mean the time on that side. What comes round ("every
    Monday") names no period.
    """
    clock = now.replace(tzinfo=UTC)
    return dict.fromkeys(
        (found.side_start, found.end, period)
        for lean in _LEANS
        for found in read_dates(text, anchor=clock, lean=lean)
        for period in _periods(text, found, clock)
    )


def _periods(text: str, found: NamedTime, now: datetime) -> Iterator[Period]:
    if found.recurring and not found.yearless:
        return
    first, last = found.first, found.last
    if found.grain <= Grain.HOUR and last != now:
        # What was said is dated by its day.
        first, last = days_from(first)[0], days_from(max(first, last - timedelta(minutes=1)))[1]
    if found.side:
        # How things stand "as of" a day is asked of all that was until then.
        is_until = text[found.side_start : found.start].lower().startswith("as of")
        yield _on_side("until" if is_until else found.side, first, last, now)
    elif found.yearless:
        start = first.replace(year=_ANY_YEAR)
        yield Period(start, start + (last - first), yearly=True)
    else:
        yield Period(first, last)
    if found.alternative:
        yield Period(found.alternative, found.alternative + DAY)


def _on_side(side: str, first: datetime, last: datetime, now: datetime) -> Period:
    around = max(_LEAST_AROUND, _LENGTHS_AROUND * (last - first))
    if side == "before":
        return Period(max(_LONG_AGO, first - around), first)
    if side == "until":
        return Period(min(_LONG_AGO, first), last)
    if side == "after":
        return Period(last, last + around)
    return Period(first, max(now, first))


MAX_TERMS = 32
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:。！？]\s*[\"'”’)]*\s*$")
# Characters before a word that are looked at.
_LONGEST_LEAD = 40
# Shorter beginnings of a name ("Jo") would name too many people.
_SHORTEST_NICKNAME = 3
# With fewer words beside its names a question means nothing without them ("Who is Ann?").
_FEWEST_TO_MEAN = 3


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question as it is searched for.

    `may_name` says that it may be somebody's name, `may_shorten` that it may be the beginning of
    one ("Mel" for "Melanie"), `is_written_name` that it has a capital inside a sentence, as "Will"
    where it is no verb, and `of_time` that it only stands in a time ("last week").
    """

    word: str
    may_name: bool = False
    may_shorten: bool = False
    is_written_name: bool = False
    of_time: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the signals read it.

    `terms` are distinct and casefolded; `meaning` is the text to embed, without names, which only
    blur what is asked of the named. `periods` are on the clock of the zone asked in, `ahead`
    seconds ahead of UTC.
    """

    text: str
    terms: tuple[Term, ...]
    periods: tuple[Period, ...]
    meaning: str
    ahead: float = 0.0


def read_question(text: str, *, now: datetime) -> Asked:
    """Take a question apart; at most MAX_TERMS terms; days begin in the zone of the aware `now`."""
    plain = unicodedata.normalize("NFKC", text)
    words = [(match, _POSSESSIVE.sub("", match[0])) for match in _WORD.finditer(plain)]
    names = {match.start() for match, word in words if _looks_like_name(word, plain, match)}
    # Who writes without capitals may mean anybody with any word.
    is_plain = not names and plain == plain.lower()
    times = _times_in(plain, now=now)
    in_time = {place for start, end, _ in times for place in range(start, end)}
    terms: dict[str, Term] = {}
    for match, word in words:
        # "In May" is a time, whoever is called so.
        of_time = match.start() in in_time
        is_inside = match.start() in names and not of_time
        opens = word[:1].isupper() and not of_time and _begins_sentence(plain, match)
        has_capital = is_inside or opens
        for folded in search_terms(word.casefold()):
            known = terms.get(folded, Term(folded, of_time=True))
            terms[folded] = Term(
                folded,
                may_name=known.may_name or has_capital or (is_plain and not of_time),
                may_shorten=known.may_shorten
                or (has_capital and len(folded) >= _SHORTEST_NICKNAME),
                is_written_name=known.is_written_name or is_inside,
                of_time=known.of_time and of_time,
            )
    return Asked(
        text=text,
        terms=_most_telling(terms),
        periods=tuple(period for _, _, period in times),
        meaning=_without(names, words) or plain,
        ahead=(now.utcoffset() or timedelta(0)).total_seconds(),
    )


def _most_telling(terms: dict[str, Term]) -> tuple[Term, ...]:
    kept = sorted(terms, key=len, reverse=True)[:MAX_TERMS]
    return tuple(term for word, term in terms.items() if word in kept)


def _looks_like_name(word: str, text: str, match: re.Match[str]) -> bool:
    """Returns whether a word is written as a name: "Caroline", not "LGBTQ" or "I"."""
    return len(word) > 1 and word.istitle() and not _begins_sentence(text, match)


def _begins_sentence(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    if match.start() <= _LONGEST_LEAD and not before.strip("\"'“‘( \t\n"):
        return True
    return bool(_SENTENCE_END.search(before))


def _without(names: set[int], words: list[tuple[re.Match[str], str]]) -> str:
    kept = [match[0] for match, _ in words if match.start() not in names]
    return " ".join(kept) if len(kept) >= _FEWEST_TO_MEAN else ""
