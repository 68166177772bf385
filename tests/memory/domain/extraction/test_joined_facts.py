"""One sentence that joins facts about somebody else: each is a memory of its own."""

from __future__ import annotations

import pytest

from memory.domain.extraction.language.coordination import joined_facts

from .conversation import both_passes


def told(*lines: str) -> list[str]:
    """What both passes find in the lines, in any order."""
    return sorted(candidate.content for candidate in both_passes(*lines))


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        (
            "My brother Piet lives in Lille and works for Renault.",
            ["Dana's brother Piet lives in Lille.", "Dana's brother Piet works for Renault."],
        ),
        (
            "Sanne drives the truck and lives in Ghent.",
            ["Sanne drives the truck.", "Sanne lives in Ghent."],
        ),
        (
            "The info tent opens at 10:00 and Lena handles the keys.",
            ["Lena handles the keys.", "The info tent opens at 10:00."],
        ),
        (
            "The press office is in room 12 and its phone is 5510.",
            ["The press office is in room 12.", "The press office's phone is 5510."],
        ),
        (
            "My parents live in Lyon and run a bakery.",
            ["Dana's parents live in Lyon.", "Dana's parents run a bakery."],
        ),
        (
            "My parents live in Bari and their number is 080 5512.",
            ["Dana's parents live in Bari.", "Dana's parents' number is 080 5512."],
        ),
        (
            "Ingrid leads the design team and her assistant is called Noor.",
            ["Ingrid leads the design team.", "Ingrid's assistant is called Noor."],
        ),
        (
            "The archive is on the third floor, and its door code changes every Monday.",
            [
                "The archive is on the third floor.",
                "The archive's door code changes every Monday.",
            ],
        ),
        (
            "Mr. Peeters broke his hip in May 2024 and his daughter lives in Aalst.",
            ["Mr. Peeters broke his hip in May 2024.", "Mr. Peeters's daughter lives in Aalst."],
        ),
        (
            "The bar opens at 19:00 and the show starts at 20:00.",
            ["The bar opens at 19:00.", "The show starts at 20:00."],
        ),
        (
            "Mrs. Okafor doesn't eat pork and her son brings dinner.",
            ["Mrs. Okafor doesn't eat pork.", "Mrs. Okafor's son brings dinner."],
        ),
        (
            "Piet is 40, lives in Lille and works for Renault.",
            ["Piet is 40.", "Piet lives in Lille.", "Piet works for Renault."],
        ),
    ],
)
def test_two_facts_about_somebody_else_are_two_memories(said: str, facts: list[str]) -> None:
    assert told(f"user: {said}") == facts


@pytest.mark.parametrize(
    "said",
    [
        "Piet lives and works in Ghent.",
        "Sanne eats fish and rice on Fridays.",
        "Lena bought and sold three flats.",
        "My aunt likes tea but not coffee.",
        "Tomas went to Rome and lost his passport.",
        "Chidi writes the report and Noa reviews it.",
        "Jo likes red wine and Sam hates it.",
        "Marek wants to sell the house and move to Spain.",
        "If it rains, Lena stays home and Piet takes the bus.",
        "My neighbour has a brother who lives in Lille and works for Renault.",
        "The shop opens at 8 and closes at 17:30.",
        "Ewa cooks dinner and washes the dishes on Fridays.",
        "Yasmin does the spike and she starts on Monday.",
        "Priya says the office is closed and works from home.",
        "On Mondays Lena takes the kids to school and feeds the dog.",
        "Hamid collects stamps and records from the sixties.",
        "Nadia never drinks coffee and eats no meat.",
        "Anna and Tom live in Ghent.",
        "The script reads the file and writes a report.",
        "My mother is tall and slim.",
        "My brother's name is Piet and he lives in Ghent.",
        "Ruth hopes Anna and Tom are coming to the wedding.",
        "The contract ends in May 2027 and the notice period is three months.",
        "The staging database is Postgres 16 and the cache is Redis.",
        "Kofi speaks Twi and Ama and Esi speak Ga.",
    ],
)
def test_what_needs_its_neighbour_stays_whole(said: str) -> None:
    assert joined_facts(text=said) == []


def test_a_possessive_that_may_be_another_persons_is_not_given_to_the_subject() -> None:
    assert told("user: Lena works with Tom and his wife is a nurse.") == [
        "Lena works with Tom and his wife is a nurse."
    ]


def test_a_sentence_stays_whole_where_its_parts_would_push_other_facts_out_of_the_turn() -> None:
    facts = told(
        "user: Kofi is allergic to nuts. Ewa leads the design team. "
        "My brother Piet lives in Lille and works for Renault."
    )
    assert "Ewa leads the design team." in facts
    assert "Dana's brother Piet lives in Lille and works for Renault." in facts
    assert len(facts) == 3


def test_the_users_own_facts_are_parted_as_before() -> None:
    assert told("user: I live in Ghent and I play the cello.") == [
        "Dana lives in Ghent.",
        "Dana plays the cello.",
    ]
