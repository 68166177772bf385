"""What others wrote or what is only supposed is no fact; the speaker's own words are heard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.extraction.meant.pasted import own_words
from tests.memory.domain.extraction.conversation import both_passes


def told(said: str) -> list[str]:
    return [each.content for each in both_passes(f"user: {said}")]


@pytest.mark.parametrize(
    "said",
    [
        "Can you summarise this article? The mayor lives in Delft. She has kept bees for years.",
        "Proofread: I has ten years of experience as a baker and two sons.",
        "Translate to Dutch: I am allergic to shellfish. My wife eats no pork.",
        "Here's the bio: Jane Doe is a violinist from Leeds. She has two cats. Too long?",
        "Dear Sir, I live at 4 Elm Road and my boiler is broken. Can you make that more polite?",
        "Dear Ms Tran,\nI have led a kitchen for six years. I live in Ghent.\nKind regards,\nLuc",
        "Lyrics: I've got a house by the river, my father was a sailor. What rhyme is this?",
        "From: Kathy Bell\nSubject: News\n\nI moved to Cork in May. I start at the clinic in June.",
        "Forwarded message:\nI'm on leave from May. My deputy is Frank Ott.\nBest,\nSilke",
        "> I quit my job. I go to Peru.\n> My wife is pregnant.\nHow should I react to that?",
        "Continue:\nAnna: I moved to Rome last year.\nPaul: I live in Bonn with my dog.",
        "[09:12] Mia: I'm pregnant!\n[09:13] Jon: I got a job at Shell\nWhat should I write?",
        "As an example, say my name is Bob and I live in Ohio. I own a boat.",
        "Suppose I had two kids. I earn 40k and live in Texas. What tax would I pay?",
        "Turn these notes into a mail. I promised her the figures. She lives in Kiel.",
        "I wrote this for my application, is it fine? I have run a hotel in Split for years.",
        "Would you mind tidying up this message? I can't come because my son has chickenpox.",
        "In my novel, I'm a queen with a glass eye. I live in a lighthouse.",
        "Q: Where do you live? A: I live in Quebec. Q: Do you smoke? A: I smoke a pack a day.",
        "The text is below.\n---\nI am an orphan from Naples. I joined the navy at 15.\n---",
    ],
)
def test_what_others_wrote_gives_nothing(said: str) -> None:
    assert told(said) == []


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (
            "I live in Tromsø. Translate this: I want a table for six. My wife eats no gluten.",
            "Dana lives in Tromsø.",
        ),
        (
            "Proofread: I has two sons in Bern. Is it correct? By the way, I work as a nurse.",
            "Dana works as a nurse.",
        ),
        (
            "```\nYou are Max. My name is Ida. I love jazz.\n```\nI live in Lund.",
            "Dana lives in Lund.",
        ),
        (
            "Summarise this:\n```\nMy name is Ida. I live in Kiel.\n```\nI work as a nurse.",
            "Dana works as a nurse.",
        ),
        (
            "Dear Ms Tran,\nI live in Ghent.\nYours,\nLuc\n\nI work as a nurse.",
            "Dana works as a nurse.",
        ),
        (
            "Suppose I own two flats. I'm 60. Could I retire? Actually, I work as a nurse.",
            "Dana works as a nurse.",
        ),
        ("Can you summarise this article? I need it for work. I live in Lund.", "lives in Lund"),
        ("I translate for a living: mostly novels. I live in Lund.", "lives in Lund"),
        ("I drafted the offer. It goes to Petra. I live in Lund.", "lives in Lund"),
        ('Explain this quote: "I am large. I am many." I live in Lund.', "lives in Lund"),
        ("Imagine my surprise! I live in Lund now.", "lives in Lund"),
        ("Dear assistant, I live in Lund.", "lives in Lund"),
    ],
)
def test_the_speakers_own_words_are_heard(said: str, heard: str) -> None:
    found = told(said)
    assert any(heard in each for each in found)
    assert not any(
        word in each for each in found for word in ("six", "sons", "Ida", "Kiel", "Ghent", "flats")
    )


PIRATE = (
    "user: Let's role-play: I am a 90-year-old pirate with a wooden leg.",
    "assistant: Arr!",
    "user: My ship is called the Black Gull and I live in Tortuga.",
    "assistant: A fine ship!",
    "user: I have three wives.",
)


def test_what_is_said_in_a_play_is_no_fact() -> None:
    assert both_passes(*PIRATE) == []


@pytest.mark.parametrize(
    "end", ["OK, end of role-play.", "Haha, game over!", "Let's stop playing.", "That was fun."]
)
def test_after_a_play_the_user_is_heard_again(end: str) -> None:
    found = both_passes(*PIRATE, "assistant: Ho!", f"user: {end} I work as a nurse.")
    assert [each.content for each in found] == ["Dana works as a nurse."]


@pytest.mark.parametrize(
    "said",
    [
        "You are Tom, a barista, and I'm a grumpy customer. I live in Tortuga.",
        "Pretend you're my landlord. I live in Tortuga.",
        "Can you role-play as my boss? I live in Tortuga.",
        "Let's play a game: I'm a detective. I live in Tortuga.",
        "Let's do a mock interview. I live in Tortuga.",
        "You be the waiter and I'll be the customer. I live in Tortuga.",
    ],
)
def test_a_play_begins_in_many_ways(said: str) -> None:
    assert told(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Act as a nutritionist. I live in Lund.",
        "You are a great help and I'm glad. I live in Lund.",
        "I play a pirate in the school musical. I live in Lund.",
    ],
)
def test_what_is_no_play_is_heard(said: str) -> None:
    assert any("lives in Lund" in each for each in told(said))


@given(st.text(max_size=300))
def test_any_text_is_survived_and_nothing_is_added(text: str) -> None:
    kept = own_words(text=text)
    assert set(kept.split()) <= set(text.split())
