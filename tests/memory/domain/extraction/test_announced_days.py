"""A day that is announced in the present or the future lies ahead, whatever else is told."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> str:
    """What both passes tell of talk on Tuesday, March 10, 2026."""
    return " ".join(each.content for each in both_passes(*lines))


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("They confirmed the viewing, it's on Monday at five.", "March 16, 2026"),
        ("My exam got postponed, the new one's on Sunday.", "March 15, 2026"),
        ("We sold the car, the handover's on Monday evening.", "March 16, 2026"),
        ("I have been invited to a wedding and it's on Sunday.", "March 15, 2026"),
        ("We got the date for the closing: it's Monday.", "March 16, 2026"),
        ("I heard the concert's on Sunday.", "March 15, 2026"),
        ("There's a viewing on Monday, I saw it online.", "March 16, 2026"),
        ("The results came in and my appointment's 2 April.", "April 2, 2026"),
        ("The parish sold the hall. They gave us until September.", "September 2026"),
        ("They invited us for Easter Sunday.", "April 5, 2026"),
        ("I found a flat and the viewing is on Monday.", "March 16, 2026"),
        # What is over, or goes on since then.
        ("I was at the dentist's on Monday.", "March 9, 2026"),
        ("The viewing was on Monday.", "March 9, 2026"),
        ("I sent the form on Monday and it is still open.", "March 9, 2026"),
        ("We had a viewing on Sunday, it's a lovely flat.", "March 8, 2026"),
        ("The technician set it up in January, the router is a Fritz.", "January 2026"),
    ],
)
def test_an_announcement_looks_forward(said: str, day: str) -> None:
    assert day in told(f"user: {said}")


@pytest.mark.parametrize(
    ("lines", "meant", "never"),
    [
        (("user: I got an interview at Bosch. It's on Monday.",), "interview is on", "Bosch is"),
        (("user: We host the stack at Hetzner.", "assistant: When is the kick-off?",
          "user: It's on Thursday."), "The kick-off is on Thursday", "stack is"),
        (("user: The tenants are the Abels.", "assistant: OK. Anything about the rent?",
          "user: It goes up to 940 from December."), "The rent goes up", "Abels goes"),
    ],
)  # fmt: skip
def test_what_is_on_a_day_is_what_was_asked_about(
    lines: tuple[str, ...], meant: str, never: str
) -> None:
    found = told(*lines)
    assert meant in found
    assert never not in found
