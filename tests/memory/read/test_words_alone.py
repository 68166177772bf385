"""Where the embedding model gives nothing usable, a read answers by words alone and says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytest_django import Settings

from memory.reading import retrieval
from memory.reading.questions import BY_WORDS_ALONE, Depth, Question, Read
from memory.understanding.active_embedder import ActiveEmbedder
from memory.understanding.embedders import EmbedderSpec
from teams.errors import UnavailableError
from tests.support.hot_desk import NOON, Desk, desk, texts, town
from tests.support.openai_server import Behaviour, FakeOpenAI, error

__all__ = ["desk", "town"]

DIMENSIONS = 8


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeOpenAI]:
    """The endpoint of the configured embedder."""
    with FakeOpenAI() as fake:
        settings.EMBEDDING_PROVIDER = "openai"
        settings.EMBEDDING_MODEL = "fake-model"
        settings.EMBEDDING_DIMENSIONS = DIMENSIONS
        settings.EMBEDDING_BASE_URL = fake.base_url
        yield fake


def embedder() -> ActiveEmbedder:
    spec = EmbedderSpec("openai", "fake-model", DIMENSIONS)
    return ActiveEmbedder(configured=spec, read_state=lambda: None)


def vector(*values: float) -> Behaviour:
    """An answer with one vector."""
    data = [{"object": "embedding", "index": 0, "embedding": list(values)}]
    return Behaviour(body=json.dumps({"object": "list", "data": data, "model": "fake-model"}))


def test_every_read_says_that_words_alone_decided(desk: Desk, server: FakeOpenAI) -> None:
    away = replace(desk.of_sarah, tools=replace(desk.tools, embedder=embedder()))
    server.will(error(401), error(401), error(401))

    told = away.ask()
    prompt = away.prompt()
    found = retrieval.search(
        Read(
            viewer=away.viewer,
            question=Question("When is the release?"),
            limit=5,
            depth=Depth(),
            tools=away.tools,
            now=NOON,
        )
    )

    assert "The release is on Friday." in texts(told)
    assert told.warnings == [BY_WORDS_ALONE]
    assert BY_WORDS_ALONE in prompt.warnings
    assert found.warnings == (BY_WORDS_ALONE,)


def test_no_warning_where_the_model_answers(desk: Desk) -> None:
    assert desk.of_sarah.ask().warnings == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (error(401), "cannot be used: fake-model: HTTP 401"),
        (vector(1.0, 2.0), "cannot be used: fake-model gives 2 dimensions"),
        (vector(*[0.0] * DIMENSIONS), "cannot be used: fake-model: "),
        (vector(*[float("nan")] * DIMENSIONS), "cannot be used: fake-model: "),
    ],
    ids=["key", "dimensions", "zeros", "NaN"],
)
def test_a_write_says_what_is_wrong_with_the_vectors(
    server: FakeOpenAI, answer: Behaviour, told: str
) -> None:
    server.will(answer)

    with pytest.raises(UnavailableError, match=told):
        embedder().embed(["The release is on Friday."])
