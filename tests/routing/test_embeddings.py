"""Embeddings over HTTP against a real server on this machine."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from routing.clients.embeddings import TextEmbeddings
from routing.clients.protocol import EmbeddingError, FailureKind
from tests.support.model_calls import retry_pauses
from tests.support.openai_server import Behaviour, FakeOpenAI, dropped, error, slow

KEY = "key-of-the-test-4711"
SECRET = "Sarah's door is green."


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def client(
    server: FakeOpenAI,
    *,
    dimensions: int = 0,
    batch_size: int = 100,
    max_retries: int = 0,
    timeout: float = 2.0,
) -> TextEmbeddings:
    return TextEmbeddings(
        base_url=server.base_url,
        api_key=KEY,
        model="fake-model",
        dimensions=dimensions,
        batch_size=batch_size,
        max_retries=max_retries,
        timeout=timeout,
    )


def failure(embeddings: TextEmbeddings, texts: Sequence[str] = (SECRET,)) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as caught:
        embeddings.embed(texts)
    return caught.value


def vectors(*rows: Sequence[float], indexes: Sequence[int] | None = None) -> Behaviour:
    """An answer of these rows."""
    numbers = range(len(rows)) if indexes is None else indexes
    data = [
        {"object": "embedding", "index": number, "embedding": list(row)}
        for number, row in zip(numbers, rows, strict=True)
    ]
    usage = {"prompt_tokens": 7, "total_tokens": 7}
    body = {"object": "list", "data": data, "model": "fake-model", "usage": usage}
    return Behaviour(body=json.dumps(body))


def test_each_text_gets_its_vector_in_order(server: FakeOpenAI) -> None:
    found = client(server).embed(["green door", "blue car", "green door"])

    assert found.shape == (3, 256)
    assert found.dtype == np.float32
    assert (found[0] == found[2]).all()
    assert not (found[0] == found[1]).all()
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "fake-model"
    assert "dimensions" not in request.body


def test_answers_in_another_order_are_put_right(server: FakeOpenAI) -> None:
    server.will(vectors([0.0, 1.0], [1.0, 0.0], indexes=[1, 0]))

    found = client(server).embed(["first", "second"])

    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_the_asked_size_is_sent(server: FakeOpenAI) -> None:
    found = client(server, dimensions=64).embed(["green door"])

    assert found.shape == (1, 64)
    assert server.requests[0].body["dimensions"] == 64


def test_texts_go_in_batches(server: FakeOpenAI) -> None:
    texts = [f"fact {number}" for number in range(7)]

    found = client(server, batch_size=3).embed(texts)

    assert server.embedded == [texts[:3], texts[3:6], texts[6:]]
    assert (found == client(server).embed(texts)).all()


def test_no_text_needs_no_request(server: FakeOpenAI) -> None:
    assert client(server, dimensions=64).embed([]).shape == (0, 64)
    assert server.requests == []


@pytest.mark.parametrize("size", [0, 2049])
def test_a_batch_is_within_the_protocols_limits(server: FakeOpenAI, size: int) -> None:
    with pytest.raises(ValueError, match="2048"):
        client(server, batch_size=size)


def test_an_overloaded_endpoint_is_asked_again_when_it_says(
    server: FakeOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    server.will(error(429, retry_after=0.02))

    with caplog.at_level("INFO", logger="openai"):
        found = client(server, max_retries=1).embed(["green door"])

    assert found.shape == (1, 256)
    assert len(server.requests) == 2
    # The client's own first pause would be 0.375 s at least.
    assert retry_pauses(caplog) == [0.02]


def test_a_broken_endpoint_is_asked_again_after_a_growing_pause(
    server: FakeOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    server.will(error(500), dropped())

    with caplog.at_level("INFO", logger="openai"):
        assert client(server, max_retries=2).embed(["green door"]).shape == (1, 256)

    assert len(server.requests) == 3
    first, second = retry_pauses(caplog)
    assert 0 < first < second


@pytest.mark.parametrize(
    "behaviour", [error(429), error(503), dropped(), slow(1.0)], ids=["429", "503", "drop", "slow"]
)
def test_an_endpoint_that_stays_away_is_unavailable(
    server: FakeOpenAI, behaviour: Behaviour
) -> None:
    server.will(behaviour)

    assert failure(client(server, timeout=0.3)).kind is FailureKind.UNAVAILABLE


def test_nobody_at_the_address_is_unavailable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    embeddings = TextEmbeddings(
        base_url=f"http://127.0.0.1:{port}/v1", api_key="", model="fake-model", max_retries=0
    )

    assert failure(embeddings).kind is FailureKind.UNAVAILABLE


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refused_request_is_the_settings_fault_and_repeats_nothing(
    server: FakeOpenAI, status: int
) -> None:
    server.will(error(status, code="no_such_model", message=f"{KEY} {SECRET}"))

    told = failure(client(server, max_retries=2))

    assert told.kind is FailureKind.MISCONFIGURED
    assert str(told) == f"fake-model: HTTP {status} no_such_model"
    assert len(server.requests) == 1


def test_a_text_that_is_too_long_is_cut_and_the_batch_goes_on(server: FakeOpenAI) -> None:
    server.will(error(400, code="context_length_exceeded"))

    found = client(server).embed(["short", "word " * 5000])

    assert found.shape == (2, 256)
    assert [len(text) for text in server.embedded[1]] == [5, 6000]


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(body="<html>Welcome</html>", content_type="text/html"),
        Behaviour(body="{nonsense"),
        Behaviour(body='{"error": {"message": "no"}}'),
        vectors(),
        vectors([1.0, 0.0], [0.0, 1.0]),
        vectors([1.0, float("nan")]),
        vectors([]),
        vectors([1.0, 0.0], indexes=[3]),
    ],
    ids=["page", "no JSON", "error object", "none", "too many", "NaN", "empty", "wrong index"],
)
def test_an_answer_without_usable_vectors_is_malformed(
    server: FakeOpenAI, behaviour: Behaviour
) -> None:
    server.will(behaviour)

    assert failure(client(server)).kind is FailureKind.MALFORMED


def test_batches_of_different_sizes_are_malformed(server: FakeOpenAI) -> None:
    server.will(vectors([1.0, 0.0]), vectors([1.0, 0.0, 0.0]))

    told = failure(client(server, batch_size=1), ["one", "two"])

    assert told.kind is FailureKind.MALFORMED


def test_an_endpoint_that_ignores_the_asked_size_is_named(server: FakeOpenAI) -> None:
    server.will(vectors([1.0, 0.0]))

    told = failure(client(server, dimensions=64))

    assert told.kind is FailureKind.MISCONFIGURED
    assert "EMBEDDING_DIMENSIONS to 0 or 2" in str(told)


@pytest.mark.parametrize(
    ("base_url", "api_key", "model", "named"),
    [
        ("", "", "fake-model", "EMBEDDING_API_KEY"),
        ("localhost:9999", "", "fake-model", "EMBEDDING_BASE_URL"),
        ("http://localhost/v1", "", "", "EMBEDDING_MODEL"),
        ("http://localhost/v1", "schlüssel", "fake-model", "API key"),
    ],
)
def test_wrong_settings_say_which(base_url: str, api_key: str, model: str, named: str) -> None:
    embeddings = TextEmbeddings(base_url=base_url, api_key=api_key, model=model, max_retries=0)

    told = failure(embeddings)

    assert told.kind is FailureKind.MISCONFIGURED
    assert named in str(told)


def test_the_tokens_of_each_call_are_logged(
    server: FakeOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    server.will(vectors([1.0, 0.0]))

    with caplog.at_level(logging.INFO, logger="routing.clients.embeddings"):
        client(server).embed([SECRET])

    assert "model=fake-model texts=1 tokens=7" in caplog.text
    assert SECRET not in caplog.text
