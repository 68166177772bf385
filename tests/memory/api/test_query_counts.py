"""A query counts as read only the memories it returns, and returns as many as are asked for."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.models import MemoryUsage
from memory.reading.questions import Question
from memory.reading.usage import flush_noted_usage
from memory.understanding.tools import Tools
from memory.writing.stating import StatedMemory, remember
from teams.tenancy import team_scope
from tests.support.reading import search


def fill(viewer: Viewer, tools: Tools, count: int) -> None:
    """So many memories that one question is about."""
    stated = [
        StatedMemory(content=f"Shelf {number} holds a zinc bracket.", check=False)
        for number in range(count)
    ]
    remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())


def counted(viewer: Viewer) -> int:
    """Returns the number of recorded reads."""
    flush_noted_usage()
    with team_scope(team_ids=[viewer.team_id], actor="test"):
        return sum(MemoryUsage.objects.values_list("retrieved", flat=True))


@pytest.mark.usefixtures("kyra")
@pytest.mark.parametrize("narrowing", [{"budget_tokens": 100}, {"threshold": 0.99}, {"top_k": 3}])
def test_what_was_left_out_was_not_read(
    narrowing: dict[str, Any],  # Any: JSON
    api: APIClient,
    viewer: Viewer,
    tools: Tools,
) -> None:
    fill(viewer, tools, 20)
    body = {"agent": "kyra", "query": "Which shelf holds the zinc bracket?", "top_k": 20}

    given = 0
    for _ in range(2):
        answer = api.post("/v1/memory/query", body | narrowing, format="json").json()
        given += len(answer["results"])
        assert counted(viewer) == given
    assert given < 40


@pytest.mark.parametrize("limit", [60, 120])
def test_a_search_gives_as_many_as_it_is_asked_for(
    limit: int, viewer: Viewer, tools: Tools
) -> None:
    fill(viewer, tools, 180)

    found = search(
        viewer=viewer,
        question=Question("a zinc bracket on a shelf"),
        limit=limit,
        tools=tools,
        now=timezone.now(),
    )

    assert len(found) == limit
