"""Lines of a prompt: each memory is one line, whatever its text holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.rendering import (
    SECTIONS,
    Line,
    Opposite,
    line_tokens,
    one_line,
    render,
    section_tokens,
)
from memory.domain.tokens import estimate_tokens
from memory.domain.types import MemoryType, Status

FEB_9 = datetime(2026, 2, 9, 9, 4, tzinfo=UTC)
TEXTS = st.text(max_size=60)
LINES = st.builds(
    Line,
    content=TEXTS,
    memory_type=st.sampled_from(list(MemoryType)),
    importance=st.integers(1, 10),
    confidence=st.floats(0, 1),
    at=st.datetimes(timezones=st.just(UTC)),
    status=st.sampled_from([status.value for status in Status]),
    category=st.sampled_from(["", "preferences", "decision"]),
    subject=st.sampled_from(["", "user.preference.drink", "user.city"]),
    succeeded=st.integers(0, 9),
    failed=st.integers(0, 9),
    opposites=st.lists(
        st.builds(Opposite, TEXTS, st.datetimes(timezones=st.just(UTC))), max_size=2
    ).map(tuple),
)


def line(content: str = "Words.", kind: MemoryType = MemoryType.SEMANTIC, **fields: Any) -> Line:
    """A line with what a test cares about."""
    values: dict[str, Any] = {
        "importance": 7,
        "confidence": 1.0,
        "at": FEB_9,
        "status": "active",
        **fields,
    }
    return Line(content=content, memory_type=kind, **values)


@pytest.mark.parametrize(
    ("given_line", "section", "expected"),
    [
        (line(kind=MemoryType.IDENTITY), "## Your Identity", "[IDENTITY]: Words."),
        (line(kind=MemoryType.USER_PROFILE), "## About This User", "[USER-PROFILE]: Words."),
        (line(kind=MemoryType.INSIGHT), "## About This User", "[INSIGHT]: Words."),
        (line(), "## What You Know (Facts)", "[FACT]: Words. (importance: 7)"),
        (
            line(confidence=0.8),
            "## What You Know (Facts)",
            "[FACT]: Words. (importance: 7, confidence: 0.8)",
        ),
        (line(category="preferences"), "## About This User", "[PREFERENCE]: Words."),
        (
            line(subject="user.preference.drink"),
            "## About This User",
            "[PREFERENCE]: Words.",
        ),
        (line(kind=MemoryType.EPISODIC), "## Recent Events", "[EVENT 2026-02-09]: Words."),
        (line(kind=MemoryType.PROCEDURAL), "## Learned Patterns", "[PATTERN]: Words."),
        (
            line(kind=MemoryType.PROCEDURAL, succeeded=3, failed=1),
            "## Learned Patterns",
            "[PATTERN]: Words. (75% success, 4 uses)",
        ),
        (line(kind=MemoryType.SHARED), "## Team Knowledge", "[TEAM]: Words."),
        (
            line(kind=MemoryType.AGENT_PRIVATE),
            "## What You Know (Facts)",
            "[NOTE]: Words. (importance: 7)",
        ),
        (
            line(status="disputed", opposites=(Opposite("Other\nwords.", FEB_9),)),
            "## What You Know (Facts)",
            '[FACT DISPUTED]: Words. (importance: 7) (contradicts: "Other words."'
            " from Feb 9, 2026)",
        ),
    ],
)
def test_each_kind_has_its_heading_and_form(given_line: Line, section: str, expected: str) -> None:
    assert (given_line.section, given_line.render()) == (section, expected)


@given(LINES)
def test_a_memory_is_always_one_line_that_begins_with_its_label(each: Line) -> None:
    rendered = each.render()

    assert len(rendered.splitlines()) == 1
    assert rendered.startswith("[")
    assert not rendered.startswith("##")


@given(st.lists(LINES, max_size=8))
def test_a_prompt_has_no_lines_but_headings_and_memories(lines: list[Line]) -> None:
    prompt = render((each.section, each.render()) for each in lines)

    shown = [each for each in prompt.splitlines() if each]
    headings = [each for each in shown if each.startswith("##")]
    assert len(shown) - len(headings) == len(lines)
    assert headings == [each for each in SECTIONS if each in {one.section for one in lines}]


@given(st.lists(LINES, max_size=8))
def test_the_parts_cover_the_tokens_of_the_whole(lines: list[Line]) -> None:
    pairs = [(each.section, each.render()) for each in lines]

    parts = sum(line_tokens(text) for _, text in pairs) + sum(
        section_tokens(section) for section in {section for section, _ in pairs}
    )

    assert estimate_tokens(render(pairs)) <= parts


@given(TEXTS)
def test_one_line_is_stable_and_printable(text: str) -> None:
    line_of = one_line(text)

    assert one_line(line_of) == line_of
    assert line_of == "" or line_of.isprintable()


def test_readable_words_are_kept_as_they_are() -> None:
    assert one_line("Café — 日本語 🎉 (née O'Neill)") == "Café — 日本語 🎉 (née O'Neill)"


def test_no_memories_make_no_prompt() -> None:
    assert render([]) == ""
