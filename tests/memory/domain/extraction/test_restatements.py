"""A value said anew in free words replaces the old one; a proposal taken up is a decision."""

from __future__ import annotations

import pytest

from .conversation import extracted, texts


@pytest.mark.parametrize(
    ("lines", "new", "old"),
    [
        (("The band has 14 players.", "15, I forgot the harpist."), "15", "14"),
        (("The fee is 60 euros.", "Typo: 80 euros."), "80", "60"),
        (("We keep six goats.", "Seven by now."), "seven", "six"),
        (("The course costs 300 euros.", "They just raised it to 340 euros."), "340", "300"),
        (("My uncle lives in Bergen.", "I mean Bodø, I mix them up."), "Bodø", "Bergen"),
        (("The inspection is at 9:15.", "It isn't 9:15, she wrote 9:50."), "9:50", "9:15"),
        (("I'm allergic to hazel.", "Not hazel, birch!"), "birch", "hazel"),
        (("Dinner is at the Anchor.", "We're moving it to the Lantern."), "Lantern", "Anchor"),
        (("The pill is taken twice a day.", "No, wait, once a day."), "once", "twice"),
        (("Our tutor is Ilka.", "It's Rosa now."), "Rosa", "Ilka"),
    ],
)
def test_the_value_said_last_is_the_one_that_is_kept(
    lines: tuple[str, str], new: str, old: str
) -> None:
    (told,) = texts(f"user: {lines[0]}", "assistant: Noted.", f"user: {lines[1]}")
    assert new in told
    assert old not in told


def test_a_bare_value_after_an_echo_corrects_it() -> None:
    (told,) = texts("user: The report is due on the 2nd.", "assistant: The 2nd.", "user: The 5th.")
    assert "April 5" in told
    assert "April 2," not in told


def test_a_count_is_kept_up_to_date() -> None:
    found = texts("user: I keep four hens.", "user: One died, so it's three now.")
    assert found[0] == "Dana keeps three hens."


def test_what_somebody_used_to_do_is_told_as_past() -> None:
    (told,) = texts("user: I play the oboe.", "user: Used to play, I gave it up in May.")
    assert told.startswith("Dana used to play the oboe")


def test_another_answer_to_another_question_corrects_nothing() -> None:
    found = texts(
        "user: The course has 14 pupils.",
        "assistant: And how many teachers?",
        "user: Two, for now.",
    )
    assert any("14 pupils" in told for told in found)


def test_an_announcement_corrects_nothing() -> None:
    found = texts("user: We keep three goats.", "assistant: Nice.", "user: Wait, one more thing.")
    assert found == ["The team keeps three goats."]
    found = texts("user: Our tutor is Ilka Rau.", "assistant: Ok.", "user: Sorry, Kyra.")
    assert found == ["The team's tutor is Ilka Rau."]


@pytest.mark.parametrize(
    "said", ["Haha no, that was a joke.", "Nooo, kidding.", "That was sarcasm."]
)
def test_what_was_said_in_jest_goes(said: str) -> None:
    lines = ("user: I'm selling the farm in Tuva.", "assistant: Oh!", f"user: {said}")
    assert not [told for told in texts(*lines) if "Tuva" in told]


def test_what_the_user_asks_to_forget_of_the_talk_goes() -> None:
    lines = ("user: Our van is a blue Transit. The bikes are in the shed.", "assistant: Ok.")
    assert texts(*lines, "user: Forget what I said about the van.") == [
        "The bikes are in the shed."
    ]
    moved = texts(
        "user: We meet on Tuesday in room 4.",
        "assistant: Ok.",
        "user: Forget what I said about Tuesday, it's Thursday.",
    )
    assert moved == ["The team meets on Thursday, March 12, 2026 in room 4."]


def test_a_cancelled_appointment_says_so() -> None:
    (told,) = texts(
        "user: My appointment with Dr Lang is on Friday.", "user: It's been cancelled, by the way."
    )
    assert told.endswith("; it's been cancelled.")


def test_a_proposal_taken_up_is_a_decision() -> None:
    (decided,) = extracted(
        "user: Should we print the Meadow flyer in one colour or two?",
        "assistant: One colour is cheaper. Then one colour, with a grey photo?",
        "user: Yes, let's do that.",
    )
    assert decided.category == "decision"
    assert "Meadow" in decided.content
    assert "one colour, with a grey photo" in decided.content


def test_the_second_of_two_ways_is_the_one_decided_on() -> None:
    found = texts(
        "user: The nightly backup takes five hours.",
        "assistant: There are two ways: split it by year, or move it to 21:00.",
        "user: The second one.",
    )
    assert found[-1].endswith("Dana decided: move the nightly backup to 21:00.")


def test_how_something_would_help_is_a_wish() -> None:
    found = texts(
        "user: I carry every crate myself.",
        "assistant: Would packing lists help?",
        "user: They would, every Sunday evening.",
    )
    assert "Dana wants packing lists every Sunday evening." in found


def test_the_answer_to_an_offered_reminder_is_its_time() -> None:
    (told,) = texts(
        "user: The boiler check is due on 14 May.",
        "assistant: Shall I remind you?",
        "user: A week ahead will do.",
    )
    assert told.endswith("Dana wants a reminder a week ahead.")
