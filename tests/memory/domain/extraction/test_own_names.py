"""What somebody wants to be called, and what they do not."""

from __future__ import annotations

import pytest

from .conversation import both_passes


@pytest.mark.parametrize(
    "said",
    [
        "Please don't call me Walt.",
        "I do not like it when people call me Walt.",
        "Never call me Walt.",
        "I hate it when people call me Walt.",
        "I'd rather you didn't call me Walt.",
        "Please do not call me Walt anymore.",
        "Nobody calls me Walt.",
        "My mother is the only one who may call me Walt.",
        "They call me Walt, which I can't stand.",
        "If you call me Walt again, I'm leaving.",
        "People used to call me Walt.",
        "I no longer go by Walt.",
        "I'd rather not be called Walt.",
    ],
)
def test_a_name_that_is_not_wanted_is_no_name_of_theirs(said: str) -> None:
    found = both_passes(f"user: {said}")
    assert not any(each.is_pinned for each in found)
    assert "User goes by Walt." not in [each.content for each in found]


@pytest.mark.parametrize(
    "said",
    [
        "Please call me Walt.",
        "Call me Walt, not Walter.",
        "Don't call me Walter, call me Walt.",
        "Nobody calls me Walter, people call me Walt.",
        "I hate Walter, so please call me Walt.",
        "Not Walter please, call me Walt.",
        "You can call me Walt.",
    ],
)
def test_a_name_that_is_wanted_is_pinned(said: str) -> None:
    found = {each.content: each.is_pinned for each in both_passes(f"user: {said}")}
    assert found.get("User goes by Walt.") is True
    assert "User goes by Walter." not in found
