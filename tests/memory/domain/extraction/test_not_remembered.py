"""What was forgotten, dreamed, only thought of or merely agreed to is nothing to remember."""

from __future__ import annotations

import pytest

from .conversation import both_passes


@pytest.mark.parametrize(
    "said",
    [
        "I can't remember my locker number.",
        "I cannot recall her name.",
        "I don't remember the door code anymore.",
        "Sorry, I forgot my password again.",
    ],
)
def test_a_thing_forgotten_is_no_memory(said: str) -> None:
    assert both_passes(f"user: {said}") == []


@pytest.mark.parametrize(
    "said",
    [
        "I think so too.",
        "I just tried that and it works now.",
        "I will try tomorrow.",
        "Last night I dreamed that I was flying over Paris.",
        "I had a nightmare that I lost my job.",
        "I thought about quitting my job, but no.",
        "I considered moving to Japan, but decided against it.",
    ],
)
def test_what_is_not_so_is_no_memory(said: str) -> None:
    assert both_passes(f"user: {said}") == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("My dream job is at NASA.", "dream job"),
        ("We considered moving to AWS but chose GCP.", "chose GCP"),
        ("I considered moving to Japan, but I stayed in Ghent.", "stayed in Ghent"),
    ],
)
def test_what_came_of_it_is_kept(said: str, told: str) -> None:
    assert any(told in each.content for each in both_passes(f"user: {said}"))


@pytest.mark.parametrize(
    ("said", "is_own"),
    [
        ("We have moved the office to Porto.", False),
        ("We've moved our servers to Frankfurt.", False),
        ("I have moved to Porto.", True),
    ],
)
def test_only_ones_own_move_tells_the_city(said: str, is_own: bool) -> None:
    (found,) = both_passes(f"user: {said}")
    assert found.subject.endswith("city") is is_own


def test_a_thing_to_remember_is_pinned() -> None:
    (found,) = both_passes("user: Please remember my locker number is 42.")
    assert found.is_pinned
