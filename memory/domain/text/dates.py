"""The date reader: finds the times that a text names, in one pass over its tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from memory.domain.text import named_dates as counted
from memory.domain.text import number_dates as hours
from memory.domain.text.calendar import DAY, UNITS, Clock, DateTokens, Grain, Lean, NamedTime, Side
from memory.domain.text.words import ONES, ORDINALS, QUANTIFIERS, TENS, word_set

from . import date_parts as parts
from . import named_dates as named
from . import number_dates as numeric
from . import relative_dates as relative
from .calendar import MONTHS, SEASONS, SHORT_WEEKDAYS, WEEKDAYS

__all__ = ["Grain", "Lean", "NamedTime", "Side", "read_dates"]

Rule = Callable[[DateTokens, int, Clock], NamedTime | None]

_JOINTS = frozenset({",", "in", "of", "on", "the"})
_SIDES: Final[dict[str, Side]] = {
    "since": "since", "starting": "since", "effective": "since",
    "until": "until", "till": "until", "by": "until",
    "before": "before", "after": "after", "following": "after",
}  # fmt: skip
_PAIRS: Final[dict[tuple[str, str], Side]] = {
    ("as", "of"): "since", ("up", "to"): "until", ("prior", "to"): "before",
    ("ahead", "of"): "before",
}  # fmt: skip
# "What are you up to today?" is no end of a time.
_NOT_BEFORE_UP = word_set(
    """
    am is are was were be been being get gets getting got gotten i you he she it we they m re s
    """
)
# A part of a part of a time is the most that is read: "the end of the first week of May".
_DEEPEST = 2


def _rules() -> dict[str, tuple[Rule, ...]]:
    """The rules to try on a token by its word, in this order."""
    table: dict[str, tuple[Rule, ...]] = {}

    def add(words: object, *rules: Rule) -> None:
        assert isinstance(words, (dict, set, frozenset, tuple))
        for word in words:
            table[word] = (*table.get(word, ()), *rules)

    add(ORDINALS, named.read_numbered, numeric.read_day_of_month)
    add(TENS, numeric.read_day_of_month)
    add({"q", "h", "week", "cw", "kw", "calendar"}, named.read_numbered)
    add(named.HOLIDAY_STARTS, named.read_holiday)
    add(MONTHS, named.read_month_date)
    add(SEASONS, named.read_season)
    add(numeric.DECADES, numeric.read_decade_name)
    add({"'"}, numeric.read_short_year)
    add({*ONES, *TENS, *QUANTIFIERS, "half", "in"}, counted.read_count)
    add({"other", *UNITS, "weekend", *WEEKDAYS}, relative.read_around_now)
    add({*WEEKDAYS, *SHORT_WEEKDAYS, *(f"{day}s" for day in WEEKDAYS)}, relative.read_weekday)
    add(relative.WHICH, relative.read_which)
    add(counted.NEAR_DAYS, relative.read_near_day)
    add({"every", "each"}, relative.read_every)
    return table


_RULES: Final = _rules()
# What a time begins with where it is no number.
_STARTS: Final = {*_RULES, *parts.OPENERS, *hours.OPENERS}


def read_dates(text: str, *, anchor: datetime, lean: Lean) -> list[NamedTime]:
    """The times that a text names, in its order.

    `anchor` is the aware time at which the text was said: relative words count from it, and days
    begin in its zone. `lean` says which occurrence is meant where words name several. What is no
    date ("February 31") is left out. Only the first 32,000 characters are read, in time that
    grows linearly with them.
    """
    return DateReader(text, anchor=anchor, lean=lean).read()


class DateReader:
    """Reads one text; `tokens.visits` tells how many looks at a token it took."""

    def __init__(self, text: str, *, anchor: datetime, lean: Lean) -> None:
        self.tokens = DateTokens(text)
        self._zone = anchor.tzinfo
        self._clock = Clock(anchor.replace(tzinfo=UTC), lean)

    def read(self) -> list[NamedTime]:
        """The times in the order of the text; none overlaps another."""
        expressions: list[NamedTime] = []
        end = 0
        for at, word in enumerate(self.tokens):
            if at < end or not (word in _STARTS or word.isdecimal()):
                continue
            found = self._expression(at)
            if found is not None:
                expressions.append(self._placed(found))
                end = found.to
        return expressions

    def _expression(self, at: int) -> NamedTime | None:
        """The time that begins at a token, with its range, the words beside it and its side."""
        before = at - 1 - (self.tokens.word(at - 1) == "the")
        is_since = self.tokens.word(before) == "since"
        clock = replace(self._clock, lean="past") if is_since else self._clock
        found = self._time(at, clock) or self._hour_first(at, clock)
        if found is None:
            return None
        found = self._with_hour(self._with_year(found, clock))
        return self._range(found, clock) or found

    def _time(
        self, at: int, clock: Clock, *, depth: int = 0, bare: bool = False
    ) -> NamedTime | None:
        """The time that begins at a token by the first rule that reads one there."""
        word = self.tokens.word(at)
        is_number = word.isdecimal()
        if not is_number and word not in _RULES and word not in parts.OPENERS:
            return None
        try:
            if depth < _DEEPEST:
                found = parts.read_part(self.tokens, at, clock, self._deeper(clock, depth))
                if found:
                    return found
            if is_number:
                return counted.read_count(self.tokens, at, clock) or numeric.read_number_date(
                    self.tokens, at, clock, bare=bare
                )
            for rule in _RULES.get(word, ()):
                found = rule(self.tokens, at, clock)
                if found:
                    return self._dated_weekday(found, clock)
        except (ValueError, OverflowError, StopIteration):
            # The calendar has no such day.
            return None
        return None

    def _deeper(self, clock: Clock, depth: int) -> Callable[[int, Lean | None], NamedTime | None]:
        def read(at: int, lean: Lean | None) -> NamedTime | None:
            leaning = replace(clock, lean=lean) if lean else clock
            found = self._time(at, leaning, depth=depth + 1, bare=True)
            return self._with_year(found, leaning) if found else None

        return read

    def _dated_weekday(self, found: NamedTime, clock: Clock) -> NamedTime:
        """ "Tuesday 9 June", "Saturday the 21st": the date tells which."""
        if found.weekday is None or found.recurring or found.to - found.at != 1:
            return found
        place = found.to + (self.tokens.word(found.to) in {",", "."})
        place += self.tokens.word(place) == "the"
        word = self.tokens.word(place)
        if word.isdecimal():
            date = numeric.read_number_date(self.tokens, place, clock, bare=False)
        elif word in MONTHS:
            date = named.read_month_date(self.tokens, place, clock)
        else:
            date = None
        return replace(date, at=found.at) if date and date.grain is Grain.DAY else found

    def _with_year(self, found: NamedTime, clock: Clock) -> NamedTime:
        """ "March last year", "last year in June", "May two years ago" are one time each."""
        is_long = found.grain is Grain.YEAR and found.relative
        if not (is_long or found.yearless):
            return found
        place = found.to
        while place < found.to + 3 and self.tokens.word(place) in _JOINTS:
            place += 1
        second = self._time(place, clock, depth=_DEEPEST)
        if second is None or not second.relative:
            return found
        if is_long:
            return parts.in_year_of(second, found) or found
        return parts.in_year_of(found, second) or found if second.grain is Grain.YEAR else found

    def _with_hour(self, found: NamedTime) -> NamedTime:
        """ "Friday at 15:30", "tomorrow morning"."""
        if found.grain is not Grain.DAY or found.last - found.first > DAY:
            return found
        place = found.to + (self.tokens.word(found.to) in {",", "t"})
        hour = hours.read_hour(self.tokens, place, is_after_day=True)
        if hour is None:
            return found
        first, last = found.first + hour.first, found.first + hour.last
        return replace(found, to=hour.to, first=first, last=last, grain=hour.grain)

    def _hour_first(self, at: int, clock: Clock) -> NamedTime | None:
        """ "3pm on Friday", "at 15:30 tomorrow", and "15:30" of the anchor's day."""
        hour = hours.read_hour(self.tokens, at, is_after_day=False)
        if hour is None:
            return None
        place = hour.to + (self.tokens.word(hour.to) in {"on", ","})
        day = self._time(place, clock)
        if day is None or day.grain is not Grain.DAY:
            start = clock.today
            first, last = start + hour.first, start + hour.last
            return NamedTime(at, hour.to, first, last, hour.grain, relative=True)
        first, last = day.first + hour.first, day.first + hour.last
        return replace(day, at=at, first=first, last=last, grain=hour.grain)

    def _range(self, found: NamedTime, clock: Clock) -> NamedTime | None:
        """ "From 3 May to 5 June", "between Monday and Wednesday last week", "3 May – 5 June"."""
        before = found.at - 1 - (self.tokens.word(found.at - 1) == "the")
        opens = self.tokens.word(before) in {"from", "between"}
        joint = self.tokens.word(found.to)
        if joint not in numeric.RANGE_WORDS and not (opens and joint == "and"):
            return None
        place = found.to + 1 + (self.tokens.word(found.to + 1) == "the")
        second = self._time(place, clock, bare=True) or self._hour_first(place, clock)
        if second is None or second.recurring or found.recurring:
            return None
        second = self._with_hour(self._with_year(second, clock))
        if not opens and second.grain != found.grain:
            return None
        if second.grain <= Grain.HOUR:
            return hours.hours_from_to(found, second, clock.today)
        whole = parts.from_to(found, second)
        is_habit = not opens and found.weekday is not None and second.weekday is not None
        # "Open Monday to Friday", but not "Monday to Friday next week".
        is_habit = is_habit and second.to - second.at == 1
        return replace(whole, recurring="weekly") if is_habit else whole

    def _side(self, at: int) -> tuple[Side, int]:
        """The side of the time at a token that is meant, and the token where its words begin."""
        place = at - 1 - (self.tokens.word(at - 1) == "the")
        word, before = self.tokens.word(place), self.tokens.word(place - 1)
        pair = _PAIRS.get((before, word))
        if pair and not (before == "up" and self._is_doing(place - 2)):
            return pair, place - 1 - (before == "up" and self.tokens.word(place - 2) == "leading")
        if (
            word == "following"
            and self.tokens.word(at).isalpha()
            and not self.tokens.is_capital(at)
        ):
            return "", at
        return (_SIDES[word], place) if word in _SIDES else ("", at)

    def _is_doing(self, place: int) -> bool:
        return self.tokens.word(place) in _NOT_BEFORE_UP or self.tokens.is_capital(place)

    def _placed(self, found: NamedTime) -> NamedTime:
        """The time with its characters and its zone."""
        tokens, zone = self.tokens, self._zone
        side, opens = self._side(found.at)
        to = found.to
        is_from = tokens.word(found.at - 1) == "from" and not side
        if is_from and tokens.word(to) in {"on", "onwards", "onward"}:
            side, opens, to = "since", found.at - 1, to + 1
        start, end = tokens.start(found.at), tokens.end(min(to, len(tokens)) - 1)
        return replace(
            found,
            start=start,
            end=end,
            first=found.first.replace(tzinfo=zone),
            last=max(found.first, found.last).replace(tzinfo=zone),
            side=found.side or side,
            side_start=tokens.start(opens),
            alternative=found.alternative and found.alternative.replace(tzinfo=zone),
        )
