"""Which lines say the same, and which only sound alike."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.duplicates import saying
from memory.domain.rendering import Line, Opposite
from memory.domain.types import MemoryType

FEB_9 = datetime(2026, 2, 9, 9, 4, tzinfo=UTC)


def line(content: str, kind: MemoryType = MemoryType.SEMANTIC, **fields: Any) -> Line:
    """A memory with what a test cares about."""
    values: dict[str, Any] = {"importance": 5, "confidence": 1, "at": FEB_9, "status": "active"}
    return Line(content=content, memory_type=kind, **{**values, **fields})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sarah prefers TypeScript.", "sarah prefers TypeScript"),
        ("The team uses PostgreSQL.", "Team uses the PostgreSQL!"),
        ("Users prefer the dark theme.", "User prefers the dark theme"),
        ("Sarah really likes  black coffee.", "Sarah likes black coffee."),
    ],
)
def test_the_same_words_say_the_same(one: str, other: str) -> None:
    assert saying(line(one)) == saying(line(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 5432.", "The port is 5433."),
        ("The deploy goes to Paris.", "The deploy goes to Berlin."),
        ("Sarah eats meat.", "Sarah eats no meat."),
        ("She can't come.", "She can come."),
        ("Turn the heater on.", "Turn the heater off."),
        ("Today Sarah called Dmitri.", "Today Dmitri called Sarah."),
        ("She speaks Polish.", "She speaks polish."),
        ("The test passed.", "The test failed."),
        ("Sarah lives in Berlin.", "Sarah's brother lives in Berlin."),
        ("The build uses C.", "The build uses C++."),
        ("Sarah was a manager.", "Sarah is a manager."),
        ("The class is full.", "The clas is full."),
    ],
)
def test_whatever_differs_is_shown(one: str, other: str) -> None:
    assert saying(line(one)) != saying(line(other))


def test_an_agents_own_copy_of_a_fact_is_the_same_fact() -> None:
    text = "The team uses PostgreSQL."

    assert saying(line(text)) == saying(line(text, MemoryType.AGENT_PRIVATE))


def test_kinds_days_and_disputes_tell_lines_apart() -> None:
    text = "Sarah went running."
    event = line(text, MemoryType.EPISODIC)

    assert saying(event) != saying(line(text))
    assert saying(event) != saying(line(text, MemoryType.EPISODIC, at=FEB_9.replace(day=10)))
    assert saying(event) == saying(line(text, MemoryType.EPISODIC, at=FEB_9.replace(hour=1)))
    assert saying(line(text)) != saying(line(text, opposites=(Opposite("No.", FEB_9),)))


@given(st.text(max_size=30), st.integers(0, 9), st.integers(0, 9))
def test_another_number_is_always_another_statement(text: str, one: int, other: int) -> None:
    same = saying(line(f"{text} {one}")) == saying(line(f"{text} {other}"))

    assert same == (one == other)
