"""Splitting text into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.text.words import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Miller came at 3.30 p.m. and left.", ["Mr. Miller came at 3.30 p.m. and left."]),
        ("We use v2.1.3, e.g. here. Fine.", ["We use v2.1.3, e.g. here.", "Fine."]),
        ("See https://a.example/x.y?z=1. Then go.", ["See https://a.example/x.y?z=1.", "Then go."]),
        ("He asked “Where is it?” and left.", ["He asked “Where is it?” and left."]),
        ("Well... maybe. Yes", ["Well... maybe.", "Yes"]),
        ("Great! :) I come", ["Great! :)", "I come"]),
        ("We met on 3 Jan. She left.", ["We met on 3 Jan.", "She left."]),
        ("- milk\n- 2 eggs. Bread", ["milk", "2 eggs.", "Bread"]),
        ("Before\n```\ncode. here\n```\nafter", ["Before", "after"]),
        ("", []),
    ],
)
def test_text_is_split(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(st.text(alphabet="aB1 .!?…\n-*\"'():", max_size=120))
def test_sentences_are_in_the_text_in_order(text: str) -> None:
    place = 0
    for sentence in split_sentences(text):
        place = text.index(sentence, place) + len(sentence)


@given(st.text(max_size=200))
def test_every_letter_outside_code_is_in_a_sentence(text: str) -> None:
    text = text.replace("`", "")
    kept = "".join(split_sentences(text))

    assert [char for char in kept if char.isalpha()] == [char for char in text if char.isalpha()]
