"""What the judge reads as numbers, amounts, dates, times and rates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.fallback.judgement.values import Kind, Value, read_values
from memory.fallback.lexicon import word_set
from memory.fallback.tokens import tokenize


def values(text: str) -> list[Value]:
    tokens = tokenize(text)
    content = [token.is_word and token.lower not in word_set("function_words") for token in tokens]
    return list(read_values(tokens, content))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 9:15", "at a quarter past nine"),
        ("on 12 May", "on May 12th"),
        ("on the 12th of May", "on 12 May"),
        ("every two weeks", "fortnightly"),
        ("twice a week", "two times a week"),
        ("for 90 minutes", "for one and a half hours"),
        ("2,500 euros", "two thousand five hundred euros"),
        ("half past two", "2:30"),
        ("3 pm", "15:00"),
        ("5 kg", "5,000 grams"),
        ("a dozen eggs", "twelve eggs"),
    ],
)
def test_two_ways_to_say_one_value(one: str, other: str) -> None:
    first, second = values(one), values(other)

    assert len(first) == len(second) == 1
    assert first[0].equals(second[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 days", "14 days"),
        ("5 kg", "5 km"),
        ("Room 204", "204 rooms"),
        ("in May", "5 times"),
        ("on 24 December", "on 25 December"),
        ("in 2024", "in 2025"),
        ("at 17:40", "at 17:41"),
    ],
)
def test_other_values_and_other_kinds_are_not_one(one: str, other: str) -> None:
    assert not values(one)[0].equals(values(other)[0])


@given(st.integers(2_100, 99_999), st.sampled_from(["port {}", "{} euros", "{} seats"]))
def test_neighbouring_figures_are_two_values(figure: int, phrase: str) -> None:
    first, second = values(phrase.format(figure)), values(phrase.format(figure + 1))

    assert len(first) == len(second) == 1
    assert not first[0].equals(second[0])


def test_a_number_behind_a_name_names_and_before_a_noun_counts() -> None:
    kinds = [(value.kind, value.head) for value in values("Room 204 seats 12 people.")]

    assert kinds == [(Kind.IDENTIFIER, "room"), (Kind.COUNT, "peopl")]


def test_long_numbers_that_differ_in_one_digit_are_two_values() -> None:
    first, second = values("call 420777123456"), values("call 420777123457")

    assert not first[0].equals(second[0])
