"""A slip is put right only where a whole statement comes of it."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> list[str]:
    return [candidate.content for candidate in both_passes(*lines)]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        # A name gives way as a whole.
        ("The shop is in Hill Street. My mistake, Mill Street.", "The shop is in Mill Street."),
        ("The office is on King Street. My mistake, Queen Street.",
         "The office is on Queen Street."),
        ("I study at Bonn University. Correction, Köln University.",
         "Dana studies at Köln University."),
        ("My dentist is Dr. Amsel. I meant Dr. Drossel.", "Dana's dentist is Dr. Drossel."),
        ("My GP is Dr. Hall, no, Dr. Hill, in Park Road.", "Dana's GP is Dr. Hill, in Park Road."),
        ("My daughter Mia is on the third Percy Jackson, I mean the fourth one.",
         "Dana's daughter Mia is on the fourth Percy Jackson."),
        # What is said beside a figure or a name comes after the rest, in the place of its kind.
        ("My rent is 700 in Kiel, or rather 720 with heating.",
         "Dana's rent is 720 in Kiel with heating."),
        ("The trip takes 3 hours by train, or rather 4 with the ferry.",
         "The trip takes 4 hours by train with the ferry."),
        ("The dog weighs 12 kilos, or rather 13 since Christmas.",
         "The dog weighs 13 kilos since Christmas."),
        ("We are fourteen in the choir, or rather fifteen since Ole joined.",
         "The team is fifteen in the choir since Ole joined."),
        ("We run a real postgres 16 in CI. err 17 since last sprint.",
         "The team runs a real postgres 17 in CI since last sprint."),
        ("My blood pressure is 140 over 90, or rather 135 over 85 now.",
         "Dana's blood pressure is 135 over 85 now."),
        ("The rent is 700 with heating, no, 720 with heating.", "The rent is 720 with heating."),
        ("I read Dune by Herbert, no, Emma by Austen.", "Dana reads Emma by Austen."),
        ("I want to visit Rome, scratch that, Pisa with Ben.",
         "Dana wants to visit Pisa with Ben."),
        ("My flat is on the third floor, no, the fourth.", "Dana's flat is on the fourth floor."),
        ("My colleague Mr. Webb, sorry, Mr. Wood, is nice.", "Dana's colleague Mr. Wood is nice."),
        # What leans on what was said.
        ("My sister's boyfriend, no, her fiancé, is from Ghent.",
         "Dana's sister's fiancé is from Ghent."),
        ("My sister, no, her husband, is a judge.", "Dana's sister's husband is a judge."),
        ("I work with Paul, no, with his brother Kai.", "Dana works with Paul's brother Kai."),
        ("My sister lives in Bonn. I mean her husband.", "Dana's sister's husband lives in Bonn."),
        ("Two of my friends, no, three of them, live in Oslo.",
         "Three of Dana's friends live in Oslo."),
        ("Half of the rent, no, all of it, is paid by my firm.",
         "All of the rent is paid by Dana's firm."),
        ("My dad's car, no, my mum's, is a Saab.", "Dana's mum's car is a Saab."),
        ("My friend Ted, no, Ben, comes for dinner on Fridays.",
         "Dana's friend Ben comes for dinner on Fridays."),
        # How something is so takes the place of nothing.
        ("I work as a nurse, I mean usually, and on weekends I drive a taxi.",
         "Dana works as a nurse usually, and on weekends Dana drives a taxi."),
        ("I like my job, I mean really.", "Dana likes their job."),
    ],
)  # fmt: skip
def test_what_is_meant_fills_the_same_place(said: str, meant: str) -> None:
    assert told(f"user: {said}") == [meant]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I have a meeting at 9, make that clear to Tom.",
         "Dana has a meeting at 9, make that clear to Tom."),
        ("We moved from Kiel, or rather from near it, in 2019.",
         "The team moved from Kiel, or rather from near it, in 2019."),
        ("I'd rather stay in Leipzig or rather near it.",
         "Dana would rather stay in Leipzig or rather near it."),
        ("I go to St. Mary's School, no, St. John's School.",
         "Dana goes to St. Mary's School, no, St. John's School."),
    ],
)  # fmt: skip
def test_what_fits_nowhere_stays_as_it_was_said(said: str, kept: str) -> None:
    assert told(f"user: {said}") == [kept]


def test_where_somebody_is_from_is_kept_beside_how() -> None:
    found = told("user: I'm from Lima, I mean originally, and I live in Turin.")
    assert found == ["Dana is from Lima originally.", "Dana lives in Turin."]


@pytest.mark.parametrize(
    "said",
    [
        "My parents are bad cooks.",
        "My team are failing the audit.",
        "My tomatoes are failing again.",
    ],
)
def test_what_is_bad_or_failing_is_no_health_where_it_is_no_part_of_the_body(said: str) -> None:
    assert [each for each in both_passes(f"user: {said}") if "health" in each.subject] == []


@pytest.mark.parametrize(
    "said", ["My knees are bad.", "My lower back is weak.", "My hearing is failing."]
)
def test_what_is_bad_of_the_body_is_health(said: str) -> None:
    (found,) = both_passes(f"user: {said}")
    assert found.subject == "user.profile.health"


def test_somebody_whose_calling_is_told_is_no_topic_of_what_follows() -> None:
    found = told(
        "user: My sister Camille is a pharmacist in Nantes.",
        "user: Camille is a pharmacist and she runs her own shop.",
        "assistant: What's the parrot called?",
        "user: Captain!",
    )
    assert found[-1] == "The parrot is called Captain."
