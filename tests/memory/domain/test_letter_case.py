"""Which capitals make another thing of the same words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.letter_case import OtherCase, other_case


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("Files have up to 5 MB.", "Files have up to 5 Mb.", OtherCase("MB", "Mb", True)),
        ("Files have up to 5MB.", "Files have up to 5Mb.", OtherCase("5MB", "5Mb", True)),
        ("The plant makes 5 mW.", "The plant makes 5 MW.", OtherCase("mW", "MW", True)),
        ("We serve US customers.", "we serve us customers", OtherCase("US", "us", False)),
        ("US customers pay.", "Us customers pay.", OtherCase("US", "us", False)),
        ("IT is slow.", "It is slow.", OtherCase("IT", "it", False)),
        ("Sarah calls Mark.", "Sarah calls mark.", OtherCase("Mark", "mark", False)),
        ("The bank uses SWIFT.", "The bank uses Swift.", OtherCase("SWIFT", "Swift", False)),
    ],
)
def test_a_name_a_short_word_and_a_unit_are_others(one: str, other: str, found: OtherCase) -> None:
    assert other_case(one, other) == found
    assert other_case(other, one) == OtherCase(found.other, found.one, found.is_unit)


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
    assert other_case(one, other) is None
    assert other_case(other, one) is None


@given(st.text(max_size=40))
def test_a_text_is_never_another_than_itself_in_capitals(text: str) -> None:
    assert other_case(text, text) is None
    assert other_case(text, text.upper()) is None or not text.upper().isupper()
