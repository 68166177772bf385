"""Number words and holidays."""

from __future__ import annotations

import pytest

from memory.domain.text.calendar import days_from, holiday_span, midnight
from memory.domain.text.words import number_value, ordinal_value


@pytest.mark.parametrize(
    ("word", "value"), [("seven", 7), ("42", 42), ("twenty-three", 23), ("x", None), ("-", None)]
)
def test_a_number_word_has_its_value(word: str, value: int | None) -> None:
    assert number_value(word) == value


def test_an_ordinal_has_its_value() -> None:
    assert [ordinal_value(word) for word in ("third", "twenty-first", "three")] == [3, 21, None]


def test_a_holiday_falls_on_its_day() -> None:
    assert holiday_span("easter sunday", 2026) == days_from(midnight(2026, 4, 5))
    assert holiday_span("thanksgiving", 2024) == days_from(midnight(2024, 11, 28), 2)
