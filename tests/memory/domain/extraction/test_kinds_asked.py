"""An answer that names one of a kind is told as its kind is told, and of whom it was asked."""

from __future__ import annotations

import pytest

from .conversation import both_passes


def told(*lines: str) -> list[str]:
    return [candidate.content for candidate in both_passes(*lines)]


@pytest.mark.parametrize(
    ("asked", "answer", "meant"),
    [
        ("Do you have any allergies?", "Yes, bee stings.", "Dana is allergic to bee stings."),
        ("Any allergies I should know of?", "Yes, penicillin.", "Dana is allergic to penicillin."),
        ("Any allergies or intolerances?", "Just peanuts.", "Dana is allergic to peanuts."),
        ("Do you have any food intolerances?", "Lactose.", "Dana is intolerant to lactose."),
        ("Do you take any medication?", "Yes, ibuprofen.", "Dana takes ibuprofen."),
        ("Are you taking any medication?", "Metformin and aspirin.",
         "Dana takes metformin and aspirin."),
        ("Any pets?", "Yes, two cats.", "Dana has two cats."),
        ("Do you have any health conditions?", "Yes, asthma.", "Dana has asthma."),
        ("Do you have any phobias?", "Yes, spiders.", "Dana is afraid of spiders."),
        ("What are your hobbies?", "Knitting and chess.",
         "Dana's hobbies are knitting and chess."),
        ("Do you have any dietary requirements?", "Vegan.", "Dana is vegan."),
        ("Do you do any sports?", "Yes, badminton.", "Dana does badminton."),
        ("Does your son have any allergies?", "Yes, eggs.", "Dana's son is allergic to eggs."),
        ("Do you play any instruments?", "Yes, piano.", "Dana plays piano."),
        # What is left out in front is no part of a name, and "only" with a season stays.
        ("Any pets?", "Two dogs, Maxwell and Rex.", "Dana has two dogs, Maxwell and Rex."),
        ("Any allergies?", "Pollen, but only in spring.",
         "Dana is allergic to pollen, but only in spring."),
        ("Do you have pets?", "A tortoise called Speedy.", "Dana has a tortoise called Speedy."),
        ("Any siblings?", "Two, Maxwell and Ida.", "Dana has two siblings, Maxwell and Ida."),
        ("Do you have kids?", "Three.", "Dana has three kids."),
        ("Any pets?", "Bruno, a beagle.", "Dana has Bruno, a beagle."),
        ("Any allergies?", "Severe peanut allergy.", "Dana has a severe peanut allergy."),
        ("Any phobias?", "Scared of dogs.", "Dana is scared of dogs."),
        # What one is, and does not have.
        ("Any chronic conditions?", "Diabetic.", "Dana is diabetic."),
        ("Any phobias?", "Afraid of spiders.", "Dana is afraid of spiders."),
        ("Any health problems?", "Healthy.", "Dana is healthy."),
        # Of something else, or how often it is so.
        ("Do you have kids?", "Yes, in college.", "Dana has kids, in college."),
        ("Is your son ill?", "Every winter.", "Dana's son is ill, every winter."),
        # Nothing is named, or it is told whole.
        ("Do you have any kids?", "No.", "Dana does not have any kids."),
        ("Do you have any allergies?", "Nope, but my son is allergic to nuts.",
         "Dana's son is allergic to nuts."),
    ],
)  # fmt: skip
def test_an_answer_is_told_as_its_kind_is(asked: str, answer: str, meant: str) -> None:
    found = both_passes(f"assistant: {asked}", f"user: {answer}")
    assert [candidate.content for candidate in found] == [meant]
    assert found[0].message_ids[0].int == 2


@pytest.mark.parametrize("answer", ["Yes, a girl.", "One boy.", "Twins.", "Two, Leo and Mia."])
def test_whom_one_has_at_home_is_filed_as_the_household(answer: str) -> None:
    (found,) = both_passes("assistant: Do you have kids?", f"user: {answer}")
    assert found.subject == "user.profile.household"


@pytest.mark.parametrize("answer", ["Yes.", "Yes, a few.", "Not that I know of.", "Sometimes."])
def test_an_answer_that_names_nothing_tells_nothing(answer: str) -> None:
    assert told("assistant: Do you have any allergies?", f"user: {answer}") == []


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Do you have siblings?", "Only child."),
        ("Any kids?", "Just married."),
        ("Any kids?", "Expecting."),
        ("Do you have children?", "On the way."),
        ("Do you have any allergies?", "In the past."),
        ("Do you have any allergies?", "Under investigation."),
        ("Any allergies?", "Unsure."),
        ("Any diagnosis?", "Pending."),
        ("Any fears?", "About money."),
        ("Any hobbies?", "Too busy."),
        ("Do you have pets?", "Against the lease."),
    ],
)
def test_what_is_no_thing_is_not_filled_in(asked: str, answer: str) -> None:
    assert told(f"assistant: {asked}", f"user: {answer}") == []


@pytest.mark.parametrize(
    ("asked", "answer", "never"),
    [
        ("Any pets?", "A cat, adjust the portions please.", "Dana has"),
        ("Any allergies?", "As a child.", "allergic to"),
        ("Any allergies?", "Waiting for the test.", "allergic to"),
        ("Any medication?", "In the morning.", "Dana takes"),
        ("Any medication?", "Daily.", "Dana takes"),
        ("Do you do any sports?", "In winter.", "Dana does in"),
        ("Do you have a pet?", "Every weekend, my sister's dog.", "Dana has every"),
    ],
)
def test_an_answer_beside_the_question_keeps_its_own_words(
    asked: str, answer: str, never: str
) -> None:
    assert not [each for each in told(f"assistant: {asked}", f"user: {answer}") if never in each]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("My teacher is from Malta. Her name is Josefa.", "Dana's teacher's name is Josefa."),
        ("My best friend is from Ghana. His name is Kofi.",
         "Dana's best friend's name is Kofi."),
        ("My dog is from a shelter in Romania. His name is Bobo.", "Dana's dog's name is Bobo."),
        ("My colleague just moved here from Chile. His name is Pablo.",
         "Dana's colleague's name is Pablo."),
        ("I have a new tutor from Vietnam. Her name's Linh.", "The tutor's name is Linh."),
        ("I met a girl from Sweden. Her name is Elin.", "The girl from Sweden's name is Elin."),
    ],
)  # fmt: skip
def test_where_somebody_is_from_is_not_who_they_are(said: str, named: str) -> None:
    assert told(f"user: {said}")[1] == named
