"""What speakers leave out: verbs, topics, and the names that pronouns stand for."""

from __future__ import annotations

import pytest

from .conversation import texts


@pytest.mark.parametrize(
    ("said", "clauses"),
    [
        (
            "Ines does the kiln, Bo the glaze, and Cy the shop.",
            ["Ines does the kiln.", "Bo does the glaze.", "Cy does the shop."],
        ),
        (
            "Ines goes to the kiln, Bo to the shop.",
            ["Ines goes to the kiln.", "Bo goes to the shop."],
        ),
        ("Ines does the kiln with Bo.", ["Ines does the kiln with Bo."]),
    ],
)
def test_a_verb_left_out_is_said_again(said: str, clauses: list[str]) -> None:
    assert texts(f"user: {said}") == clauses


@pytest.mark.parametrize(
    ("asked", "answered", "content"),
    [
        ("Any rule on branches?", "ticket number first", "Branches: ticket number first."),
        ("Anything on logging?", "json only", "Logging: json only."),
        ("Same e-mail address?", "No, bo@lund.example now",
         "Dana's e-mail address is bo@lund.example now."),
        ("What kind of kiln is it?", "a gas kiln, 200 litres",
         "The kiln is a gas kiln, 200 litres."),
        ("What did the vet say?", "physio twice a week", "The vet says: physio twice a week."),
        ("Where does Bo live today?", "Lund", "Bo lives in Lund."),
        ("And the tech?", "Go and Svelte.", "The tech is Go and Svelte."),
    ],
)  # fmt: skip
def test_an_answer_takes_its_topic_from_the_question(
    asked: str, answered: str, content: str
) -> None:
    assert texts(f"assistant: {asked}", f"user: {answered}") == [content]


@pytest.mark.parametrize(
    ("before", "said", "content"),
    [
        ("user: The movers come on Friday.", "They need the lift key from Ms Holm.",
         "The movers need the lift key from Ms Holm."),
        ("assistant: Shall I call the plumber?", "He built the boiler in 2019.",
         "The plumber built the boiler in 2019."),
        ("user: We adopted a cat yesterday.", "She's called Misty.", "The cat is called Misty."),
        ("user: Who pays at our insurer?", "They want three photos of room 3.",
         "The insurer wants three photos of room 3."),
    ],
)  # fmt: skip
def test_a_pronoun_means_whom_the_talk_named_by_what_they_are(
    before: str, said: str, content: str
) -> None:
    assert content in texts(before, f"user: {said}")


def test_they_who_were_never_named_are_told_of_as_said() -> None:
    (found,) = texts("user: They put me on ramipril, 5 mg a day.")
    assert found == "Dana says that they put Dana on ramipril, 5 mg a day."


def test_the_fact_behind_a_one_time_request_is_kept() -> None:
    found = texts("user: Put Bo in cc, she is the new head of sales.")
    assert found == ["Bo is the new head of sales."]


def test_a_fix_that_the_user_confirms_is_a_way_of_doing() -> None:
    found = texts(
        "user: The printer in room 3 keeps failing with error 90.",
        "tool: restart-queue room3 -> ok",
        "assistant: I restarted it.",
        "user: great, it works again",
    )
    assert found[-1] == (
        "When the printer in room 3 keeps failing with error 90: restart-queue room3; "
        "this worked on March 10, 2026."
    )
