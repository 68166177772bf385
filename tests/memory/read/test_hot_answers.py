"""The hot tier: the same question is answered again from Redis, and never with what is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import numpy as np
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_redis import get_redis_connection
from numpy.typing import NDArray
from pytest_django import Settings

from memory.domain.scoring import Weights
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryUsage
from memory.reading.questions import Question
from memory.reading.usage import flush_noted_usage
from memory.understanding.tools import Tools
from teams.errors import UnavailableError
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.hot_desk import NOON, Desk, desk, texts, town

__all__ = ["desk", "town"]


def test_the_same_question_is_answered_again_with_the_same(desk: Desk) -> None:
    first, second = desk.ask(), desk.ask()

    assert (first.stats.cache_hit, second.stats.cache_hit) == (False, True)
    assert second.answer == first.answer
    assert len(first.memories) == 3
    kept = replace(second.stats, cache_hit=False, total_ms=0, steps_ms={})
    assert kept == replace(first.stats, total_ms=0, steps_ms={})


def test_so_are_prompts_and_searches(desk: Desk) -> None:
    first, second = desk.prompt(), desk.prompt()
    found = [desk.search("release", limit=3) for _ in range(2)]

    assert (first.stats.cache_hit, second.stats.cache_hit) == (False, True)
    assert second.answer == first.answer
    assert [each.stats.cache_hit for each in found] == [False, True]
    assert found[1].answer == found[0].answer
    assert texts(found[0]) != []


def test_an_answer_that_is_kept_asks_the_database_for_the_revision_alone(desk: Desk) -> None:
    first = desk.ask()
    with CaptureQueriesContext(connection) as queries:
        found = desk.ask()
        same = texts(found) == texts(first)
    # Which model is in use is looked up again after a while, whatever is asked.
    apart = ("BEGIN", "COMMIT", "memory_embeddingstate")
    statements = [each["sql"] for each in queries if not any(word in each["sql"] for word in apart)]

    assert found.stats.cache_hit
    assert same
    assert len(statements) == 1
    assert "audit_teamrevision" in statements[0]


def test_a_hit_leaves_no_team_in_scope(desk: Desk) -> None:
    hits = [desk.ask().stats.cache_hit for _ in range(2)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('palimpsest.team_ids', true)")
        (scope,) = cursor.fetchone() or (None,)
        cursor.execute("SELECT count(*) FROM audit_teamrevision")
        (seen,) = cursor.fetchone() or (None,)

    assert hits == [False, True]
    assert not scope
    assert seen == 0


def test_a_kept_answer_shows_all_of_its_memories(desk: Desk) -> None:
    with team_scope(team_ids=[desk.cast.team.id], actor="test"):
        talk = factories.ConversationFactory.create(
            team=desk.cast.team, agent=desk.cast.kyra, end_user=desk.cast.sarah
        )
        message = factories.MessageFactory.create(team=desk.cast.team, conversation=talk)
    desk.remember(
        "Sarah signs the release off.",
        agent_id=desk.cast.kyra.pk,
        end_user_id=desk.cast.sarah.pk,
        conversation_id=talk.pk,
        message_ids=(message.pk,),
        tags=("release",),
        is_pinned=True,
    )
    desk.of_sarah.ask()
    flush_noted_usage()
    client = get_redis_connection("default")
    for key in client.scan_iter("*:hot:*"):
        client.delete(key)
    first, second = desk.of_sarah.ask(), desk.of_sarah.ask()

    assert second.stats.cache_hit
    assert {each["usage"]["retrieved"] for each in second.memories} == {1}
    assert second.memories == first.memories
    assert len(second.memories) == 4


def test_an_empty_answer_is_kept_until_there_is_one(town: Cast, tools: Tools) -> None:
    desk = Desk(town, tools)
    empty = [desk.ask().stats.cache_hit for _ in range(2)]
    desk.remember("The release is on Friday.")

    assert empty == [False, True]
    assert texts(desk.ask()) == ["The release is on Friday."]


def test_another_teams_change_leaves_it(desk: Desk, tools: Tools) -> None:
    desk.ask()
    Desk(make_cast(f"other-{uuid4().hex}"), tools).remember("The release is on Monday.")

    assert desk.ask().stats.cache_hit


def test_who_calls_makes_no_difference(desk: Desk) -> None:
    desk.ask()

    assert desk.ask(viewer=replace(desk.viewer, actor="somebody")).stats.cache_hit


def test_what_decides_an_answer_tells_it_from_others(desk: Desk) -> None:
    desk.ask()
    others: list[dict[str, Any]] = [
        {"text": "When is the release"},
        {"token_budget": 501},
        {"limit": 2},
        {"include_cold": True},
        {"include_raw": True},
        {"weights": Weights(recency=0.2)},
        {"question": Question("When is the release?", uuid4())},
        {"viewer": replace(desk.viewer, agent_id=desk.cast.luke.pk)},
        {"viewer": replace(desk.viewer, end_user_id=desk.cast.sarah.pk)},
        {"viewer": replace(desk.viewer, project_id=uuid4())},
        {"viewer": replace(desk.viewer, allowed_categories=("work",))},
        {"now": NOON + timedelta(minutes=6)},
        {"now": NOON + timedelta(days=1)},
    ]

    assert [desk.ask(**other).stats.cache_hit for other in others] == [False] * len(others)


def test_yesterdays_answer_is_not_given_today(desk: Desk) -> None:
    midnight = datetime(2026, 5, 2, tzinfo=UTC)
    question = {"text": "What was decided yesterday?"}
    desk.ask(**question, now=midnight - timedelta(seconds=1))

    assert not desk.ask(**question, now=midnight + timedelta(seconds=1)).stats.cache_hit


def test_nobody_is_given_what_was_found_for_somebody_else(desk: Desk) -> None:
    desk.remember(
        "The release key is under the mat.",
        memory_type=MemoryType.AGENT_PRIVATE,
        agent_id=desk.cast.kyra.pk,
    )
    luke = replace(desk.viewer, agent_id=desk.cast.luke.pk)
    own = [texts(desk.ask()) for _ in range(2)]
    others = [texts(desk.ask(viewer=luke)) for _ in range(2)]

    assert all("The release key is under the mat." in each for each in own)
    assert not any("The release key is under the mat." in each for each in others)


def test_a_transaction_that_wrote_sees_its_own_and_keeps_nothing(desk: Desk) -> None:
    desk.ask()
    with team_scope(team_ids=[desk.cast.team.id], actor="test"):
        desk.remember("The release is on Monday.")
        inside = desk.ask()
        Memory.objects.filter(content="The release is on Monday.").update(importance=9)
        connection.set_rollback(True)
    outside = desk.ask()

    assert "The release is on Monday." in texts(inside)
    assert "The release is on Monday." not in texts(outside)
    assert outside.stats.cache_hit


def test_answers_from_redis_are_counted_as_reads(desk: Desk) -> None:
    found = [desk.ask() for _ in range(3)][-1]
    flush_noted_usage()

    with team_scope(team_ids=[desk.cast.team.id], actor="test"):
        counts = MemoryUsage.objects.values_list("retrieved", flat=True)
        assert list(counts) == [3] * len(found.memories)


@dataclass(frozen=True)
class AwayEmbedder:
    """An embedder whose model does not answer."""

    name: str
    opposition_similarity: float = 0.7
    dimensions: int = 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Nothing."""
        raise UnavailableError("The embedding model does not answer.")


def test_an_answer_by_words_alone_is_not_kept(desk: Desk) -> None:
    embedder = desk.tools.embedder
    embedder.embed(["release"])
    away = Desk(desk.cast, replace(desk.tools, embedder=AwayEmbedder(embedder.name)))
    by_words = [away.ask().stats.cache_hit for _ in range(2)]

    assert by_words == [False, False]
    assert [desk.ask().stats.cache_hit for _ in range(2)] == [False, True]


def test_it_can_be_switched_off(desk: Desk, settings: Settings) -> None:
    settings.HOT_ANSWER_SECONDS = 0

    assert [desk.ask().stats.cache_hit for _ in range(2)] == [False, False]


def test_what_another_release_kept_is_made_again(desk: Desk) -> None:
    first = desk.ask()
    client = get_redis_connection("default")
    for garbage in (b"{}", b"nonsense", b'{"answer": []}'):
        for key in client.scan_iter("*:hot:*"):
            client.set(key, garbage)
        again = desk.ask()
        assert not again.stats.cache_hit
        assert again.text == first.text
