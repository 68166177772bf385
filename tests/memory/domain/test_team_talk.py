"""Which words tell of a team and of nobody in it."""

from __future__ import annotations

import pytest

from memory.domain.team_talk import tells_of_team, told_of_team


@pytest.mark.parametrize(
    "text",
    [
        "The office closes on Fridays at three.",
        "Our team uses Linear for tickets.",
        "The company pays for lunch on Wednesdays.",
        "Our standup is at 9:30 from now on.",
        "We deploy every Thursday.",
        "From Monday on, the office opens at eight.",
        "Everyone on the team gets Fridays off.",
        "In the office we use Slack.",
        "Remember that our release train leaves on Tuesdays.",
        "Lantern ships in May.",
        "Our customers pay by invoice.",
        "Standup is at quarter past nine.",
        "One thing for everybody: the lift is out of order until Monday.",
        "Please tell the others that the gate is locked at four.",
    ],
)
def test_a_workplace_as_the_subject_is_the_teams(text: str) -> None:
    assert tells_of_team(text, names=["Lantern"])


@pytest.mark.parametrize(
    "text",
    [
        "We are getting divorced.",
        "We bought tickets for the opera.",
        "Our kitchen gets a new floor in May.",
        "Our home office needs a lamp.",
        "My team uses Linear.",
        "The company I work for is broke.",
        "The office manager is pregnant.",
        "Tom from our team was fired.",
        "Our dog goes to the office.",
        "We met at the office.",
        "The team might move to Linear.",
        "Does the office close on Fridays?",
        "The lantern is broken.",
        "The customers pay late.",
        "I cook for everybody.",
        "One thing for everybody: my sister is in hospital.",
        "",
    ],
)
def test_anything_else_is_not(text: str) -> None:
    assert not tells_of_team(text, names=["Lantern"])


def test_the_sentence_that_a_memory_was_made_of_decides() -> None:
    said = ["The office closes at three. Our kitchen gets a new floor in May."]

    assert told_of_team("The office closes at three.", said=said)
    assert not told_of_team("The team's kitchen gets a new floor in May.", said=said)
    assert not told_of_team("The company is for sale.", said=said)


def test_a_memory_that_names_one_of_those_who_talk_is_theirs() -> None:
    said = ["Our team lead Dmitri dislikes mornings."]

    assert told_of_team("The team lead Dmitri dislikes mornings.", said=said)
    assert not told_of_team("The team lead Dmitri dislikes mornings.", said=said, people=["dmitri"])
