"""Rules of the date reader: patterns, and the time that a match of each names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from dateutil.relativedelta import relativedelta

from memory.domain.text.calendar import (
    AMBIGUOUS_NAMES,
    DAY,
    FIXED_HOLIDAYS,
    HOURS,
    MONTHS,
    PARTS_OF_DAY,
    SEASONS,
    SHORT_WEEKDAYS,
    UNITS,
    WEEK,
    WEEKDAYS,
    Grain,
    Lean,
    NamedTime,
    Span,
    away_from,
    days_from,
    holiday_span,
    iso_week,
    midnight,
    months_from,
    nth_of,
)
from memory.domain.text.date_patterns import (
    COUNT,
    DAY_NUMBER,
    DAYS,
    DECADES,
    GRAINS,
    HOLIDAY,
    LEADS,
    MONTH,
    MONTHS_OF,
    NEAR_DAYS,
    NO_DAY_BEFORE,
    NO_NOUN,
    NUMBER_NEXT,
    OTHER,
    PERIOD,
    SHORT,
    TAIL,
    THE_PRESENT,
    THIRDS,
    TO_DATE,
    UNIT,
    WEEKDAY,
    WHICH,
    YEAR,
    any_of,
    pattern,
)
from memory.domain.text.words import ORDINALS, QUANTIFIERS, number_value, ordinal_value

if TYPE_CHECKING:
    from memory.domain.text.dates import Reader

# "Next Friday" said up to so many days before a Friday is the one after it.
_TOO_NEAR = 3
_NO_NOUN = pattern(NO_NOUN)

Rule = Callable[["Reader", re.Match[str]], NamedTime | None]
RULES: list[tuple[re.Pattern[str], Rule, bool, bool]] = []


def _rule(text: str, *, compound: bool = False, dates: bool = False) -> Callable[[Rule], Rule]:
    """Registers a rule; `compound` ones read a time within theirs, `dates` name a day by number."""

    def register(rule: Rule) -> Rule:
        RULES.append((pattern(text), rule, compound, dates))
        return rule

    return register


# -- times made of other times --------------------------------------------------------------------


@_rule(
    r"(?:the )?(?:(?P<part>early|mid|late)[ -](?:(?:of|in) )?"
    r"|(?P<of>start|beginning|middle|end) of )",
    compound=True,
)
def _third(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Early 2024", "mid-May", "the end of last month": a third of it in whole days."""
    whole = reader.inner(match.end())
    if whole is None or whole.grain < Grain.WEEK:
        return None
    third = (whole.last - whole.first) / 3
    place = THIRDS[(match["part"] or match["of"]).lower()]
    first = days_from(whole.first + place * third)[0]
    last = max(days_from(whole.first + (place + 1) * third)[0], first + DAY)
    return replace(whole, start=match.start(), first=first, last=last)


@_rule(
    rf"(?:the )?(?:(?:last|next) )?(?:{COUNT} )?(?P<unit>{any_of(UNITS)}s?|weekend|{WEEKDAY})"
    r" (?:(?P<after>after)|before|leading up to) ",
    compound=True,
)
def _offset(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The week before 3 May", "two weeks after Christmas", "the day before yesterday"."""
    base = reader.inner(match.end())
    if base is None or base.recurring:
        return None
    unit, sign = match["unit"].lower(), 1 if match["after"] else -1
    edge = base.last if match["after"] else base.first
    count = _count(match["count"]) if match["count"] else None
    span, grain = away_from(edge, sign, unit, None if count is None else int(count))
    return NamedTime(match.start(), base.end, *span, grain)


@_rule(
    rf"(?:the )?(?P<nth>{any_of(ORDINALS)}|last) (?P<unit>half|week|weekend|{WEEKDAY}) (?:of|in) ",
    compound=True,
)
def _nth(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The first week of May", "the second half of 2025", "the last Friday of June"."""
    whole = reader.inner(match.end())
    if whole is None or whole.grain < Grain.MONTH:
        return None
    unit = match["unit"].lower()
    span = nth_of(whole.first, whole.last, ORDINALS.get(match["nth"].lower(), 0), unit)
    is_day = unit in WEEKDAYS or unit == "weekend"
    is_monthly = bool(THE_PRESENT.match(reader.text, match.end())) and whole.grain is Grain.MONTH
    grain = whole.grain if unit == "half" else GRAINS.get(unit, Grain.DAY)
    return NamedTime(
        match.start(), whole.end, *span, grain, whole.yearless and not is_day,
        whole.recurring or is_monthly,
    )  # fmt: skip


@_rule(r"(?:the )?(?P<word>weekend|week|night|morning|evening) of ", compound=True)
def _around(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The week of May 11", "the weekend of 6 June", "the evening of 6 June"."""
    day = reader.inner(match.end(), None if reader.clock.lean == "future" else "nearest")
    if day is None or day.grain > Grain.WEEK:
        return None
    word, monday = match["word"].lower(), day.first - day.first.weekday() * DAY
    if word in PARTS_OF_DAY:
        span, grain = _part_of_day(day.first, word), Grain.HOUR
    elif word == "week":
        span, grain = (monday, monday + WEEK), Grain.WEEK
    else:
        span, grain = (monday + 5 * DAY, monday + WEEK), Grain.WEEKEND
    return NamedTime(match.start(), day.end, *span, grain)


@_rule(rf"the (?P<day>{DAY_NUMBER}) of ", compound=True)
def _day_of(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The 14th of last month", "the 15th of each month"."""
    whole = reader.inner(match.end())
    if whole is None or whole.grain is not Grain.MONTH:
        return None
    day = _day(match["day"])
    span = (
        reader.clock.day_of_month(day)
        if whole.recurring
        else days_from(whole.first.replace(day=day))
    )
    return replace(
        whole, start=match.start(), first=span[0], last=span[1], grain=Grain.DAY
    )  # fmt: skip


@_rule(r"(?:so far|earlier|(?P<later>later)) ", compound=True)
def _up_to_now(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "So far this year", "earlier this week", "later today"."""
    whole, now = reader.inner(match.end()), reader.clock.now
    if whole is None or not whole.first <= now < whole.last:
        return None
    if match["later"]:
        return replace(whole, start=match.start(), first=now)
    return replace(whole, start=match.start(), last=now)


# -- counted times --------------------------------------------------------------------------------


@_rule(rf"in {COUNT} {UNIT}(?:['’]? time)?(?! (?:of|or|per)\b)")
def _ahead(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "In two weeks", "in a month's time"."""
    count, unit = _count(match["count"]), match["unit"].lower()
    if unit in HOURS:
        moment = reader.clock.now + timedelta(hours=count * HOURS[unit])
        return reader.found(match, (moment, moment + timedelta(minutes=1)), Grain.HOUR)
    return reader.found(match, reader.clock.around(int(UNITS[unit][1] * count)), UNITS[unit][0])


@_rule(
    rf"(?:(?P<near>today|yesterday|tomorrow),? )?{COUNT} (?:{UNIT}|(?P<season>{any_of(SEASONS)})s?"
    rf"|(?P<weekday>{WEEKDAY})s?)"
    rf" (?:ago|back|from (?P<from>now|today|tomorrow|yesterday|{WEEKDAY}))"
    r"\b(?:,? (?P<day>today|tomorrow|yesterday|tonight|to the day)\b)?"
)
def _counted(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Two weeks ago", "a week from tomorrow", "two Fridays ago", "a year ago today"."""
    clock, count = reader.clock, _count(match["count"])
    origin, unit = (match["from"] or "").lower(), (match["unit"] or "").lower()
    sign = 1 if origin else -1
    if match["weekday"]:
        first, last = clock.weekday(WEEKDAYS[match["weekday"].lower()], "past")
        back = (int(count) - 1) * WEEK
        return None if origin else reader.found(match, (first - back, last - back), Grain.DAY)
    if match["season"]:
        first, _ = clock.last_over(SEASONS[match["season"].lower()], 3)
        span = months_from(first.year - int(count) + 1, first.month, 3)
        return None if origin else reader.found(match, span, Grain.SEASON)
    if unit in HOURS:
        moment = clock.now + sign * timedelta(hours=count * HOURS[unit])
        grain = Grain.HOUR if unit == "hour" else Grain.MINUTE
        return reader.found(match, (moment, moment + timedelta(minutes=1)), grain)
    day = (match["near"] or match["day"] or origin).lower()
    if day in ("", "now"):
        span = clock.around(sign * int(UNITS[unit][1] * count))
        return reader.found(match, span, UNITS[unit][0])
    if day in WEEKDAYS:
        start = clock.weekday(WEEKDAYS[day], "future")[0]
    else:
        start = clock.today + NEAR_DAYS.get(day, 0) * DAY
    return reader.found(match, days_from(_shifted(start, unit, sign * count)), Grain.DAY)


@_rule(rf"(?P<near>today|tonight|yesterday|tomorrow)\b(?: last (?P<unit>{any_of(UNITS)})\b)?")
def _near_day(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Today", "tonight", "yesterday", "tomorrow", and "today last year"."""
    word = match["near"].lower()
    day = reader.clock.today + NEAR_DAYS[word] * DAY
    if match["unit"]:
        day = _shifted(day, match["unit"].lower(), -1)
    if word == "tonight":
        return reader.found(
            match, (day + timedelta(hours=18), day + timedelta(hours=24)), Grain.HOUR
        )
    return reader.found(match, days_from(day), Grain.DAY)


@_rule(rf"the other (?P<unit>{any_of(OTHER)})\b")
def _other_day(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    least, most = OTHER[match["unit"].lower()]
    today = reader.clock.today
    return reader.found(match, (today - most * DAY, today - (least - 1) * DAY), Grain.DAY)


@_rule(
    rf"(?:the )?(?P<unit>{any_of(UNITS)}|weekend|{WEEKDAY}) (?:(?P<last>before last)|after next)\b"
)
def _after_next(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The week before last", "the Friday after next"."""
    unit, shift = match["unit"].lower(), -2 if match["last"] else 2
    if unit not in WEEKDAYS:
        return reader.found(match, reader.clock.unit(unit, shift), GRAINS[unit])
    first, last = reader.clock.weekday(WEEKDAYS[unit], "past" if shift < 0 else "future")
    step = shift // 2 * WEEK
    return reader.found(match, (first + step, last + step), Grain.DAY)


@_rule(r"the weekend\b(?! (?:of|before|after)\b)")
def _weekend(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    weekends = (reader.clock.unit("weekend", shift) for shift in (-1, 0, 1))
    return reader.found(match, reader.clock.pick(weekends), Grain.WEEKEND)


# -- "last", "this" and "next" ---------------------------------------------------------------------


_WHICH_WORD = rf"(?:this )?(?P<which>{any_of(WHICH)})(?:['’]s)?"


@_rule(rf"this (?P<time>time|day) last (?P<unit>{any_of(UNITS)})\b")
def _same_time(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "This time last year", "this day last week"."""
    unit = match["unit"].lower()
    day = _shifted(reader.clock.today, unit, -1)
    half = {"year": 14, "month": 3}.get(unit, 0) if match["time"].lower() == "time" else 0
    return reader.found(match, (day - half * DAY, day + (half + 1) * DAY), Grain.DAY)


@_rule(rf"{_WHICH_WORD} (?P<part>{any_of(PARTS_OF_DAY)})\b")
def _which_part_of_day(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "This morning", "last night"."""
    shift, part = WHICH[match["which"].lower()], match["part"].lower()
    if shift > 0 or (shift < 0 and part != "night"):
        return None
    return reader.found(
        match, _part_of_day(reader.clock.today + shift * DAY, part), Grain.HOUR
    )  # fmt: skip


@_rule(rf"{_WHICH_WORD} week(?:['’]s)?,? (?:(?:on|from|starting|beginning) )?(?P<day>{WEEKDAY})\b")
@_rule(rf"(?P<day>{WEEKDAY}|{SHORT}) (?:of )?{_WHICH_WORD} week\b")
def _day_of_week(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Next week on Friday", "last week's Monday", "Friday next week"."""
    monday = reader.clock.unit("week", WHICH[match["which"].lower()])[0]
    return reader.found(match, days_from(monday + _weekday_number(match["day"]) * DAY), Grain.DAY)


@_rule(
    rf"{_WHICH_WORD} (?:(?P<period>{PERIOD})|(?P<weekday>{WEEKDAY}|{SHORT})"
    rf"|(?P<month>{any_of(MONTHS)})|(?P<season>{any_of(SEASONS)})|(?P<holiday>{HOLIDAY}))\b"
)
def _which(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Last week", "next Friday", "this summer", "last March"."""
    clock, which = reader.clock, match["which"].lower()
    shift = WHICH[which]
    if period := (match["period"] or "").lower():
        if which == "past" and period in ("week", "month", "year"):
            return _recent(reader, match, 1, period)
        return reader.found(match, clock.unit(period, shift), GRAINS[period])
    if match["weekday"]:
        weekday = _weekday_number(match["weekday"])
        first, last = clock.weekday(weekday, "past" if shift < 0 else "future")
        is_near = (first - clock.today).days < _TOO_NEAR and weekday > clock.today.weekday()
        later = WEEK if which == "next" and is_near else timedelta(0)
        return reader.found(match, (first + later, last + later), Grain.DAY)
    if match["month"] and shift == 0 and match["month"].islower():
        return None
    return _named(reader, match, shift)


@_rule(rf"{_WHICH_WORD} (?:{COUNT} )?{UNIT}")
def _last_units(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The past three months", "the last 24 hours", "the last hour", "the next two weeks"."""
    unit, shift = match["unit"].lower(), WHICH[match["which"].lower()]
    if not match["count"] and unit not in HOURS:
        return None
    count = _count(match["count"] or "a")
    if shift < 0:
        return _recent(reader, match, count, unit)
    if shift > 0 and unit in UNITS:
        last = reader.clock.today + (int(count * UNITS[unit][1]) + 1) * DAY
        return reader.found(match, (reader.clock.now, last), UNITS[unit][0])
    return None


@_rule(
    rf"(?:every|each) (?:(?:other|single|{any_of(ORDINALS)}) )?(?:(?P<weekday>{WEEKDAY})s?"
    rf"|(?P<unit>day|week|month|year)|(?P<month>{any_of(MONTHS)})|(?P<season>{any_of(SEASONS)})"
    rf"|(?P<holiday>{HOLIDAY}))\b"
)
@_rule(
    rf"(?P<weekday>{WEEKDAY})(?:s\b| {any_of(PARTS_OF_DAY)}s\b)"
    r"(?P<unit>)(?P<month>)(?P<season>)(?P<holiday>)"
)
def _every(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Every Monday", "each second week", "every summer", "Fridays", "on Friday afternoons"."""
    if match["weekday"]:
        span = reader.clock.weekday(WEEKDAYS[match["weekday"].lower()])
        found = reader.found(match, span, Grain.DAY)
    elif match["unit"]:
        unit = match["unit"].lower()
        found = reader.found(match, reader.clock.unit(unit, 0), GRAINS[unit])
    else:
        found = _named(reader, match, 1)
    return replace(found, recurring=True)


@_rule(rf"(?:(?P<full>{WEEKDAY})\b|(?P<short>{SHORT}))")
def _weekday(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Friday", "Tuesday 9 June", "Saturday the 21st"."""
    if reader.word_before(match.start()) in NO_DAY_BEFORE:
        return None
    joint = TO_DATE.match(reader.text, match.end())
    date = reader.time(joint.end(), only_dates=True) if joint else None
    if date is not None and date.grain is Grain.DAY:
        return replace(date, start=match.start())
    before = reader.text[: match.start()].rstrip()[-1:]
    if (
        match["short"]
        and (not before or before in '.!?:"“')
        and not NUMBER_NEXT.match(reader.text, match.end())
    ):
        # "Sun and rain all day".
        return None
    span = reader.clock.weekday(_weekday_number(match[0]))
    return replace(reader.found(match, span, Grain.DAY), weekday=True)


# -- names ----------------------------------------------------------------------------------------


@_rule(rf"(?P<name>{HOLIDAY}){TAIL}")
def _holiday(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Christmas Eve", "Easter 2025"."""
    name = _holiday_name(match["name"])
    if year := reader.year(match):
        return reader.found(match, holiday_span(name, year), Grain.DAY)
    is_fixed = name in FIXED_HOLIDAYS
    return reader.found(match, reader.clock.holiday(name), Grain.DAY, yearless=is_fixed)


@_rule(
    rf"(?P<season>{any_of(SEASONS)})\b"
    rf"(?: (?:holidays?|break|vacation|term|semester|season)\b)?{TAIL}"
)
def _season(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The summer of 2021", "in spring"."""
    month = SEASONS[match["season"].lower()]
    if year := reader.year(match):
        return reader.found(match, months_from(year, month, 3), Grain.SEASON)
    if reader.word_before(match.start()) not in LEADS | {"the", "that"}:
        return None
    span = reader.clock.in_year(month, None, months=3)
    return reader.found(match, span, Grain.SEASON, yearless=True)


@_rule(rf"(?:(?P<kind>[qh])(?P<number>\d)\b|the (?P<nth>{any_of(ORDINALS)}) quarter\b){TAIL}")
def _quarter(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Q3 2026", "H1", "the third quarter"."""
    is_half = (match["kind"] or "").lower() == "h"
    months, grain = (6, Grain.SEASON) if is_half else (3, Grain.QUARTER)
    number = int(match["number"] or ORDINALS[(match["nth"] or "first").lower()])
    if not 1 <= number <= 12 // months:
        return None
    month = months * (number - 1) + 1
    if year := reader.year(match):
        return reader.found(match, months_from(year, month, months), grain)
    span = reader.clock.in_year(month, None, months=months)
    return reader.found(match, span, grain, yearless=True)


@_rule(rf"(?:(?:calendar )?week|[ck]w) ?(?P<number>\d{{1,2}})\b{TAIL}(?! of\b)")
def _numbered_week(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "Calendar week 23", "week 23 of 2025", after ISO 8601."""
    span = iso_week(reader.year(match) or reader.clock.now.year, int(match["number"]))
    return reader.found(match, span, Grain.WEEK)


# -- numbers --------------------------------------------------------------------------------------

_APART = r"(?<![\w.\-/:#$€£+])"


@_rule(
    rf"{_APART}(?P<year>{YEAR})(?P<mark>[-/])(?P<month>\d{{1,2}})(?:(?P=mark)(?P<day>\d{{1,2}}))?(?!-?\d)",
    dates=True,
)
def _iso(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "2026-05-03", "2026-05"."""
    year, month = int(match["year"]), int(match["month"])
    if match["day"]:
        return reader.found(match, days_from(midnight(year, month, int(match["day"]))), Grain.DAY)
    is_month = len(match["month"]) == 2 and 1 <= month <= 12
    return reader.found(match, months_from(year, month, 1), Grain.MONTH) if is_month else None


@_rule(
    rf"{_APART}(?P<first>\d{{1,2}})(?P<mark>[./-])(?P<second>\d{{1,2}})(?P=mark)(?P<year>{YEAR})(?![./-]?\w)",
    dates=True,
)
def _numeric(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "05.11.2026", "5/11/2026"."""
    year, day, month = int(match["year"]), int(match["first"]), int(match["second"])
    is_either = match["mark"] != "."
    if is_either and month > 12:
        day, month = month, day
    found = reader.found(match, days_from(midnight(year, month, day)), Grain.DAY)
    if is_either and day <= 12 and day != month:
        return replace(found, alternative=midnight(year, day, month))
    return found


@_rule(rf"{_APART}(?P<day>\d{{1,2}})/(?P<month>\d{{1,2}})(?![./-]?\w)")
def _without_year(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "On 5/11", which is a share without such a word; so is what may be "24/7"."""
    day, month = int(match["day"]), int(match["month"])
    leads = reader.word_before(match.start()) in {"on", "by", "until", "since"}
    if not (leads and 1 <= day <= 12 and 1 <= month <= 12):
        return None
    return reader.found(match, reader.clock.in_year(month, day), Grain.DAY, yearless=True)


@_rule(rf"{_APART}(?P<month>\d{{1,2}})/(?P<year>{YEAR})")
def _month_of_year(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "05/2026"."""
    month = int(match["month"])
    span = months_from(int(match["year"]), month, 1)
    return reader.found(match, span, Grain.MONTH) if 1 <= month <= 12 else None


@_rule(rf"{_APART}(?:the )?{DAYS} (?:of )?{MONTH}{TAIL}", dates=True)
@_rule(rf"{MONTH} ?(?:the )?{DAYS}{TAIL}", dates=True)
def _day_in_month(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "3 May 2026", "3rd to 7th of May", "May 3rd, 2026"."""
    month, day = MONTHS[match["month"].lower()], _day(match["day"])
    last = _day(match["last"]) if match["last"] else day
    if not 1 <= day <= last <= 31:
        return None
    if year := reader.year(match):
        span = midnight(year, month, day), midnight(year, month, last) + DAY
        return reader.found(match, span, Grain.DAY)
    first, _ = reader.clock.in_year(month, day)
    span = first, first.replace(day=last) + DAY
    return reader.found(match, span, Grain.DAY, yearless=True)


@_rule(rf"{MONTH}(?!['’](?!s\b)|%){TAIL}")
def _month(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "May 2026", "in May"."""
    word = match["month"]
    month = MONTHS[word.lower()]
    if year := reader.year(match):
        return reader.found(match, months_from(year, month, 1), Grain.MONTH)
    before, is_capital = reader.word_before(match.start()), word[0].isupper()
    if before in LEADS:
        is_month = is_capital or before not in {"this", "to", "on", "of", "for"}
    else:
        is_month = is_capital and len(word) > 3 and word.lower() not in AMBIGUOUS_NAMES
    if not is_month or before.isdecimal():
        return None
    # The full stop of a sentence is no part of "May".
    end = match.end("month")
    return replace(
        reader.found(match, reader.clock.in_year(month, None), Grain.MONTH, yearless=True), end=end
    )


@_rule(
    rf"the (?P<day>\d{{1,2}}(?:st|nd|rd|th)|(?:twenty|thirty)-{any_of(ORDINALS)})\b{NO_NOUN}",
    dates=True,
)
def _day_alone(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The 3rd", but neither "the third" nor "the 3rd floor"."""
    day = _day(match["day"])
    if not 1 <= day <= 31:
        return None
    return reader.found(match, reader.clock.day_of_month(day), Grain.DAY)


@_rule(rf"(?:the )?(?:(?P<full>(?:19|20)\d0)s|['’]?(?P<tens>\d0)s|(?P<word>{any_of(DECADES)}))\b")
def _decade(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "The 1990s", "the '90s", "in the 90s", "the nineties"."""
    if match["full"]:
        year = int(match["full"])
    else:
        is_the = match[0].lower().startswith("the")
        is_led = reader.word_before(match.start()) in LEADS - {"of"}
        if not ("'" in match[0] or "’" in match[0] or (is_the and (match["word"] or is_led))):
            return None
        year = reader.last_ending(int(match["tens"] or DECADES[match["word"].lower()]))
    return reader.found(match, months_from(year, 1, 120), Grain.DECADE)


@_rule(rf"{_APART}(?P<year>{YEAR})(?![-/:_#$€£+]\w)|['’](?P<short>\d\d)(?!\w)")
def _year_alone(reader: Reader, match: re.Match[str]) -> NamedTime | None:
    """ "In 2024", "in '24"; "the 2000 seats" is none."""
    before = reader.word_before(match.start())
    is_sure = before in LEADS - {"of", "to", "for", "on"} or before == "year"
    if match["short"] and not (is_sure or before in LEADS):
        return None
    is_noun_next = not _NO_NOUN.match(reader.text, match.end())
    if not (is_sure or ((reader.is_bare or before in LEADS) and not is_noun_next)):
        return None
    return reader.found(match, months_from(reader.year(match), 1, 12), Grain.YEAR)


# -- arithmetic -----------------------------------------------------------------------------------


def _day(text: str) -> int:
    plain = text.lower()
    return int(plain.rstrip("stndrh")) if plain[0].isdecimal() else ordinal_value(plain) or 0


def _count(text: str) -> float:
    words = text.lower().removesuffix(" of").split()
    if words[0] == "half":
        return 0.5
    return float(QUANTIFIERS.get(words[-1]) or number_value(words[-1]) or 0)


def _weekday_number(text: str) -> int:
    return (WEEKDAYS | SHORT_WEEKDAYS)[text.lower()]


def _holiday_name(text: str) -> str:
    return " ".join(re.sub(r"['’]s", "", text.lower()).split())


def _part_of_day(day: datetime, part: str) -> Span:
    first, last = PARTS_OF_DAY[part]
    return day + timedelta(hours=first), day + timedelta(hours=last)


def _shifted(day: datetime, unit: str, count: float) -> datetime:
    """The same day of the calendar so many units later, or earlier below zero."""
    if unit in MONTHS_OF and count == int(count):
        return day + relativedelta(months=int(count) * MONTHS_OF[unit])
    return day + int(count * UNITS[unit][1]) * DAY


def _recent(reader: Reader, match: re.Match[str], count: float, unit: str) -> NamedTime:
    """ "The last three months", "the past 24 hours": until now."""
    now = reader.clock.now
    if unit in HOURS:
        return reader.found(match, (now - timedelta(hours=count * HOURS[unit]), now), Grain.HOUR)
    first = reader.clock.today - int(count * UNITS[unit][1]) * DAY
    return reader.found(match, (first, now), UNITS[unit][0])


def _named(reader: Reader, match: re.Match[str], shift: int) -> NamedTime:
    """ "Last March", "next summer", "this Christmas"."""
    clock = reader.clock
    if match["holiday"]:
        lean: Lean = clock.lean if shift == 0 else "past" if shift < 0 else "future"
        name = _holiday_name(match["holiday"])
        return reader.found(match, clock.holiday(name, lean=lean), Grain.DAY)
    if match["month"]:
        month, months, grain = MONTHS[match["month"].lower()], 1, Grain.MONTH
    else:
        month, months, grain = SEASONS[match["season"].lower()], 3, Grain.SEASON
    if shift < 0:
        span = clock.last_over(month, months)
    elif shift == 0:
        span = months_from(clock.now.year, month, months)
    else:
        begun = clock.in_year(month, None, months, lean="past")[0]
        span = months_from(begun.year + 1, month, months)
    return reader.found(match, span, grain)
