"""The date reader on phrases, on any text, and on hostile ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.text.calendar import Grain, Lean
from memory.domain.text.dates import read_dates
from tests.support.growth import MOST, growth

# A Tuesday.
ANCHOR = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
LEANS = st.sampled_from(["past", "future", "nearest"])
PIECES = st.sampled_from(
    """
    3|12|31|99|2026|2025-02|2026-03-15|15/3/2026|5.11.2026|15:30|3pm|3rd|the|of|May|March|Sept.|,|.|-
    |Friday|Fridays|Mon|next|last|this|past|week|weekend|month|year|quarter|Q3|H1|ago|from|now|to|and
    |between|since|until|before|after|every|other|first|second|half|a|an|two|couple|few|in|on|at|by
    |early|mid|end|start|today|tomorrow|yesterday|tonight|night|morning|noon|summer|fall|Christmas|eve
    |New|Year's|Easter|the 90s|nineties|'24|so far|earlier|later|up|back|weeks|days|hours|time
    """.replace("\n", "").split("|")
)  # fmt: skip


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "lean", "first", "last"),
    [
        ("Meet at 15:30 on Friday.", "future", "2026-03-13T15:30", "2026-03-13T15:31"),
        ("Call me at 3pm tomorrow.", "future", "2026-03-11T15:00", "2026-03-11T16:00"),
        ("Due by Friday noon.", "future", "2026-03-13T12:00", "2026-03-13T13:00"),
        ("From 9am to 5pm on Friday", "future", "2026-03-13T09:00", "2026-03-13T18:00"),
        ("It broke on Friday.", "past", "2026-03-06", "2026-03-07"),
        ("It opens on Friday.", "future", "2026-03-13", "2026-03-14"),
        ("She said so in May.", "past", "2025-05-01", "2025-06-01"),
        ("She comes in May.", "future", "2026-05-01", "2026-06-01"),
        ("It is on March 2.", "future", "2027-03-02", "2027-03-03"),
        ("It was around March 2.", "nearest", "2026-03-02", "2026-03-03"),
        ("From 3 to 7 May", "future", "2026-05-03", "2026-05-08"),
        ("Away Dec 24th to Jan 2nd", "future", "2026-12-24", "2027-01-03"),
        ("Out Monday and Tuesday next week", "future", "2026-03-16", "2026-03-17"),
        ("A week from Monday", "future", "2026-03-23", "2026-03-24"),
        ("The last Saturday of April", "future", "2026-04-25", "2026-04-26"),
        ("On Saturday the 21st", "future", "2026-03-21", "2026-03-22"),
        ("Last week's Friday", "past", "2026-03-06", "2026-03-07"),
        ("The 3rd of next month", "future", "2026-04-03", "2026-04-04"),
        ("2026-03-15T14:00", "future", "2026-03-15T14:00", "2026-03-15T14:01"),
        ("Since 2019", "past", "2019-01-01", "2020-01-01"),
    ],
)
def test_a_time_is_read(text: str, lean: Lean, first: str, last: str) -> None:
    found = read_dates(text, anchor=ANCHOR, lean=lean)[0]

    assert (found.first, found.last) == (day(first), day(last))


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("open since Monday", "since"),
        ("valid until 4 May", "until"),
        ("due by Friday", "until"),
        ("before the 3rd of May 2026", "before"),
        ("prior to 3 May", "before"),
        ("after Christmas", "after"),
        ("from May onwards", "since"),
        ("in May", ""),
        ("What are you up to today?", ""),
    ],
)
def test_the_side_of_a_time_is_told(text: str, side: str) -> None:
    (found,) = read_dates(text, anchor=ANCHOR, lean="past")

    assert found.side == side
    assert (found.side_start < found.start) == bool(side)


@pytest.mark.parametrize(
    "text",
    [
        "every Friday at nine",
        "I swim on Tuesdays.",
        "on the 15th of each month",
        "the first Monday of every month",
        "every year in June",
        "3 May every year",
        "open Monday to Friday",
    ],
)
def test_what_comes_round_is_told(text: str) -> None:
    (found,) = read_dates(text, anchor=ANCHOR, lean="future")

    assert found.recurring


@pytest.mark.parametrize(
    "text",
    [
        "Version 3.1.2 runs on 10.0.5.2024.",
        "The 2000 seats on the 2nd floor",
        "May I march on?",
        "31 February",
        "Sun and rain all day",
        "They pay for 3 days, 24/7.",
        "My last day",
    ],
)
def test_what_names_no_time_is_passed_over(text: str) -> None:
    assert read_dates(text, anchor=ANCHOR, lean="future") == []


def test_a_day_without_a_year_says_so() -> None:
    (birthday,) = read_dates("Her birthday is on June 3rd.", anchor=ANCHOR, lean="future")

    assert birthday.yearless
    assert birthday.grain is Grain.DAY


def test_a_date_that_can_be_read_both_ways_tells_the_other() -> None:
    (found,) = read_dates("We ship on 5/6/2026.", anchor=ANCHOR, lean="future")

    assert (found.first, found.alternative) == (day("2026-06-05"), day("2026-05-06"))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("We met Tue last week.", "2026-03-03"),
        ("We meet on Wed of next week.", "2026-03-18"),
        ("The offer is valid until 5/4.", "2026-04-05"),
    ],
)
def test_short_forms_of_a_day(text: str, first: str) -> None:
    (found,) = read_dates(text, anchor=ANCHOR, lean="nearest")

    assert (found.first, found.last) == (day(first), day(first) + timedelta(days=1))


@pytest.mark.parametrize("text", ["On 24/7 duty.", "Half of it, 1/2.", "Until 5/4/3 is done."])
def test_shares_and_ratios_are_no_days(text: str) -> None:
    assert read_dates(text, anchor=ANCHOR, lean="nearest") == []


def test_days_begin_in_the_zone_of_the_anchor() -> None:
    late = ANCHOR.replace(hour=1).astimezone(ZoneInfo("America/New_York"))

    (today,) = read_dates("today", anchor=late, lean="past")

    assert today.first == datetime(2026, 3, 9, tzinfo=ZoneInfo("America/New_York"))


@given(st.lists(PIECES, max_size=14), st.text(max_size=20), LEANS, st.integers(-200_000, 20_000))
def test_any_text_is_read_in_order_and_without_overlap(
    pieces: list[str], noise: str, lean: Lean, days: int
) -> None:
    text = " ".join([*pieces, noise, *reversed(pieces)])

    found = read_dates(text, anchor=ANCHOR + timedelta(days=days), lean=lean)

    place = 0
    for each in found:
        assert place <= each.start < each.end <= len(text)
        assert 0 <= each.side_start <= each.start
        assert each.first <= each.last
        place = each.end


_HOSTILE = (
    "May 5, ", "the end of ", "the week before ", "a ", "3 ", "from ", "last ", "1/2/", "the ",
    "3 to ", "Friday, ", "the first week of ", "in the ", "since ", "twenty-", " ", "15:30 on ",
)  # fmt: skip


@pytest.mark.parametrize("pattern", _HOSTILE)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(pattern: str) -> None:
    assert growth(lambda text: read_dates(text, anchor=ANCHOR, lean="past"), pattern) <= MOST
