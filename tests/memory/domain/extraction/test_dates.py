"""Dates are written out against the day they were said."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.extraction.days.dates import resolve_dates

TUESDAY = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("said", "past", "written"),
    [
        ("we meet tomorrow", False, "we meet on March 11, 2026"),
        (
            "out Monday and Tuesday next week",
            False,
            "out on Monday, March 16, 2026 and Tuesday, March 17, 2026",
        ),
        ("closed Monday to Friday", False, "closed Monday to Friday"),
        ("a whole day on Saturday the 21st", False, "a whole day on Saturday, March 21, 2026"),
        ("he moves in on the first of May", False, "he moves in on May 1, 2026"),
        ("they pay within 30 days", False, "they pay within 30 days"),
        ("she was hired, she starts on 1 May", True, "she was hired, she starts on May 1, 2026"),
        ("we met yesterday", True, "we met on March 9, 2026"),
        ("the day after tomorrow works", False, "March 12, 2026 works"),
        ("due by Friday noon", False, "due by Friday, March 13, 2026 at noon"),
        ("it broke on Friday", True, "it broke on Friday, March 6, 2026"),
        ("in two weeks", False, "Around March 24, 2026"),
        ("she left three days ago", True, "she left on March 7, 2026"),
        ("open until 4 May", False, "open until May 4, 2026"),
        ("on May 4 and 5", False, "on May 4 and 5, 2026"),
        ("from 4 to 6 May", False, "from May 4 to 6, 2026"),
        ("since last autumn", False, "since autumn 2025"),
        ("it comes down a week from Monday", False, "it comes down on Monday, March 23, 2026"),
        ("it opens two weeks from tomorrow", False, "it opens on Wednesday, March 25, 2026"),
        ("we meet Monday week", False, "we meet on Monday, March 23, 2026"),
        ("he comes the week after next", False, "he comes in the week of March 23, 2026"),
        ("we signed the Friday before last", True, "we signed on Friday, February 27, 2026"),
        ("it's on the last Saturday of April", False, "it's on Saturday, April 25, 2026"),
        ("held on the first Tuesday of the month", False, "held on the first Tuesday of the month"),
        (
            "she returns next week, starting Monday",
            False,
            "she returns starting Monday, March 16, 2026",
        ),
        ("it is due on the twenty-third", False, "it is due on March 23, 2026"),
        ("the grant ends on 30.6.", False, "the grant ends on June 30, 2026"),
        ("it ran until 05/06/2025", True, "it ran until 05/06/2025"),
        ("the vet comes Fri 8:30", False, "the vet comes on Friday, March 13, 2026 8:30"),
        ("Sun and rain all day", False, "Sun and rain all day"),
        (
            "we fly on the 3rd and are back on the 10th",
            False,
            "we fly on April 3, 2026 and are back on April 10, 2026",
        ),
        (
            "Tarek drives from Friday on since Uli fell",
            True,
            "Tarek drives from Friday, March 13, 2026 on since Uli fell",
        ),
        (
            "they raised prices, so as of 1 May we buy elsewhere",
            True,
            "they raised prices, so as of May 1, 2026 we buy elsewhere",
        ),
        ("checked every nine days from now", False, "checked every nine days from now"),
        ("we skip it this year", False, "we skip it in 2026"),
        ("tomorrow's call is off", False, "The March 11, 2026 call is off"),
        ("paid on the 3rd.", True, "paid on March 3, 2026."),
        ("moved to Thursday", True, "moved to Thursday, March 12, 2026"),
        ("on 2026-12-01", False, "on December 1, 2026"),
        ("the course starts on March 2", False, "the course starts on March 2, 2027"),
        ("a new cook starts on 3 January", True, "a new cook starts on January 3, 2027"),
        ("the hall closes on February 1", False, "the hall closes on February 1, 2027"),
        ("she started on December 3", True, "she started on December 3, 2025"),
        ("the baby is due mid August", False, "the baby is due mid-August 2026"),
        (
            "in three weeks, Monday to Thursday",
            False,
            "From Monday, March 30, 2026 to Thursday, April 2, 2026",
        ),
        ("Friday is our demo day", False, "Friday is our demo day"),
        ("Friday is my last day", False, "Friday, March 13, 2026 is my last day"),
        ("last night it rained", True, "On March 9, 2026 at night, it rained"),
    ],
)
def test_a_date_becomes_absolute(said: str, past: bool, written: str) -> None:
    assert resolve_dates(text=said, today=TUESDAY, past=past).text == written


@pytest.mark.parametrize(
    "said",
    [
        "every Friday at nine",
        "Tuesdays to Thursdays",
        "Monday to Friday",
        "on the 2nd floor",
        "may I go",
        "March on",
        "every second Thursday",
        "31 February",
    ],
)
def test_what_names_no_day_stays(said: str) -> None:
    assert resolve_dates(text=said, today=TUESDAY, past=False).text == said


@given(st.text(max_size=200), st.dates(date(1990, 1, 1), date(2090, 1, 1)), st.booleans())
def test_any_text_on_any_day_is_survived(text: str, today: date, past: bool) -> None:
    resolve_dates(text=text, today=today, past=past)


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_a_bare_weekday_lies_within_a_week(today: date) -> None:
    ahead = resolve_dates(text="due on Friday", today=today, past=False).dates[0].day
    behind = resolve_dates(text="broke on Friday", today=today, past=True).dates[0].day
    assert 1 <= (ahead - today).days <= 7
    assert 1 <= (today - behind).days <= 7


@pytest.mark.parametrize(
    "said",
    [
        "Ana's birthday is May 4.",
        "Ana's birthday is on the 4th of May.",
        "Their anniversary falls on 4 May.",
        "Ana was born on 4 May.",
        "The fair opens on 4 May every year.",
    ],
)
def test_a_day_that_comes_round_every_year_gets_no_year(said: str) -> None:
    dated = resolve_dates(text=said, today=date(2026, 3, 10), past=False)
    assert "May 4" in dated.text
    assert "20" not in dated.text


def test_a_birthday_party_has_its_year() -> None:
    said = "The birthday party is on 4 May."
    assert "May 4, 2026" in resolve_dates(text=said, today=date(2026, 3, 10), past=False).text


@pytest.mark.parametrize("said", ["It hangs since the update to 4.2.1.", "We run version 3.1.2."])
def test_a_version_is_no_day(said: str) -> None:
    assert resolve_dates(text=said, today=date(2026, 3, 10), past=False).text == said


def test_coming_belongs_to_its_verb() -> None:
    dated = resolve_dates(text="He is coming Friday.", today=date(2026, 3, 10), past=False)
    assert dated.text == "He is coming on Friday, March 13, 2026."


@pytest.mark.parametrize(
    ("said", "today", "past", "written"),
    [
        ("we move next weekend", date(2026, 5, 9), False, "we move on the weekend of May 16, 2026"),
        ("it is this weekend", date(2026, 5, 9), False, "it is the weekend of May 9, 2026"),
        ("legal is 14 since January", date(2026, 2, 19), False, "legal is 14 since January 2026"),
        ("it is due on the 31st", date(2026, 11, 19), False, "it is due on December 31, 2026"),
        (
            "moved from the 14th to the 15th of May",
            date(2026, 2, 4),
            True,
            "moved from May 14, 2026 to May 15, 2026",
        ),
        (
            "from the 31st to the 2nd, as the 31st is a Saturday",
            date(2026, 10, 19),
            False,
            "from October 31, 2026 to November 2, 2026, as October 31, 2026 is a Saturday",
        ),
        (
            "the concert is three weeks from tonight",
            date(2025, 10, 8),
            False,
            "the concert is Wednesday, October 29, 2025",
        ),
        (
            "we're signed up for a race on 8 august",
            date(2026, 7, 3),
            False,
            "we're signed up for a race on August 8, 2026",
        ),
        ("said so in may", date(2026, 7, 3), True, "said so in May 2026"),
        ("no deploys on Friday afternoons", date(2026, 4, 11), False, ""),
        ("production runs on 7.2.", date(2026, 1, 14), False, ""),
        ("the April 10, 2026 retro", date(2026, 4, 11), False, ""),
    ],
)
def test_a_date_said_in_passing(said: str, today: date, past: bool, written: str) -> None:
    """What names no day, or names it whole, is left as it is."""
    assert resolve_dates(text=said, today=today, past=past).text == (written or said)
