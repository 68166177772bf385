"""What somebody says they have forgotten is nothing to remember."""

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


def test_a_thing_to_remember_is_pinned() -> None:
    (found,) = both_passes("user: Please remember my locker number is 42.")
    assert found.is_pinned
