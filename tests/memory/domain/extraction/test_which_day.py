"""Which day is meant: what one has got to go to lies ahead, what is paid monthly has no date."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> str:
    """What both passes tell."""
    return " ".join(each.content for each in both_passes(*lines))


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("We've got a rehearsal on Thursday.", "March 12, 2026"),
        ("I've got a concert in the town hall on Saturday.", "March 14, 2026"),
        ("My son has got a match on the 14th.", "March 14, 2026"),
        ("I've got a meeting with her on Friday.", "March 13, 2026"),
        ("The landlord wrote that the rent rises to 1,140 euros on 1 May.", "May 1, 2026"),
        ("The school announced that the lunch fee drops to 3 euros on 1 January.",
         "January 1, 2027"),
        # What has come, or was done, stays behind.
        ("I've got the letter from the bank on Wednesday.", "March 4, 2026"),
        ("We've got through to the bank on Wednesday.", "March 4, 2026"),
        ("I've got the test results on Friday.", "March 6, 2026"),
        ("The landlord wrote that the lift broke on 3 February.", "February 3, 2026"),
    ],
)  # fmt: skip
def test_the_day_that_is_meant(said: str, day: str) -> None:
    assert day in told(f"user: {said}")


@pytest.mark.parametrize(
    "said",
    [
        "The rent goes out on the 1st.",
        "Salaries are paid on the 25th.",
        "I get paid on the 27th.",
        "Child benefit comes in on the 15th.",
        "850 goes to the mortgage on the 1st, and 200 to the savings account on the 5th.",
    ],
)
def test_what_is_paid_monthly_has_no_date(said: str) -> None:
    found = both_passes(f"user: {said}")
    assert found
    assert not any("2026" in each.content for each in found)
    assert {each.memory_type.value for each in found} == {"semantic"}


@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("The parcel goes out on the 1st.", ["April 1, 2026"]),
        ("The rent rises on the 1st.", ["April 1, 2026"]),
        ("The first salary is paid on the 25th.", ["March 25, 2026"]),
        ("The wages are paid on the 20th because of Easter.", ["March 20, 2026"]),
        ("The pension is paid on the 27th because the 28th is a Saturday.", ["March 27, 2026"]),
        ("The mortgage is due on the 5th, we've asked for ten days more.", ["April 5, 2026"]),
        ("My rent goes out on the 1st, so I need 700 by then.",
         ["on April 1, 2026", "by April 1, 2026"]),
        ("The crates arrive on the 13th, and the forklift on the 15th.",
         ["March 13, 2026", "March 15, 2026"]),
    ],
)  # fmt: skip
def test_what_happens_once_keeps_its_date(said: str, days: list[str]) -> None:
    text = told(f"user: {said}")
    assert all(day in text for day in days)
