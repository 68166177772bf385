"""Each date of a sentence takes its year from the verb that it goes with."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.extraction.days.dates import resolve_dates
from tests.memory.domain.extraction.conversation import texts

MAY = datetime(2026, 5, 12, 9, tzinfo=UTC)
CHRISTMAS = datetime(2026, 12, 20, 9, tzinfo=UTC)
NEW_YEAR = datetime(2026, 1, 8, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "said", "dates"),
    [
        # Two verbs that are joined, of which one lies behind and one ahead.
        (MAY, "I gave notice on March 30 and begin at Ikea on June 2.", (2026, 2026)),
        (MAY, "We met on March 3 and marry on October 9.", (2026, 2026)),
        (MAY, "I bought the van on May 3 and pick it up on May 21.", (2026, 2026)),
        (CHRISTMAS, "We moved in on December 1 and the oven arrives on January 12.", (2026, 2027)),
        (NEW_YEAR, "The exam was on December 12 and results come out on January 20.", (2025, 2026)),
        (MAY, "I got the dog on January 9 and he gets his second shot on May 20.", (2026, 2026)),
        # The participle of a verb that is present.
        (MAY, "We're getting married on September 4.", (2026,)),
        (MAY, "My brother, who left on March 2, is getting married on August 8.", (2026, 2026)),
        # What looks the same in both tenses is past, unless the day is near.
        (MAY, "They cut my hours on February 3.", (2026,)),
        (CHRISTMAS, "They put the rent up on September 1.", (2026,)),
        (MAY, "We put the house up for sale on June 20.", (2026,)),
        # The verb of a relative clause has had its date.
        (MAY, "I have to return the laptop they lent me on March 3 by May 29.", (2026, 2026)),
        # Spans over the turn of a year, and in it.
        (NEW_YEAR, "The show runs from December 28 to January 9.", (2025, 2026)),
        (CHRISTMAS, "My sublet runs from December 15 to February 15.", (2026, 2027)),
        (MAY, "We were in Rome from July 2 to July 16.", (2025, 2025)),
        (MAY, "My pass is valid until April 27.", (2027,)),
    ],
)
def test_each_date_has_the_year_of_its_verb(
    at: datetime, said: str, dates: tuple[int, ...]
) -> None:
    [told] = texts(f"user: {said}", at=at)
    assert tuple(int(year) for year in re.findall(r"\b20\d\d\b", told)) == dates


@pytest.mark.parametrize(
    ("at", "said", "written"),
    [
        (MAY, "I worked in Lyon from November to February.", "November 2025 to February 2026"),
        (NEW_YEAR, "I'm on leave from November to February.", "November 2025 to February 2026"),
        (MAY, "I'm on leave from July to October.", "July to October 2026"),
        (MAY, "We're away between December and March.", "December 2026 and March 2027"),
        (MAY, "I lived in Lyon from March to June 2019.", "March to June 2019"),
    ],
)
def test_months_from_one_to_another_lie_in_one_stretch(
    at: datetime, said: str, written: str
) -> None:
    [told] = texts(f"user: {said}", at=at)
    assert written in told


def test_two_birthdays_get_no_year() -> None:
    said = "My mother was born on December 11 and my father on April 3."
    [told] = texts(f"user: {said}", at=MAY)
    assert "December 11" in told
    assert "April 3" in told
    assert "20" not in told


DAYS_OF_A_YEAR = st.dates(date(2025, 1, 1), date(2025, 12, 31))


@given(st.dates(date(1990, 3, 1), date(2090, 1, 1)), DAYS_OF_A_YEAR, DAYS_OF_A_YEAR)
def test_a_span_ends_after_it_began(today: date, first: date, last: date) -> None:
    said = f"we were away from {first:%B} {first.day} to {last:%B} {last.day}"
    found = resolve_dates(text=said, today=today, past=True).dates
    begun, ended = (each.day for each in found)
    assert begun <= ended
    assert begun <= today
