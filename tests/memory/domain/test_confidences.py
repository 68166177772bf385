"""Which messages are told in confidence."""

from __future__ import annotations

import pytest

from memory.domain.confidences import Said, asks_for_silence, confided


@pytest.mark.parametrize(
    "text",
    [
        "Between us, I'm leaving.",
        "Between you and me: the bakery is for sale.",
        "Please don’t tell the others yet.",
        "Don't tell Otto about it.",
        "Do not mention this to anyone.",
        "KEEP THIS TO YOURSELF, please",
        "Nobody else knows.",
        "I haven't told my boss.",
        "This is strictly confidential.",
        "It's a secret.",
        "I'd rather my team didn't know.",
        "Tell no one.",
        "Not a word to Hanne.",
    ],
)
def test_general_words_ask_for_silence(text: str) -> None:
    assert asks_for_silence(text)


@pytest.mark.parametrize(
    "text",
    [
        "I can't tell whether it works.",
        "Don't tell me what to do.",
        "I told the team about it.",
        "My secret ingredient is nutmeg.",
        "The secret is rotated every month.",
        "Never forget the milk.",
        "",
    ],
)
def test_other_words_do_not(text: str) -> None:
    assert not asks_for_silence(text)


def keys(*lines: str) -> set[object]:
    """The places, from 0, of the confided ones among lines such as "agent: Sure."."""
    said = [
        Said(place, line.partition(": ")[2], line.startswith("person"))
        for place, line in enumerate(lines)
    ]
    return set(confided(said))


def test_a_message_that_says_more_speaks_for_itself() -> None:
    assert keys(
        "person: The dog is called Rex.",
        "person: Between us, I start at Northwind in May.",
        "person: Lunch is at noon.",
    ) == {1}


def test_a_message_that_says_little_else_speaks_of_the_one_before() -> None:
    assert keys(
        "person: Lunch is at noon.",
        "person: I start at Northwind in May.",
        "agent: Congratulations!",
        "person: Please don't tell anyone.",
        "agent: I won't tell anyone of Northwind.",
        "person: The dog is called Rex.",
    ) == {1, 2, 3, 4}


def test_an_announcement_speaks_of_the_one_after() -> None:
    assert keys(
        "person: Lunch is at noon.",
        "person: Can I tell you something in confidence?",
        "agent: Of course.",
        "person: I start at Northwind in May.",
    ) == {1, 2, 3}


def test_what_an_agent_says_by_itself_confides_nothing() -> None:
    assert keys("agent: I keep this between us.", "person: The dog is called Rex.") == set()
