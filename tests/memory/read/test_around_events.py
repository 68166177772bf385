"""What is asked of the time around an event: the asked side first, and the nearer before others."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.clients.tools import Tools
from tests.support.cast import Cast
from tests.support.retrieval import ask, contents
from tests.support.writing import NOON
from tests.support.writing import store as remember

FAIR = "Mira stood at the fair."
LONG_BEFORE, BEFORE = "Mira mended the awning.", "Mira printed the flyers."
AFTER, LONG_AFTER = "Mira counted the takings.", "Mira bought a new van."


@pytest.fixture
def told(acme: Cast, tools: Tools) -> None:
    """Five things of one woman, the newest of today."""
    for days, content in (
        (95, LONG_BEFORE),
        (58, BEFORE),
        (50, FAIR),
        (46, AFTER),
        (0, LONG_AFTER),
    ):
        remember(acme, tools, content, created_at=NOON - timedelta(days=days))


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("side", ["before", "prior to", "ahead of", "leading up to", "until"])
def test_what_was_before_the_event_stands_before_what_was_after_it(
    acme: Cast, tools: Tools, side: str
) -> None:
    found = contents(ask(acme, tools, f"What did Mira do {side} the fair?"))

    assert [each for each in found if each != FAIR][:2] == [BEFORE, LONG_BEFORE]


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("side", ["after", "right after", "following", "since"])
def test_what_was_after_the_event_stands_before_what_was_before_it(
    acme: Cast, tools: Tools, side: str
) -> None:
    found = contents(ask(acme, tools, f"What did Mira do {side} the fair?"))

    assert [each for each in found if each != FAIR][:2] == [AFTER, LONG_AFTER]


@pytest.mark.usefixtures("told")
def test_without_an_event_the_newest_counts_more(acme: Cast, tools: Tools) -> None:
    found = ask(acme, tools, "What did Mira do?")

    recency = {each.memory.content: each.signals.recency for each in found.memories}
    assert recency[LONG_AFTER] == 1.0
    assert recency[LONG_BEFORE] < 0.01
