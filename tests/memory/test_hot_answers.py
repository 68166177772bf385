"""The hot tier: the same question is answered again from Redis, and never with what is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django_redis import get_redis_connection
from numpy.typing import NDArray
from pytest_django import Settings

from audit.services.erasure import erase_user
from config import embedded
from memory.api.plain_output import plain_packed_memory
from memory.clients.quick_redis import quick_redis
from memory.clients.tools import Tools
from memory.domain.feedback import Feedback
from memory.domain.scoring import Weights
from memory.domain.tokens import ESTIMATE
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Memory, MemoryUsage
from memory.services.answers import Retrieval
from memory.services.built_prompts import BuiltPrompt
from memory.services.corrections import correct_memory, give_feedback
from memory.services.drafts import MemoryDraft
from memory.services.prompting import build_prompt
from memory.services.ranking import Question
from memory.services.retrieval import retrieve, search
from memory.services.state import delete_memory, pin_memory
from memory.services.usage import flush_noted_usage
from memory.services.write_path import write_memories
from teams.errors import UnavailableError
from teams.models import Project, Team
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team of this test's own, committed."""
    return make_cast(f"town-{uuid4().hex}")


@dataclass(frozen=True)
class Desk:
    """Where the tests write and ask, as Kyra."""

    cast: Cast
    tools: Tools

    @property
    def viewer(self) -> Viewer:
        """Kyra."""
        return Viewer(team_id=self.cast.team.id, actor="test", agent_id=self.cast.kyra.pk)

    def remember(self, *contents: str, **fields: Any) -> list[Memory]:
        """Store memories as given."""
        drafts = [
            MemoryDraft(
                **{
                    "team_id": self.cast.team.id,
                    "content": content,
                    "memory_type": MemoryType.SEMANTIC,
                    "importance": 5,
                    "extractor": "test",
                    "created_at": NOON,
                    "check": False,
                    **fields,
                }
            )
            for content in contents
        ]
        written = write_memories(viewer=self.viewer, drafts=drafts, tools=self.tools)
        return [each.memory for each in written]

    def ask(self, text: str = "When is the release?", **fields: Any) -> Retrieval:
        """What Kyra is told."""
        values: dict[str, Any] = {
            "viewer": self.viewer,
            "question": Question(text),
            "weights": Weights(),
            "token_budget": 500,
            "limit": None,
            "include_cold": False,
            "now": NOON,
            **fields,
        }
        return retrieve(tools=self.tools, **values)

    def prompt(self, **fields: Any) -> BuiltPrompt:
        """Kyra's whole prompt."""
        values: dict[str, Any] = {
            "viewer": self.viewer,
            "agent": self.cast.kyra,
            "question": Question("When is the release?"),
            "conversation": None,
            "weights": Weights(),
            "token_budget": 1000,
            "include_cold": False,
            "counter": ESTIMATE,
            "now": NOON,
            **fields,
        }
        return build_prompt(tools=self.tools, **values)


@pytest.fixture
def desk(town: Cast, tools: Tools) -> Desk:
    """A desk with three memories."""
    desk = Desk(town, tools)
    desk.remember("The release is on Friday.", "Billing is done by Kyra.")
    desk.remember("Staging is down on Sundays.", is_pinned=True)
    return desk


def texts(found: Retrieval) -> list[str]:
    """The texts, best first."""
    return [each.memory.content for each in found.memories]


def test_the_same_question_is_answered_again_with_the_same(desk: Desk) -> None:
    first, second = desk.ask(), desk.ask()

    assert (first.stats.cache_hit, second.stats.cache_hit) == (False, True)
    assert replace(second, stats=first.stats) == first
    assert [each.memory.agent for each in second.memories] == [
        each.memory.agent for each in first.memories
    ]
    kept = replace(second.stats, cache_hit=False, total_ms=0, steps_ms={})
    assert kept == replace(first.stats, total_ms=0, steps_ms={})


def test_so_are_prompts_and_searches(desk: Desk) -> None:
    first, second = desk.prompt(), desk.prompt()
    found = [
        search(
            viewer=desk.viewer, question=Question("release"), limit=3, tools=desk.tools, now=NOON
        )
        for _ in range(2)
    ]

    assert (first.stats.cache_hit, second.stats.cache_hit) == (False, True)
    assert replace(second, stats=first.stats) == first
    assert found[0] == found[1] != []


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
    desk.ask()
    flush_noted_usage()
    client = get_redis_connection("default")
    for key in client.scan_iter("*:hot:*"):
        client.delete(key)
    first, second = desk.ask(), desk.ask()

    assert second.stats.cache_hit
    assert {each.memory.usage.retrieved for each in second.memories} == {1}
    shown = [[plain_packed_memory(each) for each in found.memories] for found in (first, second)]
    assert shown[0] == shown[1]
    assert [each.memory.team_id for each in second.memories] == [desk.cast.team.id] * 4


def test_an_empty_answer_is_kept_until_there_is_one(town: Cast, tools: Tools) -> None:
    desk = Desk(town, tools)
    empty = [desk.ask().stats.cache_hit for _ in range(2)]
    desk.remember("The release is on Friday.")

    assert empty == [False, True]
    assert texts(desk.ask()) == ["The release is on Friday."]


Change = Callable[[Desk, Memory], object]
CHANGES: dict[str, Change] = {
    "one more": lambda desk, _: desk.remember("The release is on Monday."),
    "deleted": lambda desk, memory: delete_memory(viewer=desk.viewer, memory_id=memory.pk),
    "pinned": lambda desk, memory: pin_memory(viewer=desk.viewer, memory_id=memory.pk, pinned=True),
    "cited": lambda desk, memory: give_feedback(
        viewer=desk.viewer, memory_id=memory.pk, signal=Feedback.CITED, note=""
    ),
    "corrected": lambda desk, memory: correct_memory(
        viewer=desk.viewer,
        memory_id=memory.pk,
        corrected_content="The release is on Tuesday.",
        reason="",
        tools=desk.tools,
        now=NOON,
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_in_the_very_next_answer(desk: Desk, change: Change) -> None:
    before = desk.ask()
    shown = [plain_packed_memory(each) for each in before.memories]
    desk.prompt()
    target = next(each.memory for each in before.memories if "release" in each.memory.content)
    change(desk, target)
    after, prompt = desk.ask(), desk.prompt()

    assert not after.stats.cache_hit
    assert not prompt.stats.cache_hit
    assert [plain_packed_memory(each) for each in after.memories] != shown


def test_so_is_what_the_owner_changes_by_hand(desk: Desk) -> None:
    desk.ask()
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "UPDATE memory_memory SET status = 'archived', is_pinned = false WHERE team_id = %s",
            [desk.cast.team.id],
        )

    assert texts(desk.ask()) == []


def test_a_name_that_changes_is_in_the_very_next_answer(desk: Desk) -> None:
    with team_scope(team_ids=[desk.cast.team.id], actor="test"):
        project = Project.objects.create(team=desk.cast.team, slug="moon", name="Moon")
    desk.remember(
        "Release it at noon.",
        agent_id=desk.cast.kyra.pk,
        end_user_id=desk.cast.sarah.pk,
        project_id=project.pk,
        is_pinned=True,
    )

    def shown() -> tuple[bool, set[tuple[str | None, ...]]]:
        found = desk.ask()
        plain = [plain_packed_memory(each) for each in found.memories]
        return found.stats.cache_hit, {
            (each["agent"], each["user"], each["project"]) for each in plain if each["project"]
        }

    seen = [shown(), shown()]
    for table, column, key in (
        ("teams_agent", "slug", desk.cast.kyra.pk),
        ("teams_enduser", "external_id", desk.cast.sarah.pk),
        ("teams_project", "slug", project.pk),
    ):
        with connections["owner"].cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET {column} = 'new-{column}' WHERE id = %s", [key])
        seen.append(shown())

    assert [hit for hit, _ in seen] == [False, True, False, False, False]
    assert seen[-1][1] == {("new-slug", "new-external_id", "new-slug")}


def test_what_was_erased_is_not_given_again(desk: Desk) -> None:
    desk.remember("Sarah has a release key.", end_user_id=desk.cast.sarah.pk, is_pinned=True)
    kept = [desk.ask() for _ in range(2)][-1], [desk.prompt() for _ in range(2)][-1]
    erase_user(
        team_id=desk.cast.team.id, external_id=desk.cast.sarah.external_id, actor="command:test"
    )
    after, prompt = desk.ask(), desk.prompt()

    assert all(each.stats.cache_hit for each in kept)
    assert "Sarah has a release key." in texts(kept[0])
    assert "Sarah has a release key." not in texts(after)
    assert "Sarah" not in after.formatted_prompt + prompt.prompt


def test_a_new_message_ends_only_answers_that_looked_at_messages(desk: Desk) -> None:
    of_memories: dict[str, Any] = {"include_raw": False}
    of_messages: dict[str, Any] = {"include_raw": True}
    desk.ask(**of_memories)
    desk.ask(**of_messages)
    again = desk.ask(**of_messages).stats.cache_hit
    with team_scope(team_ids=[desk.cast.team.id], actor="test"):
        conversation = factories.ConversationFactory.create(
            team=desk.cast.team, agent=desk.cast.kyra, end_user=desk.cast.sarah
        )
        factories.MessageFactory.create(team=desk.cast.team, conversation=conversation)

    assert again
    assert desk.ask(**of_memories).stats.cache_hit
    assert not desk.ask(**of_messages).stats.cache_hit


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
        assert again.formatted_prompt == first.formatted_prompt


def test_who_reads_while_others_write_never_misses_what_was_acknowledged(desk: Desk) -> None:
    """Writers say what is committed; each answer begun after that must hold it."""
    acknowledged: list[str] = []
    failures: list[str] = []
    is_over = threading.Event()
    rounds, writers, readers = 12, 3, 4
    viewer = desk.viewer

    def write(writer: int) -> None:
        for number in range(rounds):
            text = f"Release note {writer}-{number}."
            desk.remember(text, is_pinned=True)
            acknowledged.append(text)
        connections.close_all()

    def read() -> int:
        hits = 0
        while not is_over.is_set():
            known = list(acknowledged)
            found = desk.ask(token_budget=4000, viewer=viewer)
            hits += found.stats.cache_hit
            failures.extend(set(known) - set(texts(found)))
        connections.close_all()
        return hits

    with ThreadPoolExecutor(writers + readers) as pool:
        reading = [pool.submit(read) for _ in range(readers)]
        writing = [pool.submit(write, writer) for writer in range(writers)]
        for done in writing:
            done.result()
        # Nothing changes any more: now each answer after the first comes from Redis.
        last = [desk.ask(token_budget=4000).stats.cache_hit for _ in range(3)]
        is_over.set()
        for each in reading:
            each.result()

    assert failures == []
    assert len(acknowledged) == rounds * writers
    assert last[1:] == [True, True]


@pytest.fixture
def own_redis(tmp_path: Path, settings: Settings) -> Iterator[Path]:
    """A Redis for the hot tier alone, which may be killed."""
    embedded.start_redis(tmp_path)
    settings.REDIS_URL = f"unix://{embedded.redis_socket(tmp_path)}"
    quick_redis.cache_clear()
    yield tmp_path
    embedded.stop_redis(tmp_path)
    quick_redis.cache_clear()


def test_a_killed_redis_makes_no_answer_wrong(desk: Desk, own_redis: Path) -> None:
    kept = [desk.ask() for _ in range(2)][-1]
    embedded.stop_redis(own_redis)
    away = [desk.ask() for _ in range(3)]
    desk.remember("The release is on Monday.", is_pinned=True)
    changed = desk.ask()

    assert kept.stats.cache_hit
    assert [each.stats.cache_hit for each in away] == [False] * 3
    assert {each.formatted_prompt for each in away} == {kept.formatted_prompt}
    assert "The release is on Monday." in texts(changed)


def test_what_redis_still_holds_after_an_outage_is_not_given_after_a_write(
    desk: Desk, own_redis: Path
) -> None:
    desk.ask()
    embedded.stop_redis(own_redis)
    desk.remember("The release is on Monday.", is_pinned=True)
    embedded.start_redis(own_redis)
    quick_redis.cache_clear()
    found = desk.ask()

    assert not found.stats.cache_hit
    assert "The release is on Monday." in texts(found)


def test_what_a_team_switches_off_is_gone_from_the_very_next_answer(desk: Desk) -> None:
    desk.remember("The ferry sails at nine.")
    desk.ask()
    assert desk.ask().stats.cache_hit

    with team_scope(team_ids=[desk.cast.team.pk], actor="test"):
        flags = {"contradiction_detection": False}
        assert Team.objects.filter(pk=desk.cast.team.pk).update(feature_flags=flags) == 1

    assert not desk.ask().stats.cache_hit
