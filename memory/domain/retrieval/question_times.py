"""The periods that a question names, by the shared date reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memory.domain.text.calendar import MONTHS, WEEKDAYS
from memory.domain.text.date_arithmetic import DAY, HOURS, UNITS, WEEK, days_from
from memory.domain.text.date_types import Grain, Lean, NamedTime
from memory.domain.text.dates import read_dates
from memory.domain.text.numbers import ONES, QUANTIFIERS
from memory.domain.text.stop_words import word_set

from .periods import Period

NAMES_OF_TIMES = MONTHS.keys() | WEEKDAYS.keys()

# Words of a time that tell nothing by themselves, unlike the name of a month, a day or a feast.
COUNTING = frozenset(
    {*UNITS, *(f"{unit}s" for unit in UNITS), *HOURS, *QUANTIFIERS, *ONES}
) | word_set(
    """
    half time ago back last past previous this next coming following before after since until till
    by between from to and in within during of the on today tonight yesterday tomorrow now early
    late mid first second third fourth start beginning middle end earlier later other same around
    hours minutes
    """
)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
# Who asks for what was before a day means the days before it, of a year the years.
_LEAST_AROUND, _LENGTHS_AROUND = 2 * WEEK, 12
# A leap year: any day of a year can be said of it.
_ANY_YEAR = 2000


@dataclass(frozen=True, slots=True)
class QuestionTime:
    """A period, and where in the question (start and end) its words stand."""

    start: int
    end: int
    period: Period


def find_times(text: str, *, now: datetime, lean: Lean) -> tuple[QuestionTime, ...]:
    """The periods a question names, in its order, on the calendar and clock of `now`'s zone.

    A month or day without a year means that of any year; "before", "until", "after" and "since"
    mean the time on that side. What comes round ("every Monday") names no period.
    """
    clock = now.replace(tzinfo=UTC)
    return tuple(
        QuestionTime(found.side_start, found.end, period)
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
