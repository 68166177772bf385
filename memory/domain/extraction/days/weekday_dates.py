"""What weekdays mean against the day they were said."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ..language.words import NUMBER_WORDS, WEEKDAYS
from .moments import Precision, with_weekday


def weekday(match: re.Match[str], today: date, past: bool) -> tuple[str, str, date, Precision]:
    """ "next Friday", "Thursday next week", "Monday morning"."""
    target = _number(match.group("wdn") or match.group("wdm"))
    relation = (match.group("wdrel") or "").lower().removeprefix("this ")
    week = (match.group("wdw") or match.group("wdv") or "").lower()
    if week:
        day = _monday(today, week) + timedelta(days=target)
    elif relation in {"last", "past"} or (past and relation not in {"next", "this", "coming"}):
        day = today - timedelta(days=(today.weekday() - target - 1) % 7 + 1)
    else:
        ahead = (target - today.weekday() - 1) % 7 + 1
        # "next Friday" said on a Wednesday is the one of next week.
        if relation == "next" and today.weekday() < target:
            ahead += 7 if today.weekday() + ahead < 7 and ahead < 3 else 0
        day = today + timedelta(days=ahead)
    part = match.group("wdp")
    wording = with_weekday(day) + (f" at {part}" if part in {"noon", "night", "lunchtime"} else "")
    if part in {"morning", "afternoon", "evening"}:
        wording += f" in the {part}"
    opening = (match.group("wdvs") or "on").lower()
    if opening != "on":
        return f"{opening} {wording}", "", day, Precision.RELATIVE
    return wording, "on", day, Precision.RELATIVE


def _number(name: str) -> int:
    """Monday is 0; short names count as well."""
    return [day[:2] for day in WEEKDAYS].index(name[:2].lower())


def _monday(today: date, week: str) -> date:
    """The Monday of "this week", "next week" or "last week"."""
    shift = 7 if "next" in week else -7 if "last" in week else 0
    return today - timedelta(days=today.weekday() - shift)


_OPEN_JOINTS = frozenset({"and", "or"})


def weekdays(
    match: re.Match[str], today: date, _past: bool
) -> tuple[str, str, date, Precision] | None:
    """ "Thursday and Friday this week"; a range that names no week may be a habit."""
    week = (match.group("wdsw") or match.group("wdsp") or "").lower()
    if not week:
        return None
    monday = _monday(today, week)
    days = [
        monday + timedelta(days=WEEKDAYS.index(match.group(key).lower()))
        for key in ("wdsa", "wdsb")
    ]
    if days[1] < days[0]:
        days[1] += timedelta(days=7)
    joint = "and" if match.group("wdsj") in _OPEN_JOINTS else "to"
    return (
        f"{with_weekday(days[0])} {joint} {with_weekday(days[1])}",
        "on",
        days[0],
        (Precision.RELATIVE),
    )


def weekdays_ahead(
    match: re.Match[str], today: date, _past: bool
) -> tuple[str, str, date, Precision]:
    """ "in three weeks, Monday to Thursday": days of the week that lies so many weeks ahead."""
    count = match.group("wkn").lower()
    weeks = {"a couple of": 2, "a few": 3, "several": 4}.get(count) or NUMBER_WORDS.get(count)
    monday = _monday(today, "") + timedelta(weeks=weeks or int(count))
    first = monday + timedelta(days=WEEKDAYS.index(match.group("wka").lower()))
    if not match.group("wkb"):
        return with_weekday(first), "on", first, Precision.RELATIVE
    last = monday + timedelta(days=WEEKDAYS.index(match.group("wkb").lower()))
    last += timedelta(days=7 if last < first else 0)
    joint = "and" if match.group("wkj") in _OPEN_JOINTS else "to"
    wording = f"{with_weekday(first)} {joint} {with_weekday(last)}"
    return wording, "from" if joint == "to" else "on", first, Precision.RELATIVE
