"""A new value that does not name the old one, or stands in another sentence, replaces it."""

from __future__ import annotations

import pytest

from .conversation import extracted, texts


def test_a_day_that_has_moved_replaces_the_first() -> None:
    found = extracted(
        "user: The fitter comes on Tuesday at ten.",
        "assistant: Noted.",
        "user: He rang just now. Friday now, same time.",
    )
    assert [each.content for each in found] == [
        "The fitter comes on Friday, March 13, 2026 at ten."
    ]
    assert [source.int for source in found[0].message_ids] == [1, 3]


def test_a_day_said_again_moves_nothing() -> None:
    found = texts("user: The fitter comes on Friday.", "assistant: Sure?", "user: Friday then.")
    assert found[0] == "The fitter comes on Friday, March 13, 2026."


def test_a_withdrawn_answer_hands_its_question_to_the_next() -> None:
    found = texts(
        "assistant: Who chairs the panel?",
        "user: Olaf. Actually no, he's in Oslo until May. Let's take Birgit.",
    )
    assert found == ["Olaf is in Oslo until May 2026.", "Birgit chairs the panel."]


def test_a_denied_value_gives_way_to_the_last_that_is_named() -> None:
    found = texts(
        "user: We decided to tile the kitchen blue.",
        "assistant: Which blue?",
        "user: On second thought, not blue. Something warm. Brick red.",
    )
    assert found == ["On March 10, 2026, the team decided to tile the kitchen brick red."]


@pytest.mark.parametrize("said", ["Now then.", "Fine now, thanks.", "Not now.", "Actually no."])
def test_a_remark_without_a_value_moves_nothing(said: str) -> None:
    found = texts("user: The hall opens on May 4.", "assistant: Noted.", f"user: {said}")
    assert all("May 4, 2026" in text for text in found)
