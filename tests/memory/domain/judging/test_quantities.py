"""Numbers, units, dates and times as the judge reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.judging.pairs.sameness import comparable, equal
from memory.domain.judging.reading.quantities import Quantity, find_quantities
from memory.domain.judging.reading.tokens import tokenize


def only(text: str) -> Quantity:
    (quantity,) = find_quantities(tokenize(text))
    return quantity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("two hundred and fifty ml", "250 ml"),
        ("half an hour", "30 minutes"),
        ("an hour and a half", "90 min"),
        ("a quarter of a second", "250 ms"),
        ("$12,000", "12k dollars"),
        ("half a million euros", "EUR 500,000"),
        ("quarter past nine", "9:15"),
        ("6 pm", "18:00"),
        ("four in the afternoon", "16:00"),
        ("May 4th, 2026", "2026-05-04"),
        ("the fourth of May", "4 May"),
        ("twice a day", "2 times per day"),
        ("every other week", "fortnightly"),
        ("60 requests per minute", "one request per second"),
        ("1.2 tonnes", "1,200 kg"),
        ("six feet", "183 cm"),
        ("16 kilometres", "ten miles"),
        ("50 m", "50 metres"),
        ("at nine", "9 pm"),
        ("two cubic metres", "2,000 litres"),
        ("half a million square metres", "0.5 million m²"),
        ("30 degrees Celsius", "thirty degrees"),
        ("half of the crew", "50 %"),
        ("three quarters of the crew", "75 percent"),
        ("one in five guests", "20 %"),
        ("four hours and twenty minutes", "260 minutes"),
        ("once a night", "nightly"),
        ("a report a month", "monthly"),
        ("New Year's Eve", "31 December"),
        ("end of the year", "December 31"),
        ("end of June", "30 June"),
        ("class IV", "class 4"),
        ("1.5 litres per minute", "1,500 ml/min"),
    ],
)
def test_one_quantity_in_two_forms_is_equal(one: str, other: str) -> None:
    a, b = only(one), only(other)

    assert comparable(a, b)
    assert equal(a, b)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 May", "4 May"),
        ("Monday", "Tuesday"),
        ("EUR 40", "EUR 41"),
        ("24 months", "36 months"),
        ("10:00", "22:00"),
        ("99.9 %", "99.5 %"),
        ("version 3", "version 4"),
    ],
)
def test_two_values_of_one_dimension_differ(one: str, other: str) -> None:
    a, b = only(one), only(other)

    assert comparable(a, b)
    assert not equal(a, b)


@pytest.mark.parametrize(
    ("one", "other"), [("EUR 40", "40 kg"), ("port 80", "room 80"), ("EUR 5", "USD 5")]
)
def test_values_of_two_dimensions_are_not_compared(one: str, other: str) -> None:
    assert not comparable(only(one), only(other))


def test_a_date_agrees_with_its_weekday() -> None:
    date, weekday = only("2026-02-13"), only("Friday")

    assert comparable(date, weekday)
    assert equal(date, weekday)


@given(st.integers(0, 999_999), st.sampled_from(["kg", "EUR", "minutes", "MB", "%"]))
def test_thousands_separators_do_not_change_a_value(number: int, unit: str) -> None:
    assert equal(only(f"{number:,} {unit}"), only(f"{number} {unit}"))


@given(st.text(max_size=120), st.text(max_size=120))
def test_comparison_is_symmetric(one: str, other: str) -> None:
    for a in find_quantities(tokenize(one)):
        for b in find_quantities(tokenize(other)):
            assert comparable(a, b) == comparable(b, a)
            assert equal(a, b) == equal(b, a)


@pytest.mark.parametrize(
    ("one", "other"),
    [("six weeks", "a month and a half"), ("twice a month", "every two weeks")],
)
def test_weeks_and_months_convert_as_loosely_as_they_are_spoken(one: str, other: str) -> None:
    assert equal(only(one), only(other))


def test_every_night_is_nightly() -> None:
    assert equal(only("every night"), only("nightly"))


def test_a_result_is_one_value() -> None:
    assert comparable(only("3:1"), only("2:2"))
    assert not equal(only("3:1"), only("2:2"))


@pytest.mark.parametrize(
    ("one", "other"), [("room 4", "45 minutes"), ("six doors", "5 kg"), ("2010", "Sunday")]
)
def test_a_name_a_count_and_a_measure_are_not_compared(one: str, other: str) -> None:
    assert not comparable(only(one), only(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("49 minutes", "50 minutes"),
        ("9:00", "21:00"),
        ("9 am", "9 pm"),
        ("100 km", "102 km"),
    ],
)
def test_what_is_told_exactly_differs_by_little(one: str, other: str) -> None:
    assert comparable(only(one), only(other))
    assert not equal(only(one), only(other))


def test_so_many_a_month_are_no_months() -> None:
    assert only("400 a month").kind == "frequency"
    assert only("half a year").kind == "duration"
