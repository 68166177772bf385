"""Whatever a text repeats, reading it takes time that grows no faster than its length."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.growth import MOST, PATTERNS, Work, growth, paths, readers_of_text, repeated

FUNCTIONS = dict(readers_of_text())
# Dates, lists, brackets, marks, blanks, one word, names and a diary: those of the bugs there were.
SOME = ("May 5, ", "No, Tuesday. ", "I run Monday. ", "[(", "a", " ", "\n- x", "; ", "that ", "_",
        "<system>", "what? ", "Ann and Bob and ", PATTERNS[-1])  # fmt: skip


def test_the_sweep_finds_the_functions_that_read_text() -> None:
    assert len(FUNCTIONS) > 60
    assert "memory.domain.secrets.mask_secrets" in FUNCTIONS
    assert "memory.domain.text.words.split_sentences" in FUNCTIONS


@pytest.mark.parametrize("work", FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_each_function_that_reads_text_is_linear(work: Work) -> None:
    grown = {pattern: growth(work, pattern) for pattern in SOME}

    assert {pattern: found for pattern, found in grown.items() if found > MOST} == {}


@pytest.mark.parametrize("name", paths())
def test_each_path_of_messages_memories_and_questions_is_linear(name: str) -> None:
    grown = {pattern: growth(paths()[name], pattern) for pattern in SOME}

    assert {pattern: found for pattern, found in grown.items() if found > MOST} == {}


@settings(max_examples=examples(5))
@given(
    name=st.sampled_from(sorted(paths())),
    parts=st.lists(st.sampled_from(PATTERNS), min_size=2, max_size=4),
)
def test_no_mixture_of_patterns_takes_more(name: str, parts: list[str]) -> None:
    assert growth(paths()[name], "".join(parts)) <= MOST


def test_what_is_quadratic_is_noticed() -> None:
    asks = re.compile(r"[a-z ]*\?")

    assert growth(asks.findall, "word ") > MOST
    assert len(repeated("word ", 1_001)) == 1_001
