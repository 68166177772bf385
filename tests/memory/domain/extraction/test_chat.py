"""Two people talking: each turn that tells something concrete becomes a memory of its speaker."""

from __future__ import annotations

import pytest

from .conversation import both_passes

CHAT = (
    "user/Bea: Hey Otto! How was your week?",
    "assistant/Otto: Great! I adopted a greyhound named Comet yesterday.",
    "user/Bea: Wow, that's awesome! I finished my pottery course last month and made three bowls.",
    "assistant/Otto: Cool! What colour are they?",
    "user/Bea: Dark green, with a golden rim.",
    "assistant/Otto: My sister Ulla would love those. She collects bowls from Portugal.",
    "user/Bea: Thanks, Otto!",
)


def by_message(*lines: str) -> dict[int, str]:
    """All contents of a message, by its number from 1."""
    told: dict[int, str] = {}
    for candidate in both_passes(*lines):
        for source in candidate.message_ids:
            told[source.int] = f"{told.get(source.int, '')} {candidate.content}".strip()
    return told


def test_both_people_are_sources_under_their_own_names() -> None:
    told = by_message(*CHAT)
    assert told[2] == "Otto adopted a greyhound named Comet on March 9, 2026."
    assert "Bea finished" in told[3]
    assert "February 2026" in told[3]


def test_a_short_answer_keeps_its_question() -> None:
    assert "colour" in by_message(*CHAT)[5]
    assert "Dark green" in by_message(*CHAT)[5]


def test_greetings_and_thanks_give_nothing() -> None:
    told = by_message(*CHAT)
    assert 1 not in told
    assert 7 not in told


@pytest.mark.parametrize(
    "said",
    [
        "Bye Otto.",
        "Woah, Otto.",
        "Ha ha",
        "<3",
        "Absolutely!",
        "Thanks for having my back.",
        "Cannot wait to see it. <3",
        "I'm so proud of you!",
        "I'll keep you posted.",
        "Your support means the world to me.",
    ],
)
def test_a_mere_reaction_gives_nothing(said: str) -> None:
    assert 3 not in by_message(CHAT[1], "user/Bea: How come?", f"assistant/Otto: {said}", CHAT[2])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Can't wait for the regatta on 4 May!", "May 4, 2026"),
        ("Thanks! My cousin Lotte plays the harp in Bergen.", "Bergen"),
        ("They are two greyhounds from a shelter in Porto.", "Porto"),
    ],
)
def test_a_reaction_that_tells_something_is_kept(said: str, kept: str) -> None:
    assert kept in by_message(*CHAT[:2], f"assistant/Otto: {said}")[3]


def test_a_pronoun_gets_the_name_of_the_last_person() -> None:
    assert "collects bowls from Portugal" in by_message(*CHAT)[6]
    assert "Ulla" in by_message(*CHAT)[6]


def test_a_memory_never_spans_two_turns() -> None:
    assert all(len(candidate.message_ids) == 1 for candidate in both_passes(*CHAT))


def test_likings_told_in_a_chat_are_filed_under_their_own_words() -> None:
    told = both_passes(
        "user/Bea: Hey Otto! I really love pottery, I went to a class in Porto in May.",
        "assistant/Otto: Nice! I love greyhound races, I saw one in Dublin in June.",
        "user/Bea: I love sailing too, my uncle Ole has a boat in Rostock.",
    )

    liked = [each.subject for each in told if each.subject.startswith("user.preference.")]
    assert len(liked) > 1
    assert len(set(liked)) == len(liked)
