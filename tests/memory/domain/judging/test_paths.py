"""Which subject paths are evidence of what two statements are about."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.judging.hearing import EXTRACTED, STATED, Bar, hearing_on
from memory.domain.judging.paths import as_compared, is_specific
from memory.domain.types import Statement

AT = datetime(2026, 5, 1, tzinfo=UTC)
KINDS = ("fact", "event", "activity", "convention", "requirement", "task", "schedule", "incident")
leaves = st.text(alphabet="abcdefg_0123456789", min_size=1, max_size=20)
made_up = st.builds(lambda kind, leaf: f"{kind}.{leaf}", st.sampled_from(KINDS), leaves)


def statement(content: str, subject: str) -> Statement:
    return Statement(content, AT, subject)


@given(made_up, made_up, st.sampled_from([STATED, EXTRACTED]))
def test_two_paths_made_of_the_words_have_no_say(one: str, other: str, bar: Bar) -> None:
    old, new = "The standup is at 9:30.", "The standup is at 10:00 now."
    if one == other:
        other += "x"

    first, second = as_compared(statement(old, one), statement(new, other))

    assert (first, second) == (statement(old, ""), statement(new, ""))
    heard = hearing_on(existing=first, new=second, similarity=0.86, anchor=0.3, bar=bar)
    assert heard is not None
    assert heard.contradiction is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("user.profile.city", "user.profile.city"),
        ("user.preference.editor", "user.preference.language"),
        ("project.atlas.deadline", "project.atlas.owner"),
        ("schedule.standup", "schedule.standup"),
    ],
)
def test_paths_that_name_a_matter_are_evidence(one: str, other: str) -> None:
    first, second = as_compared(statement("One.", one), statement("Two.", other))

    assert (first.subject, second.subject) == (one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fact.shared", "fact.shared"),
        ("project.atlas.fact", "project.atlas.deadline"),
        ("user.profile.city", "event.moved_to_bristol"),
        ("user", "user.profile.city"),
        ("", "user.profile.city"),
    ],
)
def test_a_kind_of_memory_or_no_path_is_no_evidence(one: str, other: str) -> None:
    first, second = as_compared(statement("One.", one), statement("Two.", other))

    assert (first.subject, second.subject) == ("", "")


def test_one_kind_of_memory_is_no_specific_subject() -> None:
    assert not is_specific("fact.standup_9_30")
    assert not is_specific("general")
    assert is_specific("user.profile.city")
