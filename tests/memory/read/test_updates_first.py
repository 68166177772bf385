"""Of two statements on one matter the later one comes first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.reading.questions import Question
from memory.understanding.tools import Tools
from tests.support.cast import Cast
from tests.support.reading import search
from tests.support.writing import NOON, store

EARLIER = "The parking limit of the Utrecht depot is 40 vans."
LATER = "At the Utrecht depot the parking limit for vans has been 55."


def told(acme: Cast, tools: Tools, question: str, limit: int = 5) -> list[str]:
    found = search(
        viewer=Viewer(team_id=acme.team.id, actor="test"),
        question=Question(question),
        limit=limit,
        tools=tools,
        now=NOON + timedelta(days=30),
    )
    return [each.memory.content for each in found]


@pytest.mark.parametrize("days", [-9, 9])
def test_the_later_statement_comes_first(acme: Cast, tools: Tools, days: int) -> None:
    store(acme, tools, EARLIER, created_at=NOON)
    store(acme, tools, LATER, created_at=NOON + timedelta(days=days))
    first = LATER if days > 0 else EARLIER

    assert told(acme, tools, "What is the parking limit of the Utrecht depot?")[0] == first
    assert told(acme, tools, "What is the parking limit of the Utrecht depot?", 1) == [first]


def test_a_statement_on_another_matter_stays_where_relevance_puts_it(
    acme: Cast, tools: Tools
) -> None:
    store(acme, tools, EARLIER, created_at=NOON)
    other = "The depot kitchen got a coffee machine."
    store(acme, tools, other, created_at=NOON + timedelta(days=9))

    assert told(acme, tools, "What is the parking limit of the Utrecht depot?") == [EARLIER, other]


def test_a_disputed_later_statement_stays_where_relevance_puts_it(acme: Cast, tools: Tools) -> None:
    store(acme, tools, EARLIER, created_at=NOON)
    text = "The council has set the parking limit of the Utrecht depot to 55 vans and a lorry."
    (later,) = store(acme, tools, text, created_at=NOON + timedelta(days=9))
    question = "What is the parking limit of the Utrecht depot?"
    before = told(acme, tools, question)
    Memory.objects.filter(pk=later.pk).update(status="disputed")

    assert (before[0], told(acme, tools, question)[0]) == (text, EARLIER)
