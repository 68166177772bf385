"""A reader's predicted memories are found by that reader's next retrieval, and nobody else's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from memory.domain.scoring import PREFETCH_SHARE
from memory.domain.types import Signals
from memory.reading.cache import prefetch_key
from memory.satellites.plans.predicting import predict
from tests.support.hot_desk import NOON, Desk, Told, desk, town
from tests.support.memories_api import post

__all__ = ["desk", "town"]
POOL = "Raise the number of connections to twenty"
UNRELATED = "Which violin does Dmitri play?"


@pytest.fixture
def pool(api: APIClient) -> str:
    """The id of a change of one file, beside a memory of another matter."""
    post(api, "memories", content="Dmitri plays the violin.", agent="kyra", check=False)
    artifact = {"kind": "file", "ref": "src/pool.py", "added": 300, "removed": 0}
    made = post(
        api,
        "memories",
        form="episode",
        payload={"title": POOL, "artifacts": [artifact]},
        check=False,
        agent="kyra",
    )
    return str(made.json()["id"])


def predicted(api: APIClient, **given: Any) -> float:
    """The chance of what is predicted when the file is opened."""
    response = post(api, "context/predict", file_opened="src/pool.py", agent="kyra", **given)
    (found,) = response.json()["predicted_memories"]
    return float(found["prediction_confidence"])


def retrieved(api: APIClient, query: str = UNRELATED, **given: Any) -> dict[str, Any]:
    """Returns the retrieved memories, by id."""
    asked = {"query": query, "min_score": 0.3, "agent": "kyra", "return": "full", **given}
    response = post(api, "retrieve", **asked)
    assert response.status_code == 200, response.content
    return {each["id"]: each for each in response.json()["memories"]}


def test_what_is_likely_needed_is_told_whatever_is_asked(api: APIClient, pool: str) -> None:
    before = retrieved(api)
    chance = predicted(api)
    after = retrieved(api)

    assert chance >= 0.5
    assert pool not in before
    assert after[pool]["signals"]["prefetched"] == pytest.approx(chance, abs=1e-3)
    assert after.keys() == {*before, pool}


def test_it_adds_a_bounded_share_to_the_score(api: APIClient, pool: str) -> None:
    question = "What is the number of connections?"
    before = retrieved(api, question)[pool]
    predicted(api)
    after = retrieved(api, question)[pool]

    assert before["signals"]["prefetched"] == 0
    assert 0 < after["score"] - before["score"] <= PREFETCH_SHARE + 1e-6


def test_a_narrowed_retrieval_finds_what_fits_it(api: APIClient, pool: str) -> None:
    predicted(api)

    assert pool in retrieved(api, memory_types=["episodic"])
    assert pool not in retrieved(api, memory_types=["procedural"])


def test_another_user_or_project_finds_nothing_of_it(api: APIClient, pool: str) -> None:
    predicted(api)

    assert pool not in retrieved(api, user="sarah")
    assert pool not in retrieved(api, project="atlas")


def test_what_was_deleted_since_is_not_told(api: APIClient, pool: str) -> None:
    predicted(api)
    api.delete(f"/v1/memories/{pool}")

    assert pool not in retrieved(api)


def test_an_assembled_context_displaces_nothing(api: APIClient, pool: str) -> None:
    named = {"user": "sarah", "project": "atlas"}
    post(api, "memories", content="Atlas is a map.", agent="kyra", check=False, **named)
    predicted(api, **named)
    told = post(api, "context/assemble", agent="kyra", signals={"branch": "violins"}, **named)

    assert pool in {each["id"] for each in told.json()["memories"]}
    assert pool in retrieved(api, **named)


def foretell(desk: Desk, words: str, **viewer: Any) -> None:
    """Predict by words for Kyra, or for whom the fields say."""
    predict(
        viewer=replace(desk.viewer, **viewer),
        signals=Signals(branch=words),
        tools=desk.tools,
        now=NOON,
    )


def chances(found: Told) -> dict[str, float]:
    """Returns the chances of the prefetched memories, by text."""
    return {
        each["content"]: each["signals"]["prefetched"]
        for each in found.memories
        if each["signals"]["prefetched"]
    }


def test_a_kept_answer_is_made_anew_when_a_prediction_comes_changes_or_ends(desk: Desk) -> None:
    desk.ask()
    foretell(desk, "billing")
    first = desk.ask()
    foretell(desk, "release")
    other = desk.ask()
    get_redis_connection("default").delete(prefetch_key(desk.viewer))
    last = desk.ask()

    assert [each.stats.cache_hit for each in (first, other, last)] == [False] * 3
    assert set(chances(first)) == {"Billing is done by Kyra."}
    assert set(chances(other)) == {"The release is on Friday."}
    assert chances(last) == {}


def test_a_kept_answer_stays_while_the_prediction_is_the_same(desk: Desk) -> None:
    foretell(desk, "billing")
    first = desk.ask()
    foretell(desk, "billing")
    second = desk.ask()

    assert second.stats.cache_hit
    assert second.answer == first.answer


def test_a_prediction_for_others_leaves_a_kept_answer(desk: Desk) -> None:
    desk.ask()
    foretell(desk, "billing", end_user_id=desk.cast.sarah.pk)
    foretell(desk, "billing", agent_id=None)

    assert desk.ask().stats.cache_hit


def test_a_retrieval_reads_redis_once(desk: Desk) -> None:
    client = get_redis_connection("default")

    def reads() -> int:
        stats = client.info("commandstats")
        return sum(stats.get(f"cmdstat_{name}", {}).get("calls", 0) for name in ("get", "mget"))

    desk.ask("What is on Friday?")
    before = reads()
    desk.ask()
    made = reads()
    desk.ask()

    assert (made - before, reads() - made) == (1, 1)


def test_what_cannot_be_read_counts_as_nothing(desk: Desk) -> None:
    get_redis_connection("default").set(prefetch_key(desk.viewer), b"no JSON", ex=60)

    assert chances(desk.ask()) == {}
