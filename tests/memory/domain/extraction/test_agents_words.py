"""What the user says of the agent's own words: never a fact, but for the correction beside it."""

from __future__ import annotations

import pytest

from .conversation import both_passes


@pytest.mark.parametrize(
    "said",
    [
        "You told me earlier that I own a boat, is that so?",
        "You said I own a boat, is that right?",
        "You told me that I have three cats, where did you get that?",
        "You wrote that I am a doctor. That is wrong.",
        "You wrote that our budget is 9 million.",
        "You mentioned my sister is a doctor. Where did you get that from?",
        "Your notes say I am a nurse, but I am not.",
        "It says in your notes that I own a boat.",
        "According to you I have three cats, which is wrong.",
        "In your last answer you wrote that I live in Bonn, which is not true.",
        "I don't understand why you think I am vegan.",
        "You keep saying I am from Canada.",
        "You have me down as a vegetarian.",
        "I never told you that I own a farm.",
        "I own a boat, is that so?",
        "I work for Bosch, where did you get that?",
    ],
)
def test_what_the_agent_is_said_to_have_said_is_no_fact(said: str) -> None:
    assert both_passes(f"user: {said}") == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Your notes say I am a nurse, but I am a nurse's aide.", "Dana is a nurse's aide."),
        ("You think I am from Spain. I am from Portugal.", "Dana is from Portugal."),
        ("You have me down as a pilot, but I am a flight attendant.",
         "Dana is a flight attendant."),
        ("You recorded that my wife is called Greta; her name is Gerda.",
         "Dana's wife's name is Gerda."),
        # What the agent is reminded of is meant.
        ("You know that I live in Porto.", "Dana lives in Porto."),
        ("As you noted, my contract ends in May 2027.", "Dana's contract ends in May 2027."),
        ("I told you that my daughter is called Ada.", "Dana's daughter is called Ada."),
        ("You forgot that I am allergic to nuts.", "Dana is allergic to nuts."),
    ],
)  # fmt: skip
def test_the_correction_is_heard(said: str, told: str) -> None:
    assert [each.content for each in both_passes(f"user: {said}")] == [told]
