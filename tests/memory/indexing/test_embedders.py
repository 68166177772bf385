"""The embedders, their cache, and which one is used."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pytest_django import Settings

from config.embedded import PROJECT_ROOT
from memory.models import EmbeddingState
from memory.understanding.active_embedder import ActiveEmbedder
from memory.understanding.embedders import (
    BUILT_IN,
    CachedEmbedder,
    EmbedderSpec,
    OpenAIEmbedder,
    WordLlamaEmbedder,
    build_embedder,
    configured_spec,
    normalise,
    spec_of,
)
from memory.understanding.ports import Embedder
from routing.clients.embeddings import TextEmbeddings
from routing.clients.protocol import EmbeddingError, FailureKind
from teams.errors import UnavailableError
from tests.support.openai_server import FakeOpenAI, error, slow


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def openai_embedder(server: FakeOpenAI, *, timeout: float = 2.0) -> OpenAIEmbedder:
    embeddings = TextEmbeddings(
        base_url=server.base_url, api_key="", model="fake-model", timeout=timeout, max_retries=0
    )
    return OpenAIEmbedder(
        name="openai/fake-model", embeddings=embeddings, patience_seconds=0.1, rest_seconds=0.5
    )


class Counting:
    """An embedder that records the texts it was asked for."""

    name = "counting/2"
    dimensions = 2
    opposition_similarity = 0.5

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.asarray([[len(text), 1.0] for text in texts], dtype=np.float32)


# -- the endpoint's vectors ------------------------------------------------------------------


def test_vectors_of_an_endpoint_have_length_one(server: FakeOpenAI) -> None:
    embedder = openai_embedder(server)

    found = embedder.embed(["The door is green.", "The car is blue and fast."])

    assert np.allclose(np.linalg.norm(found, axis=1), 1.0)
    assert embedder.dimensions == 256
    assert embedder.opposition_similarity == 0.7


def test_a_blank_text_is_never_sent_and_near_nothing(server: FakeOpenAI) -> None:
    found = openai_embedder(server).embed(["", "The door is green.", " \n"])

    assert server.embedded == [["The door is green."]]
    assert found.any(axis=1).tolist() == [False, True, False]


def test_blank_texts_alone_have_the_models_size_too(server: FakeOpenAI) -> None:
    assert openai_embedder(server).embed([" "]).shape == (1, 256)


def test_no_text_has_no_vector(server: FakeOpenAI) -> None:
    assert len(openai_embedder(server).embed([])) == 0
    assert server.requests == []


def test_an_endpoint_that_cost_too_long_is_left_alone_for_a_while(server: FakeOpenAI) -> None:
    now = [100.0]
    embeddings = TextEmbeddings(
        base_url=server.base_url, api_key="", model="fake-model", timeout=0.2, max_retries=0
    )
    embedder = OpenAIEmbedder(
        name="openai/fake-model",
        embeddings=embeddings,
        patience_seconds=-1.0,
        rest_seconds=30.0,
        monotonic=lambda: now[0],
    )
    server.will(slow(1.0))
    for _ in range(2):
        with pytest.raises(EmbeddingError):
            embedder.embed(["The door is green."])
    assert len(server.requests) == 1

    now[0] += 31.0

    assert embedder.embed(["The door is green."]).shape == (1, 256)


# -- vectors of a model in this process -----------------------------------------------------


def built_in() -> Embedder:
    return build_embedder(EmbedderSpec("onnx", "all-MiniLM-L6-v2"))


def test_the_built_in_encoder_puts_a_paraphrase_nearer_than_what_shares_a_word() -> None:
    said, paraphrase, other = built_in().embed(
        [
            "Sarah is allergic to peanuts.",
            "She cannot eat groundnuts.",
            "Sarah repaired the printer.",
        ]
    )

    assert said @ paraphrase > said @ other


def test_the_built_in_encoder_gives_unit_vectors_and_nothing_for_blank_texts() -> None:
    found = built_in().embed(["The door is green.", " \n", "A much longer text. " * 100])

    assert found.shape == (3, 384)
    assert np.allclose(np.linalg.norm(found, axis=1), [1.0, 0.0, 1.0], atol=1e-3)
    assert built_in().embed([]).shape == (0, 384)


def test_a_vector_depends_on_its_text_alone() -> None:
    text = "The harbour was quiet."
    (alone,) = built_in().embed([text])

    beside = built_in().embed(["A much longer text about something else. " * 9, text])[1]

    assert (alone == beside).all()


def test_many_threads_share_one_encoder() -> None:
    encoder = built_in()
    texts = [f"Order {number} went to the harbour." for number in range(40)]
    expected = built_in().embed(texts)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: encoder.embed(texts[at : at + 10]), range(0, 40, 10)))

    assert (np.concatenate(found) == expected).all()


_THREADS = """
import os
import config
from memory.understanding.encoder import Encoder
from routing.clients.embeddings import static_vectors

before = len(os.listdir("/proc/self/task"))
Encoder("search.onnx", max_tokens=256).run(["The door is green.", "The car is blue."] * 40)
static_vectors(["The door is green."] * 2_000)
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads of /proc")
def test_embedding_starts_no_threads_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _THREADS],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "0"


# -- the cache -----------------------------------------------------------------------------------


def test_only_unknown_texts_are_embedded_and_each_once() -> None:
    behind = Counting()
    embedder = CachedEmbedder(behind)
    embedder.embed(["one", "three"])

    found = embedder.embed(["seven", "one", "seven", "three"])

    assert behind.asked == [["one", "three"], ["seven"]]
    assert found[:, 0].tolist() == [5.0, 3.0, 5.0, 5.0]
    assert found.dtype == np.float32


def test_texts_that_differ_in_white_space_and_width_are_one_text() -> None:
    behind = Counting()
    embedder = CachedEmbedder(behind)

    found = embedder.embed(["The  door\nis green.", " The door is green.", "Ｔhe door is green."])

    assert behind.asked == [["The door is green."]]
    assert (found == found[0]).all()


def test_texts_that_differ_in_case_or_punctuation_are_not() -> None:
    behind = Counting()

    CachedEmbedder(behind).embed(["Ask us.", "Ask US.", "Ask us?"])

    assert behind.asked == [["Ask us.", "Ask US.", "Ask us?"]]


def test_what_was_asked_for_longest_ago_is_forgotten_first() -> None:
    behind = Counting()
    embedder = CachedEmbedder(behind, size=2)
    embedder.embed(["one"])
    embedder.embed(["two"])
    embedder.embed(["one"])
    embedder.embed(["three"])

    embedder.embed(["one"])
    embedder.embed(["two"])

    assert behind.asked == [["one"], ["two"], ["three"], ["two"]]


def test_a_batch_larger_than_the_cache_is_answered_whole() -> None:
    texts = ["x" * number for number in range(1, 12)]

    found = CachedEmbedder(Counting(), size=3).embed(texts)

    assert found[:, 0].tolist() == [float(len(text)) for text in texts]


def test_a_caller_cannot_change_what_is_kept() -> None:
    embedder = CachedEmbedder(Counting())
    embedder.embed(["one"])[:] = 0.0

    assert embedder.embed(["one"]).tolist() == [[3.0, 1.0]]


def test_a_failed_batch_leaves_nothing_behind(server: FakeOpenAI) -> None:
    embedder = CachedEmbedder(openai_embedder(server))
    server.will(error(401))
    with pytest.raises(EmbeddingError):
        embedder.embed(["The door is green."])

    assert embedder.embed(["The door is green."]).shape == (1, 256)


def test_many_threads_get_the_right_vectors() -> None:
    embedder = CachedEmbedder(Counting(), size=5)
    texts = ["x" * number for number in range(1, 20)]

    def ask(seed: int) -> bool:
        mine = texts[seed % 7 :: 3]
        return bool((embedder.embed(mine)[:, 0] == [len(text) for text in mine]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(400)))


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once


# -- names and settings --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        EmbedderSpec("wordllama", "l2_supercat_256"),
        EmbedderSpec("openai", "text-embedding-3-small", 512),
        EmbedderSpec("openai", "library/nomic@latest"),
        EmbedderSpec("onnx", "all-MiniLM-L6-v2"),
        EmbedderSpec("onnx", "/srv/models/multilingual-e5-small"),
    ],
    ids=lambda spec: spec.name,
)
def test_a_name_says_all_it_takes_to_build_the_embedder(spec: EmbedderSpec) -> None:
    assert spec_of(spec.name) == spec


@pytest.mark.parametrize("name", ["", "test", "wordllama/", "cohere/embed-3", "fastembed/m"])
def test_a_name_of_no_known_provider_is_refused(name: str) -> None:
    with pytest.raises(EmbeddingError, match="No embedder"):
        spec_of(name)


def test_without_settings_the_embedded_embedder_is_used() -> None:
    assert configured_spec().name == BUILT_IN == "onnx/all-MiniLM-L6-v2"
    assert build_embedder(configured_spec()).opposition_similarity == 0.25


def test_the_static_vectors_can_be_chosen(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER = "wordllama"

    assert configured_spec().name == WordLlamaEmbedder.name
    assert build_embedder(configured_spec()).embed(["The door is green."]).shape == (1, 256)


def test_the_size_is_in_the_name_when_it_is_not_the_models_own(settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER = "openai"
    settings.EMBEDDING_DIMENSIONS = 512
    assert configured_spec().name == "openai/text-embedding-3-small@512"

    settings.EMBEDDING_DIMENSIONS = 1536

    assert configured_spec().name == "openai/text-embedding-3-small"


def test_the_threshold_of_opposition_can_be_set(settings: Settings) -> None:
    settings.EMBEDDING_OPPOSITION_SIMILARITY = 0.42

    assert build_embedder(configured_spec()).opposition_similarity == 0.42
    assert build_embedder(EmbedderSpec("openai", "m")).opposition_similarity == 0.42


@pytest.mark.parametrize(
    "spec",
    [
        EmbedderSpec("wordllama", "l3_supercat_1024"),
        EmbedderSpec("wordllama", "l2_supercat_256", 64),
        EmbedderSpec("onnx", "all-MiniLM-L6-v2", 64),
        EmbedderSpec("onnx", "/no/such/folder"),
        EmbedderSpec("openai", "m" * 300),
    ],
    ids=lambda spec: spec.name[:40],
)
def test_what_no_embedder_can_give_is_refused_in_one_line(spec: EmbedderSpec) -> None:
    with pytest.raises(EmbeddingError) as caught:
        build_embedder(spec)

    assert caught.value.kind is FailureKind.MISCONFIGURED
    assert "\n" not in str(caught.value)


# -- which one is active -----------------------------------------------------------------------


@pytest.fixture
def openai_settings(server: FakeOpenAI, settings: Settings) -> Settings:
    """The settings ask for an endpoint's 64 dimensions."""
    settings.EMBEDDING_PROVIDER = "openai"
    settings.EMBEDDING_MODEL = "fake-model"
    settings.EMBEDDING_DIMENSIONS = 64
    settings.EMBEDDING_BASE_URL = server.base_url
    settings.OPENAI_TIMEOUT_SECONDS = 20.0
    return settings


def use(model: str, dimensions: int, *, next_model: str = "") -> None:
    EmbeddingState.objects.update_or_create(
        defaults={"model": model, "dimensions": dimensions, "next_model": next_model}
    )


def test_the_configured_model_is_used_while_there_is_no_memory(openai_settings: Settings) -> None:
    active = ActiveEmbedder(configured=configured_spec(), read_state=lambda: None)

    assert active.embed(["The door is green."]).shape == (1, 64)
    assert active.name == "openai/fake-model@64"


def test_the_model_of_the_data_is_used_whatever_the_settings_say(
    db: None, openai_settings: Settings, server: FakeOpenAI
) -> None:
    use(WordLlamaEmbedder.name, 256)
    active = ActiveEmbedder(configured=configured_spec())

    assert active.embed(["The door is green."]).shape == (1, 256)
    assert active.name == WordLlamaEmbedder.name
    assert active.opposition_similarity == 0.3
    assert active.next_vectors(["The door is green."]) is None
    assert server.requests == []


def test_a_store_of_static_vectors_goes_on_with_them_after_the_default_changed(db: None) -> None:
    use(WordLlamaEmbedder.name, 256)
    active = ActiveEmbedder(configured=configured_spec())

    assert configured_spec().name == BUILT_IN
    assert active.active_name == WordLlamaEmbedder.name
    assert active.embed(["The door is green."]).shape == (1, 256)


def test_a_reembedding_under_way_adds_the_next_models_vectors(
    db: None, openai_settings: Settings
) -> None:
    use(WordLlamaEmbedder.name, 256, next_model="openai/fake-model@64")
    active = ActiveEmbedder(configured=configured_spec())

    found = active.next_vectors(["The door is green."])

    assert found is not None
    assert found[0] == "openai/fake-model@64"
    assert found[1].shape == (1, 64)


def test_a_next_model_that_does_not_answer_holds_up_no_write(
    db: None, openai_settings: Settings, server: FakeOpenAI
) -> None:
    use(WordLlamaEmbedder.name, 256, next_model="openai/fake-model@64")
    server.will(error(401))

    assert ActiveEmbedder(configured=configured_spec()).next_vectors(["A fact."]) is None


def test_a_vector_and_the_name_read_after_it_belong_together(
    db: None, openai_settings: Settings
) -> None:
    now = [0.0]
    use(WordLlamaEmbedder.name, 256)
    active = ActiveEmbedder(configured=configured_spec(), monotonic=lambda: now[0])
    active.embed(["The door is green."])

    use("openai/fake-model@64", 64)
    now[0] += 60.0

    assert active.name == WordLlamaEmbedder.name
    assert active.embed(["The door is green."]).shape == (1, 64)
    assert active.name == "openai/fake-model@64"


def test_each_thread_reads_the_name_of_its_own_vector(db: None, openai_settings: Settings) -> None:
    now = [0.0]
    use(WordLlamaEmbedder.name, 256)
    active = ActiveEmbedder(configured=configured_spec(), monotonic=lambda: now[0])
    embedded, switched = threading.Event(), threading.Event()
    names: list[str] = []
    active.embed(["warm"])  # the state is known now: the other thread needs no database

    def ask() -> None:
        active.embed(["The door is green."])
        embedded.set()
        switched.wait(60.0)
        names.append(active.name)

    thread = threading.Thread(target=ask)
    thread.start()
    assert embedded.wait(60.0)
    use("openai/fake-model@64", 64)
    now[0] += 60.0
    active.embed(["The door is green."])
    switched.set()
    thread.join()

    assert names == [WordLlamaEmbedder.name]
    assert active.name == "openai/fake-model@64"


def test_an_endpoint_that_changes_its_size_is_refused_with_the_way_out(
    db: None,
    openai_settings: Settings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    openai_settings.EMBEDDING_DIMENSIONS = 0
    use("openai/fake-model", 128)

    with pytest.raises(UnavailableError):
        ActiveEmbedder(configured=configured_spec()).embed(["The door is green."])

    assert "set EMBEDDING_DIMENSIONS=256 and run «manage.py reembed»" in caplog.text


def test_data_of_a_model_that_nobody_can_build_is_unavailable(db: None) -> None:
    use("cohere/embed-3", 1024)

    with pytest.raises(UnavailableError):
        ActiveEmbedder(configured=configured_spec()).embed(["The door is green."])


def test_the_previous_model_is_asked_at_its_own_address(
    db: None, openai_settings: Settings, server: FakeOpenAI
) -> None:
    use("openai/old-model@32", 32)
    with FakeOpenAI() as previous:
        openai_settings.EMBEDDING_PREVIOUS_BASE_URL = previous.base_url
        openai_settings.EMBEDDING_PREVIOUS_API_KEY = "old-key"
        active = ActiveEmbedder(configured=configured_spec())

        assert active.embed(["The door is green."]).shape == (1, 32)

        (request,) = previous.requests
    assert request.headers["authorization"] == "Bearer old-key"
    assert server.requests == []
