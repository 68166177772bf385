"""A team with memories, and the settings of another model that they are to be embedded with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.models import EmbeddingState, Memory, SearchEntry
from memory.reading.answers import ScoredMemory
from memory.reading.questions import Question
from memory.understanding.active_embedder import ActiveEmbedder
from memory.understanding.embedders import (
    EmbedderSpec,
    WordLlamaEmbedder,
    build_embedder,
    configured_spec,
)
from memory.understanding.ports import Embedder
from memory.understanding.tools import Tools
from memory.writing.indexing.reembedding import reembed
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.openai_server import FakeOpenAI
from tests.support.reading import search
from tests.support.writing import store

OLD = WordLlamaEmbedder.name
NEW = "openai/fake-model@64"
FACTS = [
    "Sarah prefers green tea in the morning.",
    "The production database runs in Frankfurt.",
    "The release is planned for March 15.",
    "Dmitri reviews every migration.",
    "The office dog is called Biscuit.",
]

both_roles = pytest.mark.django_db(databases=["default", "owner"])


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def new_settings(server: FakeOpenAI, settings: Settings) -> Settings:
    """The settings ask for an endpoint's model."""
    settings.EMBEDDING_PROVIDER = "openai"
    settings.EMBEDDING_MODEL = "fake-model"
    settings.EMBEDDING_DIMENSIONS = 64
    settings.EMBEDDING_BASE_URL = settings.EMBEDDING_PREVIOUS_BASE_URL = server.base_url
    settings.OPENAI_TIMEOUT_SECONDS = 20.0
    return settings


def tools_with(tools: Tools, *, spec: EmbedderSpec | None = None) -> Tools:
    """The tools of a process that has just started with these settings."""
    ticks = iter(range(0, 10**9, 60))  # looks the state up at each use
    active = ActiveEmbedder(configured=spec or configured_spec(), monotonic=lambda: next(ticks))
    return Tools(**{**_fields(tools), "embedder": active})


def _fields(tools: Tools) -> dict[str, Any]:  # Any: whatever tools there are
    return {name: getattr(tools, name) for name in tools.__dataclass_fields__}


def write(cast: Cast, tools: Tools, *contents: str) -> list[Memory]:
    return store(cast, tools, *contents, check=True, created_at=timezone.now())


def ask(cast: Cast, tools: Tools, question: str) -> Sequence[ScoredMemory]:
    return search(
        viewer=Viewer(team_id=cast.team.id, actor="test"),
        rows=Memory.objects.live(),
        question=Question(question),
        limit=3,
        tools=tools,
        now=timezone.now(),
    )


def finds_by_meaning(cast: Cast, tools: Tools) -> bool:
    best = ask(cast, tools, FACTS[0])[0]
    return best.memory.content == FACTS[0] and best.signals.cosine > 0.98


def models_of(cast: Cast) -> set[tuple[str, str, bool]]:
    """The active and next model of all entries, and whether there is a next vector."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = SearchEntry.objects.filter(team=cast.team)
        return {
            (row.embedding_model, row.next_model, row.next_embedding is not None) for row in rows
        }


@pytest.fixture
def known(acme: Cast, tools: Tools) -> list[Memory]:
    """Writes and returns the memories that Acme had before the change of model."""
    EmbeddingState.objects.update_or_create(
        defaults={"model": OLD, "dimensions": 256, "next_model": ""}
    )
    return write(acme, tools_with(tools, spec=EmbedderSpec("wordllama", "l2_supercat_256")), *FACTS)


def new_embedder() -> Embedder:
    return build_embedder(configured_spec())


def run(**options: Any) -> None:  # Any: reembed's own arguments
    reembed(**{"embedder": new_embedder(), "batch": 2, "grace_seconds": 0.0, **options})
