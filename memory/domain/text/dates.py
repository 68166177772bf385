"""The date reader: finds the times that a text names.

A time begins with what a rule reads (`date_rules.py`); its year, its hour and the end of a range
may follow it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

from memory.domain.text.calendar import (
    DAY,
    PARTS_OF_DAY,
    WEEK,
    Clock,
    Grain,
    Lean,
    NamedTime,
    Side,
    Span,
    days_from,
)
from memory.domain.text.date_patterns import (
    DOING,
    GRAINS,
    HOUR_ALONE,
    HOUR_OF_DAY,
    JOINT,
    ONWARDS,
    RANGE,
    SIDE,
    STARTS,
    THE,
    THE_BEFORE,
    THE_PRESENT,
    TO_DAY,
    WORD_BEFORE,
)
from memory.domain.text.date_rules import RULES

MAX_CHARS: Final = 32_000
# A part of a part of a time is the most that is read: "the end of the first week of May".
_DEEPEST = 2


def read_dates(text: str, *, anchor: datetime, lean: Lean) -> list[NamedTime]:
    """The times that a text names, in its order; none overlaps another.

    `anchor` is the aware time at which the text was said: relative words count from it, and days
    begin in its zone. `lean` says which occurrence is meant where words name several. What is no
    date ("February 31") is left out. Only the first 32,000 characters are read, in time that
    grows linearly with them.
    """
    reader = Reader(text[:MAX_CHARS], Clock(anchor.replace(tzinfo=UTC), lean))
    found: list[NamedTime] = []
    end = 0
    for start in STARTS.finditer(reader.text):
        if start.start() >= end and (named := reader.whole(start.start())):
            found.append(reader.placed(named, anchor))
            end = named.end
    return found


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads a text at a time of the clock; `is_bare` says that a year alone is to be expected."""

    text: str
    clock: Clock
    depth: int = 0
    is_bare: bool = False

    def whole(self, at: int) -> NamedTime | None:
        """The time that begins at a character, with its year, its hour and the end of a range."""
        is_since = self.lead(at) == "since"
        reader = replace(self, clock=replace(self.clock, lean="past")) if is_since else self
        found = reader.time(at) or reader._hour_first(at)
        if found is None:
            return None
        found = reader._with_hour(reader._with_year(found))
        return reader._range(found) or found

    def time(self, at: int, *, only_dates: bool = False) -> NamedTime | None:
        """The time that begins there by the first rule that reads one."""
        for rule_pattern, rule, is_compound, is_date in RULES:
            if (is_compound and self.depth >= _DEEPEST) or (only_dates and not is_date):
                continue
            if match := rule_pattern.match(self.text, at):
                try:
                    found = rule(self, match)
                except (ValueError, OverflowError, StopIteration):
                    # The calendar has no such day.
                    return None
                if found is not None:
                    return found
        the = THE.match(self.text, at)
        return self.time(the.end(), only_dates=only_dates) if the else None

    def inner(self, at: int, lean: Lean | None = None) -> NamedTime | None:
        """A time within another one, such as that behind "of"; "the month" is the present one."""
        reader = replace(self, depth=self.depth + 1, is_bare=True)
        if lean:
            reader = replace(reader, clock=replace(self.clock, lean=lean))
        if present := THE_PRESENT.match(self.text, at):
            unit = present["unit"].lower()
            return self.found(present, self.clock.unit(unit, 0), GRAINS[unit])
        found = reader.time(at)
        return reader._with_year(found) if found else None

    def found(
        self, match: re.Match[str], span: Span, grain: Grain, *, yearless: bool = False
    ) -> NamedTime:
        return NamedTime(match.start(), match.end(), *span, grain, yearless)

    def word_before(self, at: int) -> str:
        """The word, figure or apostrophe before a character, in lower case."""
        found = WORD_BEFORE.search(self.text, max(0, at - 24), at)
        return found[1].lower() if found else ""

    def lead(self, at: int) -> str:
        """The word before a time, its article left out."""
        found = THE_BEFORE.search(self.text, max(0, at - 24), at)
        return self.word_before(found.start() if found else at)

    def year(self, match: re.Match[str]) -> int:
        """The year at the end of a match, 0 for none."""
        if match["short"]:
            return self.last_ending(int(match["short"]))
        return int(match["year"] or 0)

    def last_ending(self, number: int) -> int:
        """The last year that has begun and ends in these two figures."""
        return self.clock.now.year - (self.clock.now.year - number) % 100

    def _with_year(self, found: NamedTime) -> NamedTime:
        """ "March last year", "last year in June", "May two years ago" are one time each."""
        joint = JOINT.match(self.text, found.end)
        if joint is None or not (found.yearless or found.grain is Grain.YEAR):
            return found
        second = replace(self, depth=_DEEPEST).time(joint.end())
        if second is None:
            return found
        return _in_year_of(second, found) or _in_year_of(found, second) or found

    def _with_hour(self, found: NamedTime) -> NamedTime:
        """ "Friday at 15:30", "tomorrow morning"."""
        if found.grain is not Grain.DAY or found.last - found.first > DAY:
            return found
        match = HOUR_OF_DAY.match(self.text, found.end)
        hour = _hour_of(match) if match else None
        if match is None or hour is None:
            return found
        (first, last), grain = hour
        return replace(
            found, end=match.end(), first=found.first + first, last=found.first + last, grain=grain
        )

    def _hour_first(self, at: int) -> NamedTime | None:
        """ "3pm on Friday", "at 15:30 tomorrow", and "15:30" of the anchor's day."""
        match = HOUR_ALONE.match(self.text, at)
        hour = _hour_of(match) if match else None
        if match is None or hour is None:
            return None
        (first, last), grain = hour
        joint = TO_DAY.match(self.text, match.end())
        day = self.time(joint.end()) if joint else None
        if day is None or day.grain is not Grain.DAY:
            today = self.clock.today
            return self.found(match, (today + first, today + last), grain)
        return replace(day, start=at, first=day.first + first, last=day.first + last, grain=grain)

    def _range(self, found: NamedTime) -> NamedTime | None:
        """ "From 3 May to 5 June", "between Monday and Wednesday last week", "3 May – 5 June"."""
        joint = RANGE.match(self.text, found.end)
        opens = self.lead(found.start) in {"from", "between"}
        if joint is None or (joint["both"] and not opens):
            return None
        reader = replace(self, is_bare=True)
        second = reader.time(joint.end()) or reader._hour_first(joint.end())
        if second is None or second.recurring or found.recurring:
            return None
        # "Open Monday to Friday", but not "Monday to Friday next week".
        is_habit = not opens and found.weekday and second.weekday
        second = self._with_hour(self._with_year(second))
        if not opens and second.grain != found.grain:
            return None
        if second.grain <= Grain.HOUR:
            return _hours_from_to(found, second, self.clock.today)
        return replace(_from_to(found, second), recurring=is_habit)

    def placed(self, found: NamedTime, anchor: datetime) -> NamedTime:
        """The time with its side, in the zone of the anchor."""
        before = self.text[max(0, found.start - 40) : found.start]
        sided = SIDE.search(before)
        if sided and DOING.search(before):
            sided = None
        if sided and sided["after"] and sided["after"].lower() == "following":
            # "The following Monday" is no time after it.
            starts = self.text[found.start]
            sided = None if starts.isalpha() and starts.islower() else sided
        side = next((name for name in SIDES if sided and sided[name]), NO_SIDE)
        opens, end = found.start - (len(before) - sided.start() if sided else 0), found.end
        onwards = ONWARDS.match(self.text, end)
        if not side and onwards and self.lead(found.start) == "from":
            side, end = "since", onwards.end()
            opens = self.text.lower().rindex("from", 0, found.start)
        return replace(
            found,
            end=end,
            first=found.first.replace(tzinfo=anchor.tzinfo),
            last=max(found.first, found.last).replace(tzinfo=anchor.tzinfo),
            alternative=found.alternative and found.alternative.replace(tzinfo=anchor.tzinfo),
            side=side,
            side_start=opens,
        )


NO_SIDE: Final[Side] = ""
SIDES: Final[tuple[Side, ...]] = ("since", "until", "before", "after")


def _hour_of(match: re.Match[str]) -> tuple[tuple[timedelta, timedelta], Grain] | None:
    """The hours that a match names, from midnight."""
    groups = match.groupdict()
    if part := (groups["part"] or groups.get("partly") or "").lower():
        first, last = PARTS_OF_DAY[part]
        return (timedelta(hours=first), timedelta(hours=last)), Grain.HOUR
    hour = int(groups["hour"] or groups["hour24"] or groups["full"])
    minute = groups["minute"] or groups["minute24"]
    if half := groups["half"]:
        if hour > 12:
            return None
        hour = hour % 12 + 12 * (half.lower() == "p")
    if hour > 24 or (hour == 24 and int(minute or 0)):
        return None
    start = timedelta(hours=hour, minutes=int(minute or 0))
    length, grain = (1, Grain.MINUTE) if minute else (60, Grain.HOUR)
    return (start, start + timedelta(minutes=length)), grain


def _hours_from_to(first: NamedTime, second: NamedTime, today: datetime) -> NamedTime:
    """Between two times of the day: on the day that is said with either of them."""
    is_today = today <= second.first < today + DAY
    day = days_from(first.first if is_today else second.first)[0]
    start = day + (first.first - days_from(first.first)[0])
    end = day + (second.last - days_from(second.first)[0])
    end += DAY if end <= start else timedelta(0)
    return replace(second, start=first.start, first=start, last=end, grain=first.grain)


def _in_year_of(fine: NamedTime, coarse: NamedTime) -> NamedTime | None:
    """The one time that a yearless and a year beside it mean ("March last year")."""
    if not fine.yearless or coarse.grain is not Grain.YEAR:
        return None
    start, end = min(fine.start, coarse.start), max(fine.end, coarse.end)
    if coarse.recurring:
        return replace(fine, start=start, end=end, recurring=True)
    try:
        first = fine.first.replace(year=(coarse.first + (coarse.last - coarse.first) / 2).year)
    except ValueError:
        return None
    last = first + (fine.last - fine.first)
    if fine.grain is Grain.MONTH:
        last = first + relativedelta(months=1)
    return replace(fine, start=start, end=end, first=first, last=last, yearless=False)


def _from_to(first: NamedTime, second: NamedTime) -> NamedTime:
    """From the beginning of the one time to the end of the other."""
    start, end = first.first, second.last
    if first.yearless and start.year != end.year and not second.yearless:
        start = start + relativedelta(year=end.year)
    if first.yearless and start >= end:
        start = start + relativedelta(years=-1)
    elif first.yearless and second.yearless and end - start > timedelta(days=366):
        start = start + relativedelta(years=1)
    if (start >= end and first.weekday) or end < start < end + WEEK:
        start -= WEEK
    return NamedTime(
        first.start, second.end, min(start, end), end, max(first.grain, second.grain),
        first.yearless and second.yearless,
    )  # fmt: skip
