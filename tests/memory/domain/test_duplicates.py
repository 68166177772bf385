"""Which lines say the same, and which only sound alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.differences import plain_saying, said_saying, saying
from memory.domain.rendering import Opposite, Quote, SaidLine
from memory.domain.types import MemoryType
from tests.support.prompt_lines import FEB_9, line


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sarah prefers TypeScript.", "sarah  prefers typescript"),
        ("The port is “5432”!", "The port is 5432"),
        ("Straße", "STRASSE"),
    ],
)
def test_case_spacing_and_punctuation_say_nothing(one: str, other: str) -> None:
    assert saying(line(one)) == saying(line(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 5432.", "The port is 5433."),
        ("Sarah eats meat.", "Sarah eats no meat."),
        ("Today Sarah called Dmitri.", "Today Dmitri called Sarah."),
        ("The build uses C.", "The build uses C++."),
        ("The team uses PostgreSQL.", "Team uses PostgreSQL."),
        ("Nina has 2 cats.", "Nina has two cats."),
    ],
)
def test_whatever_differs_in_a_word_is_shown(one: str, other: str) -> None:
    assert saying(line(one)) != saying(line(other))


def test_a_statement_is_the_same_whatever_it_is_filed_as() -> None:
    text = "Sarah likes tea."
    kinds = ("AGENT_PRIVATE", "SHARED", "USER_PROFILE", "INSIGHT")
    preference = line(text, category="preferences")

    assert {saying(line(text, MemoryType[kind])) for kind in kinds} == {saying(line(text))}
    assert saying(preference) == saying(line(text))


@pytest.mark.parametrize("kind", [MemoryType.IDENTITY, MemoryType.PROCEDURAL, MemoryType.EPISODIC])
def test_what_an_agent_is_does_or_saw_is_another_statement(kind: MemoryType) -> None:
    assert saying(line("Uses Redis.", kind)) != saying(line("Uses Redis."))


def test_what_is_past_is_not_what_stands() -> None:
    text = "Sarah lives in Berlin."
    lines = [line(text, status=status) for status in ("active", "superseded", "archived")]

    assert len({saying(each) for each in lines}) == 3


def test_a_message_says_what_a_memory_in_the_same_words_says() -> None:
    said = SaidLine("the deadline is on March 15", "Sarah", FEB_9)
    known = line("The deadline is on March 15.")

    assert plain_saying(said) == saying(known)
    assert plain_saying(said) != saying(line(known.content, status="disputed"))


@pytest.mark.parametrize("kind", [MemoryType.SEMANTIC, MemoryType.EPISODIC])
def test_a_quote_is_one_of_its_speaker_and_day(kind: MemoryType) -> None:
    text = "I prefer tea."
    said = SaidLine(text, "Sarah", FEB_9)
    quotes = [
        line(text, kind, quote=Quote(name, at))
        for name in ("Sarah", "Omar")
        for at in (FEB_9, FEB_9.replace(day=10))
    ]

    assert len({saying(each) for each in (*quotes, line(text, kind))}) == 5
    assert said_saying(said) == saying(quotes[0])
    assert said_saying(said) not in {saying(each) for each in quotes[1:]}
    disputed = line(text, kind, status="disputed", quote=Quote("Sarah", FEB_9))
    assert said_saying(said) != saying(disputed)


def test_kinds_days_and_disputes_tell_lines_apart() -> None:
    text = "Sarah went running."
    event = line(text, MemoryType.EPISODIC, happened_at=FEB_9)

    assert saying(event) != saying(line(text))
    assert saying(event) != saying(
        line(text, MemoryType.EPISODIC, happened_at=FEB_9.replace(day=10))
    )
    assert saying(event) == saying(
        line(text, MemoryType.EPISODIC, happened_at=FEB_9.replace(hour=1))
    )
    assert saying(line(text)) != saying(line(text, opposites=(Opposite("No.", FEB_9),)))


@given(st.text(max_size=30), st.integers(0, 9), st.integers(0, 9))
def test_another_number_is_always_another_statement(text: str, one: int, other: int) -> None:
    same = saying(line(f"{text} {one}")) == saying(line(f"{text} {other}"))

    assert same == (one == other)
