"""Sentences end where they end, and nowhere else."""

from __future__ import annotations

import pytest

from memory.domain.extraction.language.sentences import split_sentences


@pytest.mark.parametrize(
    "whole",
    [
        "Ask Dr. Okafor about it.",
        "Version 3.11.2 costs 4.50 euros.",
        "See https://docs.example.org/a.b?c=1 for more.",
        'Translate "Is it far?" to Danish.',
        "We use tools such as grep, e.g. for logs.",
        "The shop opens at 9 a.m. on Mondays.",
        "He paid approx. 20 crowns.",
        "Hm... not today.",
    ],
)
def test_marks_inside_a_sentence_do_not_end_it(whole: str) -> None:
    assert split_sentences(whole) == [whole]


def test_sentences_and_lines_are_separated() -> None:
    assert split_sentences("One ends. Two follows! Is it three?\nFour 🎉 stays") == [
        "One ends.",
        "Two follows!",
        "Is it three?",
        "Four 🎉 stays",
    ]


def test_a_list_joins_its_heading() -> None:
    assert split_sentences("To deploy:\n1. build\n2. push\n3. tell Rolf") == [
        "To deploy: build, push, tell Rolf."
    ]


def test_bullets_without_a_heading_are_sentences() -> None:
    assert split_sentences("- first thing\n- second thing") == ["first thing", "second thing"]


def test_fenced_code_is_left_out() -> None:
    assert split_sentences("Before.\n```python\nx = 1. + 2.\n```\nAfter.") == ["Before.", "After."]
