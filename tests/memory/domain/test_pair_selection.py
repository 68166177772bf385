"""Which pairs a judge reads, whatever the language."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.judgements import as_compared, is_same_matter, is_specific, shared_words
from memory.domain.types import Statement

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def said(content: str, subject: str = "") -> Statement:
    return Statement(content, NOON, subject)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Die Datenbank Postgres läuft in Hamburg.", "Postgres läuft jetzt in Berlin."),
        ("La réunion a lieu à Lyon.", "La réunion aura lieu à Nantes."),
    ],
)
def test_words_of_other_languages_count_alike(one: str, other: str) -> None:
    assert shared_words(one, other) > 0.3


@given(st.text(max_size=200), st.text(max_size=200))
def test_shared_words_are_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    share = shared_words(one, other)

    assert 0.0 <= share <= 1.0
    assert share == shared_words(other, one)
    assert shared_words(one, one) in (0.0, 1.0)


def test_a_kind_of_memory_is_no_specific_subject() -> None:
    assert is_specific("user.preference.language")
    assert not any(is_specific(path) for path in ("", "user", "fact.standup", "user."))
    assert is_same_matter("a.b", "a.b")
    assert not is_same_matter("a.b", "a.c")
    assert not is_same_matter("fact.x", "fact.x")


def test_a_judge_is_told_subjects_only_where_both_name_a_matter() -> None:
    both = said("x", "user.city"), said("y", "user.home")
    one = said("x", "user.city"), said("y", "fact.y")

    assert as_compared(*both) == both
    assert [each.subject for each in as_compared(*one)] == ["", ""]
