"""The work of the extractor grows no faster than what it reads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.fallback.extraction.grammar import tokens_of
from memory.fallback.extractor import RulesExtractor

from .conversation import DANA, talk

PATTERNS = (
    "May 5, ", "May 5. ", "I live in Ghent. ", "and I ", "she said ", "not March 5, ", '"a ',
    "(((", "a? ",
    "Sorry, 3, not 4. ", "my sister Ulla, ", "if when ", "->", "I'm a nurse, I run, ",
    "\n- x", "Anna Anna ",
)  # fmt: skip


def calls(work: Callable[[], object]) -> int:
    """How many Python functions run while `work` does."""
    count = 0

    def counted(frame: FrameType, event: str, _: Any) -> None:  # Any: depends on the event
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def work_on(text: str) -> int:
    tokens_of.cache_clear()
    messages = talk(f"user: {text}")
    extractor = RulesExtractor()
    return calls(lambda: extractor.extract(messages=messages, context=[], participants=DANA))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_four_times_the_length_takes_about_four_times_the_work(pattern: str) -> None:
    work_on("I live in Ghent and work at Acme. ")
    short = work_on(pattern * (4_000 // len(pattern)))
    long = work_on(pattern * (16_000 // len(pattern)))

    assert long <= 6 * short + 20_000


@settings(max_examples=10, deadline=None)
@given(parts=st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3))
def test_no_mixture_of_patterns_takes_more(parts: list[str]) -> None:
    pattern = "".join(parts)
    short = work_on(pattern * (4_000 // len(pattern)))
    long = work_on(pattern * (16_000 // len(pattern)))

    assert long <= 6 * short + 20_000
