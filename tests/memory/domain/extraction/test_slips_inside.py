"""A slip put right in the same breath: what was meant is kept, what was said by mistake is not."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> list[str]:
    return [candidate.content for candidate in both_passes(*lines)]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("My dad is a plumber, haha no, a teacher.", "Dana's dad is a teacher."),
        ("I live in Turku, no wait, Tampere.", "Dana lives in Tampere."),
        ("I grew up in Bergen (no wait, Stavanger).", "Dana grew up in Stavanger."),
        ("My sister is a dentist… just kidding, a florist.", "Dana's sister is a florist."),
        ("My daughter studies law... lol no, medicine.", "Dana's daughter studies medicine."),
        ("I work at Nokia, er, Ericsson.", "Dana works at Ericsson."),
        ("I work with Tom, uh, I mean Tim.", "Dana works with Tim."),
        ("My boss is Tina, or rather Gina.", "Dana's boss is Gina."),
        ("I'm a vegetarian, well, pescatarian actually.", "Dana is a pescatarian."),
        ("My brother plays the cello, I mean the viola.", "Dana's brother plays the viola."),
        ("I like dogs, I mean, big dogs.", "Dana likes big dogs."),
        ("I have three cats - no, four.", "Dana has four cats."),
        ("My grandma lives in Lund with my aunt, no wait, in Malmö.",
         "Dana's grandma lives in Malmö with their aunt."),
        ("My wife works as a nurse in a hospital, no wait, as a midwife.",
         "Dana's wife works as a midwife in a hospital."),
        # In the next words.
        ("My uncle is a baker. Sorry, a butcher.", "Dana's uncle is a butcher."),
        ("My dog is called Rex. Wait, no. Max.", "Dana's dog is called Max."),
        ("I play the harp. Just kidding. The flute.", "Dana plays the flute."),
    ],
)  # fmt: skip
def test_what_is_meant_takes_the_place_of_what_was_said(said: str, meant: str) -> None:
    assert told(f"user: {said}") == [meant]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I bought a canoe. I mean a kayak.", "bought a kayak."),
        ("I ordered the red sofa. Er, the blue one.", "ordered the blue sofa."),
    ],
)
def test_a_thing_gives_way_to_the_thing_meant(said: str, meant: str) -> None:
    (found,) = told(f"user: {said}")
    assert found.endswith(meant)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("We are in Oslo from June 3 to 5, sorry, 4 to 6.", "from June 4 to 6, 2026."),
        ("I work from 9 to 5, sorry, 10 to 6.", "works from 10 to 6."),
        ("We're away from Monday to Wednesday, sorry, Tuesday to Thursday.",
         "from Tuesday to Thursday."),
        ("My flight leaves on May 12, oops, May 13.", "on May 13, 2026."),
        ("The wedding is on 14 August, no, 15 August.", "on August 15, 2026."),
        ("I'm getting married on the 5th of June, no, 6th of June.", "on June 6, 2026."),
        ("I play golf every Tuesday, scratch that, every Wednesday.", "golf every Wednesday."),
        ("My appointment is at 3pm, strike that, 4pm.", "at 4pm."),
        ("We meet at noon, sorry, at one.", "at one."),
    ],
)  # fmt: skip
def test_a_date_gives_way_to_the_date_meant(said: str, meant: str) -> None:
    (found,) = told(f"user: {said}")
    assert found.endswith(meant)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My dad is a teacher, no surprise there.", "Dana's dad is a teacher, no surprise there."),
        ("I have no siblings, no pets, no car.", "Dana has no siblings, no pets, no car."),
        ("I drink coffee, no sugar.", "Dana drinks coffee, no sugar."),
        ("I work in Oslo, I mean it is a nice city.", "Dana works in Oslo."),
        ("My sister lives in Turku. Sorry, I have to go.", "Dana's sister lives in Turku."),
        ("I work at Heron. Wait, that's wrong. I work at Petrel.", "Dana works at Petrel."),
    ],
)
def test_what_puts_nothing_right_changes_nothing(said: str, kept: str) -> None:
    assert told(f"user: {said}") == [kept]


@pytest.mark.parametrize(
    ("said", "then", "meant"),
    [
        ("My exam is on May 5.", "Scratch that, May 6.", "Dana's exam is on May 6, 2026."),
        ("My exam is on May 5.", "Scratch that, it's May 6.", "Dana's exam is on May 6, 2026."),
        ("My exam is on May 5.", "Scratch that. It's May 6.", "Dana's exam is on May 6, 2026."),
        ("My exam is on May 5.", "Forget what I said, May 6.", "Dana's exam is on May 6, 2026."),
        ("My shoe size is 42.", "forget that, it's 43", "Dana's shoe size is 43."),
        ("My rent is 800 euros.", "Never mind that, it's 850 euros.", "Dana's rent is 850 euros."),
        ("I take the bus to work.", "Forget what I said, the tram.",
         "Dana takes the tram to work."),
        ("My dad is a plumber.", "Disregard my last message, he's a teacher.",
         "Dana's dad is a teacher."),
        ("My sister is called Mia.", "Ignore that, her name is Pia.",
         "Dana's sister's name is Pia."),
        ("I live in Turku.", "Scratch that, I live in Tampere.", "Dana lives in Tampere."),
    ],
)  # fmt: skip
def test_what_is_said_instead_stands(said: str, then: str, meant: str) -> None:
    assert told(f"user: {said}", "assistant: Noted.", f"user: {then}") == [meant]
    assert told(f"user: {said} {then}") == [meant]


@pytest.mark.parametrize(
    "then",
    ["Scratch that, please.", "Scratch that, sorry.", "Forget what I said, thanks.",
     "Forget that, it's too expensive.", "Forget what I said, I was drunk."],
)  # fmt: skip
def test_what_is_taken_back_without_a_value_is_gone(then: str) -> None:
    found = told("user: I'm moving to Rome on May 5.", "assistant: Ok.", f"user: {then}")
    assert not [each for each in found if "Rome" in each or "May" in each]
