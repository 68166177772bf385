"""A bulk is stored and found by its words at once, and embedded by a worker soon after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone
from numpy.typing import NDArray

from config.metrics import _State
from memory.domain.audience import Viewer
from memory.models import EmbeddingState, Memory, SearchEntry
from memory.reading.questions import Question
from memory.tasks import embed_memories
from memory.understanding.embedders import BUILT_IN
from memory.understanding.tools import Tools
from memory.writing.background import exclusively
from memory.writing.drafts import Outcome
from memory.writing.indexing.reembedding import embedding_status
from memory.writing.indexing.vectors import BATCH, embed_pending, pending_counts
from memory.writing.write_path import EMBEDDED_AT_ONCE
from teams.errors import UnavailableError
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.embedders import RefusingEmbedder
from tests.support.reading import search
from tests.support.reembedding import (
    NEW,
    _fields,
    both_roles,
    known,
    models_of,
    new_settings,
    run,
    server,
    tools_with,
)
from tests.support.writing import draft, store, write

__all__ = ["known", "new_settings", "server"]

BULK = [f"Order {number} went to the harbour." for number in range(EMBEDDED_AT_ONCE + 1)]


class Broken:
    """An embedder that dies after so many batches."""

    name, dimensions, opposition_similarity = BUILT_IN, 384, 0.3

    def __init__(self, *, batches: int = 0) -> None:
        self.left = batches

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.left:
            raise UnavailableError("The embedding model does not answer.")
        self.left -= 1
        return np.eye(1, 384, dtype=np.float32).repeat(len(texts), axis=0)


def store_at_once(cast: Cast, tools: Tools, *contents: str) -> None:
    write(cast, tools, *(draft(cast, content, check=False) for content in contents))


def with_embedder(tools: Tools, embedder: Broken) -> Tools:
    return Tools(**{**_fields(tools), "embedder": embedder})


def pending(cast: Cast) -> int:
    return pending_counts().get(cast.team.pk, 0)


def finds(cast: Cast, tools: Tools, question: str) -> list[str]:
    found = search(
        viewer=Viewer(team_id=cast.team.id, actor="test"),
        rows=Memory.objects.live(),
        question=Question(question),
        limit=3,
        tools=tools,
        now=timezone.now(),
    )
    return [each.memory.content for each in found]


def test_a_single_write_is_embedded_at_once(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK[:EMBEDDED_AT_ONCE])

    assert pending(acme) == 0
    assert models_of(acme) == {(BUILT_IN, "", False)}


def test_a_bulk_waits_and_is_found_by_its_words_meanwhile(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK, "Sarah is allergic to peanuts.")

    assert pending(acme) == len(BULK) + 1
    assert models_of(acme) == {("", "", False)}
    assert finds(acme, tools, "peanuts")[0] == "Sarah is allergic to peanuts."


def test_a_worker_embeds_what_waits(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK, "Sarah is allergic to peanuts.")

    embed_memories()

    assert pending(acme) == 0
    assert models_of(acme) == {(BUILT_IN, "", False)}
    assert finds(acme, tools, "Which groundnut reactions?")[0] == "Sarah is allergic to peanuts."


def test_the_model_of_a_first_bulk_is_recorded_by_the_worker(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools_with(tools), *BULK)
    assert not EmbeddingState.objects.exists()

    embed_pending(tools=tools_with(tools), seconds=60)

    state = EmbeddingState.objects.get()
    assert (state.model, state.dimensions) == (BUILT_IN, 384)


def test_a_bulk_does_not_wait_for_an_embedder_that_is_away(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, with_embedder(tools, Broken()), *BULK)

    assert pending(acme) == len(BULK)


def test_what_a_worker_leaves_behind_the_next_one_finds(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK, *(f"{text} It rained." for text in BULK))
    with pytest.raises(UnavailableError):
        embed_pending(tools=with_embedder(tools, Broken(batches=1)), seconds=60)
    assert pending(acme) == 2 * len(BULK) - BATCH

    assert embed_pending(tools=tools, seconds=60) == 2 * len(BULK) - BATCH

    assert pending(acme) == 0


def test_a_memory_that_the_embedder_refuses_holds_up_no_other(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK, "Biscuit ate poison.")

    picky = RefusingEmbedder("poison")
    assert embed_pending(tools=replace(tools, embedder=picky), seconds=60) == len(BULK) + 1

    assert pending(acme) == 0
    assert models_of(acme) == {(picky.name, "", False)}


def test_a_team_that_another_worker_is_at_is_left_alone(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK)

    with exclusively(f"embed:{acme.team.pk}") as is_mine:
        assert is_mine
        assert embed_pending(tools=tools, seconds=60) == 0

    assert embed_pending(tools=tools, seconds=60) == len(BULK)


def test_time_that_is_over_leaves_the_rest_to_the_next_run(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK)

    assert embed_pending(tools=tools, seconds=0) == 0

    assert pending(acme) == len(BULK)


def test_checked_memories_of_a_bulk_are_embedded_and_compared_at_once(
    acme: Cast, tools: Tools
) -> None:
    store(acme, tools, "The office dog is called Biscuit.")
    drafts = [draft(acme, text, check=False) for text in BULK]
    later = timezone.now() + timedelta(seconds=1)
    said = draft(acme, "The office dog is called Biscuit.", check=True, created_at=later)
    again = draft(acme, "The kettle is broken.", check=True, created_at=later)

    *_, first, second, third = write(acme, tools, *drafts, said, again, again)

    assert pending(acme) == len(BULK)
    assert first.similarity is None or first.similarity > 0.9
    assert (second.outcome, third.outcome) == (Outcome.CREATED, Outcome.DUPLICATE)
    assert SearchEntry.objects.get(memory=second.memory).embedding_model == BUILT_IN


def test_the_log_of_a_start_says_nothing_of_what_a_worker_is_about_to_do(
    acme: Cast, tools: Tools
) -> None:
    before = embedding_status(wanted=BUILT_IN).lacking
    store_at_once(acme, tools, *BULK)

    assert embedding_status(wanted=BUILT_IN).lacking == before


def test_the_metrics_and_the_readiness_say_how_many_wait(acme: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK)

    (metric,) = [each for each in _State().collect() if each.name == "palimpsest_pending_vectors"]

    assert metric.samples[0].value == sum(pending_counts().values()) >= len(BULK)


def test_no_team_sees_the_rows_of_another(acme: Cast, globex: Cast, tools: Tools) -> None:
    store_at_once(acme, tools, *BULK)

    with team_scope(team_ids=[globex.team.id], actor="test"):
        assert not SearchEntry.objects.filter(team=acme.team).exists()
    assert pending(acme) == len(BULK)


@both_roles
def test_a_bulk_that_waits_while_the_model_is_switched_gets_the_new_one(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: object
) -> None:
    store_at_once(acme, tools_with(tools), *BULK)

    run()
    embed_pending(tools=tools_with(tools), seconds=60)

    assert models_of(acme) == {(NEW, "", False)}


def test_what_is_embedded_during_a_reembedding_gets_both_vectors(
    acme: Cast, known: list[Memory], tools: Tools, new_settings: object
) -> None:
    store_at_once(acme, tools_with(tools), *BULK)
    EmbeddingState.objects.update(next_model=NEW)

    embed_pending(tools=tools_with(tools), seconds=60)

    entries = SearchEntry.objects.filter(team=acme.team).exclude(next_model="")
    assert entries.count() == len(BULK)
    assert set(entries.values_list("next_model", flat=True)) == {NEW}
