"""Who speaks and where they live, feast days, whom one spoke to, and sentences that run on."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.extraction.days.feast_days import easter_sunday
from memory.domain.types import MemoryType

from .conversation import extracted, texts


def test_an_introduction_gives_name_role_and_place_apart() -> None:
    name, role, place = extracted("user: I'm Oriel, CFO at Fernbank, based in Tartu.")
    assert name.content == "User's name is Oriel."
    assert role.content == "User is CFO at Fernbank."
    assert (place.content, place.sensitive_field) == ("User is based in Tartu.", "city")
    assert name.is_pinned
    assert role.is_pinned
    assert not place.is_pinned


def test_a_name_that_begins_as_the_users_does_is_theirs() -> None:
    found = texts(
        "user: New here. Dana Osei-Bonsu, she/her, and in May I joined Quillfen as a buyer."
    )
    assert found[0] == "User's name is Dana Osei-Bonsu."
    assert any("Quillfen" in told for told in found)


@pytest.mark.parametrize(
    "said",
    [
        "We moved to Odense last month.",
        "I've been living in Turku since May.",
        "I've had asthma since school.",
        "I have two sons, Emil and Viggo.",
        "Jonas and I got engaged in August.",
        "I've worked as a landscaper for years.",
        "I'm on the night shift every other week.",
        "Home is Ystad.",
    ],
)
def test_lasting_facts_of_the_users_own_person(said: str) -> None:
    assert extracted(f"user: {said}")[0].memory_type is MemoryType.USER_PROFILE


def test_a_birthday_is_given_no_year() -> None:
    assert texts("user: My birthday is May 4.") == ["Dana's birthday is May 4."]


def test_a_feast_day_is_a_date() -> None:
    autumn = datetime(2025, 11, 5, 9, 0, tzinfo=UTC)
    (told,) = texts("user: The wedding is on the day after Boxing Day.", at=autumn)
    assert told == "The wedding is on December 27, 2025."
    (told,) = texts("user: The kiosk opens again on Easter Monday.")
    assert told.endswith("April 6, 2026.")


@given(year=st.integers(min_value=1900, max_value=2200))
def test_easter_is_a_sunday_in_march_or_april(year: int) -> None:
    easter = easter_sunday(year)
    assert easter.weekday() == 6
    assert date(year, 3, 22) <= easter <= date(year, 4, 25)


def test_whom_one_spoke_to_and_whom_they_speak_for() -> None:
    found = texts(
        "user: Just off the phone with Imke of Salter Ferries. The contract covers two ships.",
        "user: She wants to be billed monthly.",
    )
    assert found == [
        "For Salter Ferries, the contract covers two ships.",
        "For Salter Ferries, Imke wants to be billed monthly.",
    ]


def test_the_tense_of_a_date_is_that_of_its_clause() -> None:
    (told,) = texts("user: I wrote to Pim, he'll have the list fixed by the 27th.")
    assert "March 27, 2026" in told


def test_a_sentence_that_runs_on_becomes_several_whole_ones() -> None:
    found = texts(
        "user: The move of the archive to the new depot in Aarhus, which we began in autumn with "
        "two men from Brink and which was meant to be over by January, has been stopped by the "
        "fire inspector because the shelves of the old depot turned out to be loose and nobody "
        "could say since when, so Ottilie now checks all of them one by one."
    )
    assert len(found) == 2
    assert all(len(told) <= 280 and told.endswith(".") for told in found)
    assert found[0].endswith("stopped by the fire inspector.")
    assert found[1].endswith("Ottilie now checks all of them one by one.")
