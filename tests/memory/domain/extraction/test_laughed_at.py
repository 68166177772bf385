"""What is said with a laugh and is no more than play."""

from __future__ import annotations

import pytest

from .conversation import texts


@pytest.mark.parametrize(
    "said",
    [
        "One more goal like that and Benfica will be ringing me up, ha!",
        "Haha, at this pace my toddler will own the place by summer.",
        "Our cat runs the household, haha!",
        "Haha, at this rate the snail will beat us.",
        "Ha, no, she is way smarter than me!",
    ],
)
def test_play_becomes_no_memory(said: str) -> None:
    assert texts("assistant: Did you teach her chess?", f"user: {said}") == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("One more late delivery and the customer cancels the contract.", "cancels the contract"),
        ("Haha, I start on Monday at Solberg!", "Solberg"),
        ("Haha, my sister is older than me by two minutes!", "two minutes"),
        ("My trainee runs faster than me, haha. He starts on 2 May.", "starts on May 2"),
        ("Ha, no, I'm vegetarian!", "Dana is vegetarian"),
        ("Haha, we sold 40 cakes on Sunday, at this rate we'll be rich.", "sold 40 cakes"),
        ("Haha, I broke my toe, one more fall and they'll sell me for parts.", "broke"),
        ("Lol, I swim 40 laps at this pace.", "swims 40 laps"),
        ("Haha, at this rate I eat 12 eggs a week.", "eats 12 eggs a week"),
    ],
)
def test_what_is_told_with_a_laugh_stays(said: str, told: str) -> None:
    (found,) = texts(f"user: {said}")
    assert told in found
    assert not found.lower().startswith("ha")
