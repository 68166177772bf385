"""Whom a stated memory is by or about."""

from __future__ import annotations

import pytest

from memory.domain.talk import people_of

OTTO = ("Otto Kim", "u-12")


@pytest.mark.parametrize(
    "text", ["Otto broke a wrist in Oslo.", "I'm left-handed.", "Mia is a doctor.", "好的"]
)
def test_what_nobody_says_is_about_its_user(text: str) -> None:
    assert people_of(text, user=OTTO) == ("Otto Kim",)


def test_who_says_it_goes_before_whose_it_is() -> None:
    assert people_of("I am allergic.", speakers=["", "Lee"], user=OTTO) == ("Lee",)
    assert people_of("Nina: I am allergic.", speakers=["Lee"], user=OTTO) == ("Nina", "Lee")


def test_a_label_may_be_a_speaker_or_a_heading() -> None:
    assert people_of("Nina: I am allergic to walnuts.", user=OTTO) == ("Nina", "Otto Kim")
    assert people_of("Allergy: shellfish.", user=OTTO) == ("Allergy", "Otto Kim")


def test_without_a_user_only_who_says_it_is_known() -> None:
    assert people_of("Otto is tall.") == ()
    assert people_of("Otto: I am tall.") == ("Otto",)
