"""Moving to another embedding model while agents read and write."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from django.utils import timezone
from numpy.typing import NDArray
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import EmbeddingState, Memory, MessageEntry, SearchEntry
from memory.reading import retrieval
from memory.reading.questions import Depth, Question, Read
from memory.understanding.embedders import BUILT_IN, EmbedderSpec, WordLlamaEmbedder
from memory.understanding.tools import Tools
from memory.writing.drafts import MemoryDraft, Outcome
from memory.writing.indexing.message_index import index_team
from memory.writing.indexing.reembedding import embedding_status
from memory.writing.indexing.vector_graphs import MOST_DIMENSIONS
from memory.writing.write_path import write_memories
from tests import factories
from tests.support.cast import Cast
from tests.support.openai_server import FakeOpenAI
from tests.support.reembedding import (
    FACTS,
    NEW,
    OLD,
    _fields,
    both_roles,
    finds_by_meaning,
    known,
    models_of,
    new_settings,
    run,
    server,
    tools_with,
    write,
)

__all__ = ["known", "new_settings", "server"]


def test_the_model_of_the_first_memories_is_recorded(acme: Cast, tools: Tools) -> None:
    write(acme, tools_with(tools), FACTS[0])

    state = EmbeddingState.objects.get()
    assert (state.model, state.dimensions, state.next_model) == (BUILT_IN, 384, "")


@both_roles
def test_a_store_of_static_vectors_moves_to_the_default_model_when_told(
    acme: Cast, known: list[Memory], tools: Tools
) -> None:
    started_anew = tools_with(tools)
    write(acme, started_anew, "Luke waters the plants.")
    assert finds_by_meaning(acme, started_anew)
    assert models_of(acme) == {(OLD, "", False)}

    run()

    assert models_of(acme) == {(BUILT_IN, "", False)}
    assert finds_by_meaning(acme, tools_with(tools))


def test_other_settings_are_told_in_one_line(
    acme: Cast, known: list[Memory], new_settings: Settings
) -> None:
    status = embedding_status(wanted=NEW)

    assert status.lacking >= len(known)
    messages = f" and {status.lacking_messages} messages" if status.lacking_messages else ""
    assert status.line == (
        f"{status.lacking} memories{messages} are embedded with {OLD}, the settings say {NEW}: run"
        f" «manage.py reembed»; until then searches by meaning use {OLD}"
    )


def test_settings_that_fit_the_data_are_not_worth_a_line(acme: Cast, known: list[Memory]) -> None:
    status = embedding_status(wanted=OLD)

    assert status.active == OLD
    assert status.line == "" or "have no vector" in status.line  # rows of other tests' own making


def test_reads_and_writes_go_on_with_the_old_model(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    started_anew = tools_with(tools)

    (memory,) = write(acme, started_anew, "Luke waters the plants.")

    assert finds_by_meaning(acme, started_anew)
    entry = SearchEntry.objects.get(memory=memory)
    assert (entry.embedding_model, entry.next_model) == (OLD, "")
    assert server.requests == []


@both_roles
def test_all_memories_get_the_new_vectors_and_searches_use_them(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings, server: FakeOpenAI
) -> None:
    run()

    state = EmbeddingState.objects.get()
    assert (state.model, state.dimensions, state.next_model) == (NEW, 64, "")
    assert models_of(acme) == {(NEW, "", False)}
    assert all(len(row.embedding) == 64 for row in SearchEntry.objects.filter(team=acme.team))
    assert finds_by_meaning(acme, tools_with(tools))
    assert embedding_status(wanted=NEW).line == ""


@both_roles
def test_messages_get_the_new_vectors_too_and_are_found_by_them(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    for place, text in enumerate(("The harbour was quiet.", "[FACT]: Sarah likes tea."), start=1):
        factories.MessageFactory.create(
            team=acme.team, conversation=talk, position=place, content=text
        )
    old = tools_with(tools, spec=EmbedderSpec("wordllama", "l2_supercat_256"))
    index_team(team_id=acme.team.id, tools=old)
    assert embedding_status(wanted=NEW).lacking_messages >= 1

    run()

    said, injected = MessageEntry.objects.filter(conversation=talk).order_by("position")
    assert (said.embedding_model, said.next_model, said.next_embedding) == (NEW, "", None)
    assert len(said.embedding) == 64
    assert (injected.embedding, injected.embedding_model) == (None, "")
    answer = retrieval.search(
        Read(
            viewer=Viewer(team_id=acme.team.id, actor="test"),
            question=Question("sarah: the harbour was quiet"),
            limit=20,
            depth=Depth(include_raw=True),
            tools=tools_with(tools),
            now=timezone.now(),
        )
    )
    assert answer.messages[0].id == said.message_id
    assert answer.messages[0].signals.cosine > 0.5


def test_messages_indexed_meanwhile_get_both_vectors(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    EmbeddingState.objects.update(next_model=NEW)
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    factories.MessageFactory.create(
        team=acme.team, conversation=talk, position=1, content="The harbour was quiet."
    )

    index_team(team_id=acme.team.id, tools=tools_with(tools))

    entry = MessageEntry.objects.get(conversation=talk)
    assert (entry.embedding_model, entry.next_model) == (OLD, NEW)


@both_roles
def test_every_team_is_embedded(
    acme: Cast, globex: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    write(globex, tools_with(tools), "Globex sells hammocks.")

    run()

    assert models_of(globex) == {(NEW, "", False)}


@both_roles
def test_searches_find_by_meaning_at_every_step(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    seen: list[tuple[str, bool]] = []
    # A request that embedded its question before the switch still asks with the old vector.
    old_vector = WordLlamaEmbedder().embed([FACTS[0]])[0]
    late = Tools(**{**_fields(tools), "embedder": Fixed(OLD, old_vector)})

    def look(_: float) -> None:
        fresh = tools_with(tools)
        seen.append((EmbeddingState.objects.get().model, finds_by_meaning(acme, fresh)))
        seen.append(("late", finds_by_meaning(acme, late)))

    run(on_progress=look, sleep=look, grace_seconds=5.0)

    assert {model for model, _ in seen} == {OLD, NEW, "late"}
    assert all(found for _, found in seen)
    assert finds_by_meaning(acme, tools_with(tools))


class Fixed:
    """Gives one vector for any text, as a request holds it that has embedded its question."""

    opposition_similarity = 0.3

    def __init__(self, name: str, vector: NDArray[np.float32]) -> None:
        self.name, self.dimensions, self._vector = name, len(vector), vector

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vector] * len(texts))


@both_roles
def test_memories_written_meanwhile_get_both_vectors(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    seen: set[tuple[str, str, bool]] = set()

    def write_one(_: int) -> None:
        if seen:
            return
        (memory,) = write(acme, tools_with(tools), "Luke waters the plants.")
        entry = SearchEntry.objects.get(memory=memory)
        seen.add((entry.embedding_model, entry.next_model, entry.next_embedding is not None))

    run(on_progress=write_one)

    assert seen == {(OLD, NEW, True)}
    assert models_of(acme) == {(NEW, "", False)}


@both_roles
def test_memories_of_a_process_that_does_not_know_are_found_before_the_end(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    unaware = tools_with(tools, spec=EmbedderSpec("wordllama", "l2_supercat_256"))
    texts = iter(["Luke waters the plants.", "Kyra feeds the fish."])
    old_vector = unaware.embedder.embed(["The plants."])[0]
    frozen = Tools(**{**_fields(tools), "embedder": Fixed(OLD, old_vector)})

    def write_before(_: int) -> None:
        if EmbeddingState.objects.get().model == OLD and (text := next(texts, None)):
            write(acme, unaware, text)

    def write_within_the_grace(_: float) -> None:
        write(acme, frozen, "The kettle is broken.")

    run(on_progress=write_before, sleep=write_within_the_grace, grace_seconds=5.0)

    assert models_of(acme) == {(NEW, "", False)}
    assert SearchEntry.objects.filter(team=acme.team).count() == len(FACTS) + 3


@both_roles
def test_a_duplicate_is_known_across_the_models(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: Settings
) -> None:
    run()
    viewer = Viewer(team_id=acme.team.id, actor="test")
    again = MemoryDraft(
        team_id=acme.team.id,
        content=FACTS[1],
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        extractor="test",
        created_at=timezone.now(),
    )

    (result,) = write_memories(viewer=viewer, drafts=[again], tools=tools_with(tools))

    assert result.outcome == Outcome.DUPLICATE


@both_roles
def test_more_dimensions_than_an_index_holds_are_told_before_anything_is_done(
    acme: Cast, known: list[Memory], new_settings: Settings
) -> None:
    new_settings.EMBEDDING_DIMENSIONS = MOST_DIMENSIONS + 1
    told: list[object] = []

    def stop(dimensions: int) -> None:
        told.append(dimensions)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(on_unindexed=stop, on_progress=told.append)

    assert told == [MOST_DIMENSIONS + 1]
    state = EmbeddingState.objects.get()
    assert (state.model, state.next_model) == (OLD, "")


@both_roles
def test_what_an_index_holds_needs_no_word(
    acme: Cast, known: list[Memory], new_settings: Settings
) -> None:
    told: list[int] = []

    run(on_unindexed=told.append)

    assert told == []
