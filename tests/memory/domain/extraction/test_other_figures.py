"""A figure takes the place of one of its own kind, and of nothing else."""

from __future__ import annotations

import pytest

from .conversation import texts


@pytest.mark.parametrize(
    ("told", "then", "holds", "never"),
    [
        ("The parcel is collected at 11:20.", "I looked outside, it's 4 degrees.", "11:20", "11:0"),
        ("The lab closes at 18:00.", "I checked the thermostat, it's 21.", "18:00", "21:00"),
        ("The van carries 12 passengers.", "3 vans, all electric.", "12 passengers", "3 pass"),
        ("The terrace is forty metres long.", "Two lamps, no shade.", "forty metres", "two metres"),
        ("The hall seats 30.", "4 stewards, all trained.", "seats 30", "seats 4"),
        ("The meeting is in room 4.", "Sorry, 12 people.", "room 4", "room 12"),
        ("The meeting is on March 14.", "Sorry, 40 people.", "March 14", "March 40"),
        ("The wedding has 80 guests.", "I checked the weather: 25.", "80 guests", "25 guests"),
        ("The ferry leaves at 15:15.", "Sorry, it's 25 degrees here.", "15:15", "at 25"),
        ("The pool is 25 metres long.", "Oops, six lanes.", "25 metres", "is six lanes"),
        ("The office is on floor 3.", "No, 12 desks.", "floor 3", "floor 12"),
        ("The exam is on Monday.", "I checked, it's Thursday today.", "March 16", "exam is on Thu"),
    ],
)
def test_a_figure_of_something_else_overwrites_nothing(
    told: str, then: str, holds: str, never: str
) -> None:
    for lines in ((told, then), (f"{told} {then}",)):
        said = [f"user: {line}" for line in lines]
        found = " ".join(texts(said[0], "assistant: Noted.", *said[1:]))
        assert holds in found
        assert never not in found


@pytest.mark.parametrize(
    ("told", "then", "new", "old"),
    [
        ("The workshop lasts three days.", "Four days, sorry.", "four days", "three"),
        ("The workshop lasts three days.", "Sorry, two weeks.", "two weeks", "days"),
        ("The van carries 12 passengers.", "I checked, it's 14.", "14 passengers", "12"),
        ("The clinic opens at 8:15.", "Actually, it's 8:45.", "8:45", "8:15"),
        ("We have thirty-four members.", "Actually, thirty-six.", "thirty-six", "thirty-four"),
        ("My grandmother is ninety.", "Sorry, eighty-nine.", "eighty-nine", "ninety"),
        ("The trial has 40 patients and three sites.", "Four sites, sorry.", "four sites", "three"),
    ],
)
def test_a_figure_of_the_same_kind_still_puts_right(
    told: str, then: str, new: str, old: str
) -> None:
    (found,) = texts(f"user: {told}", "assistant: Noted.", f"user: {then}")
    assert new in found
    assert old not in found


def test_a_number_of_two_words_is_one_answer() -> None:
    asked = "assistant: How many people are coming?"
    assert texts(asked, "user: Thirty-six.") == ["Thirty-six people are coming."]


def test_the_figure_that_counts_the_same_gives_way_and_not_the_nearest() -> None:
    found = " ".join(
        texts(
            "user: We keep 14 snapshots.",
            "assistant: Noted.",
            "user: The alert limit is 90.",
            "assistant: 90.",
            "user: Sorry, 21 snapshots.",
        )
    )
    assert "21 snapshots" in found
    assert "limit is 90" in found


def test_an_answer_that_counts_is_no_end_of_a_span_of_days() -> None:
    found = " ".join(
        texts(
            "user: The retreat is booked, 11 to 13 May in Bruges.",
            "assistant: How many rooms?",
            "user: 14. Nina and Omar share, and she says it's fine.",
        )
    )
    assert "May 11 to 13" in found
