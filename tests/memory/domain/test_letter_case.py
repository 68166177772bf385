"""Which capitals make another thing of the same words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.judgements import differs_in_case


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Files have up to 5 MB.", "Files have up to 5 Mb."),
        ("Files have up to 5MB.", "Files have up to 5Mb."),
        ("The plant makes 5 mW.", "The plant makes 5 MW."),
        ("We serve US customers.", "we serve us customers"),
        ("US customers pay.", "Us customers pay."),
        ("IT is slow.", "It is slow."),
        ("Sarah calls Mark.", "Sarah calls mark."),
        ("The bank uses SWIFT.", "The bank uses Swift."),
    ],
)
def test_a_name_a_short_word_and_a_unit_are_others(one: str, other: str) -> None:
    assert differs_in_case(one, other)
    assert differs_in_case(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sarah prefers TypeScript.", "sarah prefers TypeScript"),
        ("Sarah prefers TypeScript.", "Sarah prefers typescript."),
        ("Sarah prefers TypeScript.", "Sarah prefers Typescript."),
        ("Sarah drinks TEA and NOT coffee.", "Sarah drinks tea and not coffee."),
        ("Sarah lives in Berlin.", "sarah LIVES in  berlin"),
        ("Omar lives in Berlin.", "omar lives in berlin"),
        ("The deadline is Friday.", "THE DEADLINE IS FRIDAY"),
        ("Lunch is at 1 PM.", "Lunch is at 1 pm."),
        ("The parcel weighs 5 KG.", "The parcel weighs 5 kg."),
        ("The parcel has 5 KB.", "The parcel has 5 kB."),
        ("Files have up to 5 MB.", "Files have up to 5 mb."),
        ("Sarah calls Mark.", "Sarah calls Mark and Omar."),
    ],
)
def test_other_capitals_say_nothing(one: str, other: str) -> None:
    assert not differs_in_case(one, other)
    assert not differs_in_case(other, one)


@given(st.text(max_size=40))
def test_a_text_is_never_another_than_itself_in_capitals(text: str) -> None:
    assert not differs_in_case(text, text)
    assert not differs_in_case(text, text.upper()) or not text.upper().isupper()
