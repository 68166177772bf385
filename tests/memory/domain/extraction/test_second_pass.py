"""The second pass reads by place in the talk: answers, notes and items of a list."""

from __future__ import annotations

import pytest

from memory.domain.extraction.notes import note_items

from .conversation import both_passes


def second(*lines: str) -> list[str]:
    """What only the second pass finds."""
    return [each.content for each in both_passes(*lines) if each.extraction_pass == 2]


def test_notes_under_a_heading_carry_its_topic() -> None:
    found = second("user: Notes from Osprey. Goal: halve the kiln time. Budget 40k.")
    assert found == ["For Osprey, goal: halve the kiln time.", "For Osprey, budget 40k."]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Budget 85k", ["Budget 85k"]),
        ("Points: visitors 4,310, returns 2.1 %", ["visitors 4,310", "returns 2.1 %"]),
        ("Target: a kiln that fires in a day", ["Target: a kiln that fires in a day"]),
        ("around 40", []),
        ("See you at 5", []),
        ("Nice", []),
        ("run it 3 times", []),
    ],
)
def test_a_note_is_a_label_with_its_value(text: str, items: list[str]) -> None:
    assert note_items(text=text) == items


def test_an_answer_that_makes_no_sentence_keeps_its_question() -> None:
    (found,) = both_passes(
        "assistant: Did she prescribe anything?", "user: Tablets, one every morning for two months."
    )
    assert found.extraction_pass == 2
    assert "prescribe anything" in found.content
    assert "Tablets, one every morning" in found.content
    assert {source.int for source in found.message_ids} == {1, 2}


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("How's the Polish going?", "Slowly."),
        ("Why did the chicken cross the road?", "haha good one"),
        ("Shall I open a ticket for Osprey?", "not yet"),
        ("Did she prescribe anything?", "No."),
        ("Anything else?", "Nothing."),
    ],
)
def test_an_answer_that_says_only_how_it_goes_is_no_memory(asked: str, answered: str) -> None:
    assert both_passes(f"assistant: {asked}", f"user: {answered}") == []
