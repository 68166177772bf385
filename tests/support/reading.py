"""Reads as tests make them: a prompt of memories within a budget, and plain searches."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memory.domain.audience import Viewer
from memory.domain.rendering import ESTIMATE, TokenCounter
from memory.domain.scoring import Weights
from memory.models.querysets import MemoryQuerySet
from memory.reading import retrieval
from memory.reading.answers import Prompt, ScoredMemory
from memory.reading.packing import Packing
from memory.reading.questions import Depth, Question, Read
from memory.understanding.tools import Tools


def retrieve(
    *,
    viewer: Viewer,
    question: Question,
    weights: Weights,
    token_budget: int,
    tools: Tools,
    now: datetime,
    limit: int | None = None,
    include_cold: bool = False,
    include_raw: bool | None = None,
    counter: TokenCounter = ESTIMATE,
    rows: MemoryQuerySet | None = None,
) -> Prompt:
    """Returns the prompt for the viewer's agent, as `POST /v1/retrieve` makes it."""
    return retrieval.prompt(
        Read(
            viewer=viewer,
            question=question,
            limit=limit,
            depth=Depth(include_cold, include_raw),
            tools=tools,
            now=now,
            rows=rows,
        ),
        packing=Packing(weights=weights, token_budget=token_budget, counter=counter),
    )


def search(
    *,
    viewer: Viewer,
    question: Question,
    limit: int,
    tools: Tools,
    now: datetime,
    rows: MemoryQuerySet | None = None,
    include_cold: bool = False,
) -> Sequence[ScoredMemory]:
    """The `limit` memories that say most about the question, best first."""
    return retrieval.search(
        Read(
            viewer=viewer,
            question=question,
            limit=limit,
            depth=Depth(include_cold, include_raw=False),
            tools=tools,
            now=now,
            rows=rows,
        )
    ).memories
