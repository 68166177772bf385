"""A yes or a no says what was asked, where something lasting was asked of the one who gives it."""

from __future__ import annotations

import pytest

from memory.domain.types import MemoryType

from .conversation import both_passes, extracted, texts


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("Do you live in Tartu?", "Yes.", "Dana lives in Tartu."),
        ("Are you a beekeeper?", "yep", "Dana is a beekeeper."),
        ("So you prefer window seats, right?", "yes", "Dana prefers window seats."),
        ("You work at Lidl, correct?", "that's right", "Dana works at Lidl."),
        ("Got it. And you're an only child, aren't you?", "I am", "Dana is an only child."),
        ("Just to check: do you drive?", "yeah I do", "Dana drives."),
        ("Did you grow up in Bari?", "I did", "Dana grew up in Bari."),
        ("Does your brother smoke?", "he does", "Dana's brother smokes."),
        ("Is your wife called Marta?", "Correct.", "Dana's wife is called Marta."),
        ("Are you allergic to nuts?", "yes, very", "Dana is allergic to nuts."),
    ],
)
def test_a_yes_tells_what_was_asked(question: str, answer: str, told: str) -> None:
    found = both_passes(f"assistant: {question}", f"user: {answer}")
    assert [candidate.content for candidate in found] == [told]
    assert {source.int for source in found[0].message_ids} == {1, 2}


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("Do you have siblings?", "no", "Dana does not have siblings."),
        ("Do you have any pets?", "nope", "Dana does not have any pets."),
        ("Can you swim?", "No.", "Dana cannot swim."),
        ("Have you ever broken a bone?", "nope, never", "Dana has never broken a bone."),
        ("Do you smoke?", "not anymore", "Dana no longer smokes."),
        ("Do you still play the oboe?", "no", "Dana no longer plays the oboe."),
        ("You don't eat pork, do you?", "no", "Dana does not eat pork."),
        ("You don't eat pork, right?", "right", "Dana does not eat pork."),
        ("Are you a morning person?", "not really", "Dana is not a morning person."),
        ("Do you go to the gym?", "sometimes", "Dana sometimes goes to the gym."),
    ],
)
def test_a_no_denies_what_was_asked(question: str, answer: str, told: str) -> None:
    found = both_passes(f"assistant: {question}", f"user: {answer}")
    assert [candidate.content for candidate in found] == [told]


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        ("Do you use a Mac?", "no, Linux", "Dana uses Linux."),
        ("Are you from Spain?", "Nope, Portugal.", "Dana is from Portugal."),
        ("Do you work at Lidl?", "no, at Aldi", "Dana works at Aldi."),
        ("Are you married?", "divorced", "Dana is divorced."),
        ("Is English your first language?", "no, Tamil", "Dana's first language is Tamil."),
        ("Do you wear glasses?", "only for reading", "Dana wears glasses only for reading."),
    ],
)
def test_what_is_so_instead_takes_the_place_of_what_was_asked(
    question: str, answer: str, told: str
) -> None:
    found = both_passes(f"assistant: {question}", f"user: {answer}")
    assert [candidate.content for candidate in found] == [told]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Shall I book the table?", "yes"),
        ("Do you want me to send it now?", "yes please"),
        ("Just to confirm: you want the file deleted?", "yes"),
        ("Are you ready?", "yes"),
        ("Are you kidding?", "yes"),
        ("Haha, are you a cat?", "yes"),
        ("Is your name spelled with a K?", "yes"),
        ("Is that ok?", "yep"),
        ("Do you have a moment?", "sure"),
        ("Do you like the plan?", "yes"),
        ("Did you restart the router?", "yes"),
        ("Have you tried turning it off?", "yes"),
        ("Are you free on Friday?", "no"),
        ("Would you eat hay if you were a horse?", "yes"),
        ("Do you prefer tea or coffee?", "yes"),
        ("Do you have any allergies?", "yes"),
    ],
)
def test_offers_moods_and_open_choices_tell_nothing(question: str, answer: str) -> None:
    assert both_passes(f"assistant: {question}", f"user: {answer}") == []


def test_another_person_may_ask() -> None:
    found = extracted("user/Ann: Hi Bo! Do you live in Oslo?", "user/Bo: yes")
    assert [candidate.content for candidate in found] == ["Bo lives in Oslo."]
    assert {source.int for source in found[0].message_ids} == {1, 2}


def test_what_leans_on_the_question_is_told_with_it() -> None:
    (told,) = texts("assistant: Do you still work at Bosch?", "user: no, I left in May")
    assert told.startswith("Dana no longer works at Bosch; Dana left in May")


def test_what_holds_is_no_event_of_the_day() -> None:
    (found,) = extracted("assistant: Was your father a carpenter?", "user: He was.")
    assert found.content == "Dana's father was a carpenter."
    assert found.memory_type is MemoryType.SEMANTIC
