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
        "I was told by you that I own a Ferrari.",
        "I've been told by you that my sister lives in Rome.",
        "Last week I was informed by you that I own two houses.",
        "I heard from you that I own a Ferrari.",
        "I learned from you that I am allergic to cats.",
        "I read in your notes that I am a lawyer.",
        "It was you who said I own a Ferrari.",
        "Apparently, from what you said, I own a Ferrari.",
        "Your words were that I own a Ferrari.",
        "I own a Ferrari, you said.",
        "I own a Ferrari, as you told me.",
        "Remember that you told me I own a Ferrari.",
        "Please remember: I was told by you that I own a Ferrari.",
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
        # What was advised is now meant.
        ("I will move the meeting to Friday, as you suggested.",
         "Dana will move the meeting to Friday, as the agent suggested."),
        ("I heard from my sister that she is pregnant.",
         "Dana heard from their sister that she is pregnant."),
        ("As I told you, I own a Ferrari.", "Dana owns a Ferrari."),
        ("You forgot that I am allergic to nuts.", "Dana is allergic to nuts."),
    ],
)  # fmt: skip
def test_the_correction_is_heard(said: str, told: str) -> None:
    assert [each.content for each in both_passes(f"user: {said}")] == [told]


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("The chatbot said the wrong price to forty customers, so we switched it off.",
         "so the team switched it off."),
        ("I'll take 10 mg in the evening, like you told me.", "like the agent told Dana."),
    ],
)  # fmt: skip
def test_what_a_bot_tells_others_or_the_user_now_means_is_kept(said: str, end: str) -> None:
    (found,) = both_passes(f"user: {said}")
    assert found.content.endswith(end)


def test_what_a_bot_tells_the_user_of_themselves_is_no_fact() -> None:
    assert both_passes("user: The chatbot told me that I own a boat.") == []
    assert both_passes("user: My AI assistant said I am a nurse.") == []
