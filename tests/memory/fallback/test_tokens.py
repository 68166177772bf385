"""The tokenizer: places in the text, parts of words, and work in proportion to the text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.fallback.lexicon import marks, word_set
from memory.fallback.naming import name_flags
from memory.fallback.tokens import MAX_CHARS, tokenize

REPEATED = [
    "May 5, ", "a", "a.", "'s", "-", "n't", "1,", "1:", "&", "aA", "http://", "\n", "x-", "1-",
    "is not open, ", "no longer ", "twenty ", "thousand ", "every other ",
]  # fmt: skip


@given(st.text(max_size=200))
def test_each_token_stands_where_it_says(text: str) -> None:
    tokens = tokenize(text)

    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert all(a.end <= b.start for a, b in pairwise(tokens))


@given(st.text(max_size=200))
def test_nothing_is_lost_but_space_and_joining_hyphens(text: str) -> None:
    covered = {place for token in tokenize(text) for place in range(token.start, token.end)}

    assert all(char.isspace() or char == "-" or i in covered for i, char in enumerate(text))


@pytest.mark.parametrize("pattern", REPEATED)
def test_a_repeated_pattern_makes_no_more_tokens_than_characters(pattern: str) -> None:
    text = (pattern * MAX_CHARS)[: 2 * MAX_CHARS]

    tokens = tokenize(text)

    assert len(tokens) <= MAX_CHARS
    assert sum(token.end - token.start for token in tokens) <= MAX_CHARS


def test_contractions_and_hyphens_are_taken_apart() -> None:
    lower = [token.lower for token in tokenize("It can't re-open, won't it? I cannot.")]

    assert lower == ["it", "can", "not", "re", "open", ",", "will", "not", "it", "?", "i", "can",
                     "not", "."]  # fmt: skip


def test_numbers_keep_their_signs() -> None:
    texts = [token.text for token in tokenize("On 2026-10-09 at 9:15, 1,200.50 euros for 3kg.")]

    assert texts == ["On", "2026-10-09", "at", "9:15", ",", "1,200.50", "euros", "for", "3", "kg",
                     "."]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Henrik is the head of sales.", {"Henrik"}),
        ("Coffee is ready.", set()),
        ("The team of Henrik moved to Oslo.", {"Henrik", "Oslo"}),
        ("Marta's sister likes iOS.", {"Marta", "iOS"}),
    ],
)
def test_names_are_known_also_where_a_sentence_begins(text: str, names: set[str]) -> None:
    tokens = tokenize(text)

    flags = name_flags(tokens)

    assert {token.text for token, is_name in zip(tokens, flags, strict=True) if is_name} == names


def test_phrases_of_a_table_are_found_by_their_stems() -> None:
    tokens = tokenize("The shop was locked up and is open again.")

    found = {(mark.table, tokens[mark.start].text) for mark in marks(tokens, names=["opposites"])}

    assert {("opposites", "locked"), ("opposites", "open")} <= found
    assert "not" in word_set("negators")
