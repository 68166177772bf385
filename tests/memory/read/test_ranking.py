"""Results of searches: among filtered memories, within an agent's categories, odd questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_django import Settings
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType, Tier
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.reading.answers import ScoredMemory
from memory.reading.questions import Question
from memory.understanding.tools import Tools
from teams.errors import UnavailableError
from tests.support.cast import Cast
from tests.support.embedders import UNREADABLE, random_tools
from tests.support.reading import retrieve, search
from tests.support.writing import NOON, draft, store, write

SECRET = "The salary of Dmitri is five thousand euros."


class AbsentEmbedder:
    """An embedder that does not answer."""

    dimensions = 256
    opposition_similarity = 0.3

    def __init__(self, name: str) -> None:
        self.name = name

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Never."""
        raise UnavailableError("The embedding model does not answer; nothing was changed.")


def ask(
    acme: Cast,
    tools: Tools,
    question: str,
    *,
    rows: MemoryQuerySet | None = None,
    include_cold: bool = False,
    viewer: Viewer | None = None,
    limit: int = 10,
) -> Sequence[ScoredMemory]:
    return search(
        viewer=viewer or Viewer(team_id=acme.team.id, actor="test"),
        question=Question(question),
        limit=limit,
        tools=tools,
        now=NOON,
        rows=rows,
        include_cold=include_cold,
    )


def told(acme: Cast, tools: Tools, question: str, *, viewer: Viewer | None = None) -> list[str]:
    """Returns the texts of the memories that a retrieval finds."""
    found = retrieve(
        viewer=viewer or Viewer(team_id=acme.team.id, actor="test", agent_id=acme.kyra.pk),
        question=Question(question),
        weights=Weights(),
        token_budget=2_000,
        limit=None,
        include_cold=True,
        tools=tools,
        now=NOON,
    )
    return [each.memory.content for each in found.memories]


def texts(found: Sequence[ScoredMemory]) -> list[str]:
    return [each.memory.content for each in found]


@pytest.fixture(params=[20_000, 3])
def narrow(request: pytest.FixtureRequest, settings: Settings) -> int:
    """A filter is applied before the search, and after it, as its results are few or many."""
    most: int = request.param
    settings.FILTERED_FIRST = most
    return most


# -- filters ---------------------------------------------------------------------------------


def test_a_filter_holds_whether_it_leaves_few_or_many(
    acme: Cast, tools: Tools, narrow: int
) -> None:
    store(acme, tools, *(f"The tea of day {n} is green." for n in range(8)), importance=3)
    wanted = store(acme, tools, *(f"The tea of week {n} is green." for n in range(8)), importance=8)

    found = ask(acme, tools, "green tea", rows=Memory.objects.filter(importance__gte=7))

    assert {each.memory.pk for each in found} == {memory.pk for memory in wanted}


def test_a_filter_reaches_the_archive_and_never_what_was_deleted(
    acme: Cast, tools: Tools, narrow: int
) -> None:
    past, gone, cold, *_ = store(acme, tools, *(f"The tea of day {n} is green." for n in range(8)))
    Memory.objects.filter(pk=gone.pk).update(status="soft_deleted")
    Memory.objects.filter(pk=cold.pk).update(tier=Tier.COLD.value)
    write(acme, tools, draft(acme, "Coffee is served at noon.", replaces=(past.pk,)))

    found = ask(acme, tools, "green tea", rows=Memory.objects.all(), include_cold=True)

    pks = {each.memory.pk for each in found}
    assert {past.pk, cold.pk} <= pks
    assert gone.pk not in pks


def test_a_filter_that_leaves_nothing_finds_nothing(acme: Cast, tools: Tools, narrow: int) -> None:
    store(acme, tools, "The tea is green.")

    assert ask(acme, tools, "green tea", rows=Memory.objects.filter(importance=1)) == []
    assert ask(acme, tools, "green tea", rows=Memory.objects.none()) == []


# -- categories ------------------------------------------------------------------------------


@pytest.fixture
def limited(acme: Cast, tools: Tools) -> Viewer:
    """Kyra, who may read of tasks only; there is more about salaries than she could be told."""
    acme.kyra.allowed_categories = ["tasks"]
    acme.kyra.save(update_fields=["allowed_categories"])
    facts = {"category": "salary", "agent_id": acme.kyra.pk}
    store(acme, tools, SECRET, **facts, is_pinned=True, importance=10)
    store(acme, tools, *(f"The salary of person {n} is {n} euros." for n in range(8)), **facts)
    identity = {**facts, "memory_type": MemoryType.IDENTITY}
    store(acme, tools, "Kyra knows each salary.", **identity)
    store(acme, tools, "The salary task is due on Monday.", category="tasks")
    store(acme, tools, "The salary office is closed.")
    return Viewer(
        team_id=acme.team.id, actor="test", agent_id=acme.kyra.pk, allowed_categories=("tasks",)
    )


def test_only_allowed_categories_are_found(
    acme: Cast, tools: Tools, limited: Viewer, narrow: int
) -> None:
    allowed = {"The salary task is due on Monday.", "The salary office is closed."}

    assert set(told(acme, tools, "What salary?", viewer=limited)) == allowed
    for rows in (None, Memory.objects.all(), Memory.objects.filter(category="salary")):
        assert set(texts(ask(acme, tools, "What salary?", rows=rows, viewer=limited))) <= allowed
    assert set(texts(ask(acme, tools, "What salary?", viewer=limited))) == allowed


def test_no_answer_of_the_api_holds_a_category_that_is_not_allowed(
    acme: Cast, api: APIClient, limited: Viewer, narrow: int
) -> None:
    question = {"agent": "kyra", "query": "What is the salary of Dmitri?"}
    answers = [
        api.post("/v1/retrieve", question, format="json"),
        api.get("/v1/memories/search", question),
        api.post("/v1/prompt", question, format="json"),
        api.post("/v1/memory/query", question, format="json"),
    ]

    for answer in answers:
        assert answer.status_code == 200, answer.content
        assert "five thousand" not in answer.content.decode()
        assert "knows each" not in answer.content.decode()


# -- odd questions ---------------------------------------------------------------------------

ODD = ["???", "…", "the of and", "?!", "🦀", "%", "' OR 1=1 --", "a", "\\", "{visible}", "%(team)s"]


@pytest.mark.parametrize("question", ODD)
def test_an_odd_question_is_answered(acme: Cast, tools: Tools, question: str) -> None:
    store(acme, tools, "The tea is green.", "You may trust nobody.", is_pinned=True)

    assert set(told(acme, tools, question)) == {"The tea is green.", "You may trust nobody."}
    assert all(0 <= each.score <= 1 for each in ask(acme, tools, question))


def test_stop_words_alone_find_by_meaning_at_most(acme: Cast, tools: Tools) -> None:
    store(acme, tools, "The tea is of the best.", "Zebras run.")

    found = ask(acme, tools, "the of is")

    assert all(each.signals.lexical == 0.0 for each in found)


def test_a_question_without_a_meaning_is_answered_by_its_words(acme: Cast, tools: Tools) -> None:
    random = random_tools(tools)
    store(acme, random, "The tea is green.", UNREADABLE)

    assert ask(acme, random, UNREADABLE) == []
    assert texts(ask(acme, random, "green"))[0] == "The tea is green."


def test_a_memory_without_a_meaning_is_found_by_its_words(acme: Cast, tools: Tools) -> None:
    class Blank(AbsentEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.zeros_like(tools.embedder.embed(texts))

    blank = replace(tools, embedder=Blank(tools.embedder.name))
    (memory,) = store(acme, blank, "The tea is green.")

    (found,) = ask(acme, tools, "green tea")

    assert (found.memory.pk, found.signals.cosine) == (memory.pk, 0.0)


def test_without_the_embedder_words_decide(acme: Cast, tools: Tools) -> None:
    store(acme, tools, "The tea is green.", "Zebras run.")
    away = replace(tools, embedder=AbsentEmbedder(tools.embedder.name))

    assert texts(ask(acme, away, "green tea")) == ["The tea is green."]
    assert "The tea is green." in told(acme, away, "green tea")


def test_whom_a_memory_is_by_is_found_by_name(acme: Cast, tools: Tools) -> None:
    (hers,) = store(acme, tools, "I went hiking.", people=("Melanie",))
    (his,) = store(acme, tools, "I went hiking too.", people=("Dmitri",))

    assert ask(acme, tools, "Where did Melanie go hiking?")[0].memory.pk == hers.pk
    assert ask(acme, tools, "Where did Mel go hiking?")[0].memory.pk == hers.pk
    assert ask(acme, tools, "Where did Dmitri go hiking?")[0].memory.pk == his.pk


def test_when_a_memory_was_said_is_found_by_its_date(acme: Cast, tools: Tools) -> None:
    (march,) = store(acme, tools, "The kiln broke.", created_at=NOON - timedelta(days=50))
    (april,) = store(acme, tools, "The kiln broke again.", created_at=NOON - timedelta(days=5))

    assert ask(acme, tools, "When did the kiln break in March?")[0].memory.pk == march.pk
    assert ask(acme, tools, "Did the kiln break last week?")[0].memory.pk == april.pk
