"""Events that invalidate a cached answer: any change to it, by anyone, also while Redis is away."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from pytest_django import Settings

from audit.services.erasure import erase_user
from config import embedded
from memory.domain.judgements import Feedback
from memory.models import Memory
from memory.writing.decisions.changes import (
    correct_memory,
    delete_memory,
    give_feedback,
    pin_memory,
)
from routing.clients.quick_redis import quick_redis
from teams.models import Project, Team
from teams.tenancy import team_scope
from tests import factories
from tests.support.hot_desk import NOON, Desk, desk, texts, town

__all__ = ["desk", "town"]
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
    desk.prompt()
    target = next(each["id"] for each in before.memories if "release" in each["content"])
    with team_scope(team_ids=[desk.cast.team.id], actor="test"):
        memory = Memory.objects.get(pk=target)
    change(desk, memory)
    after, prompt = desk.ask(), desk.prompt()

    assert not after.stats.cache_hit
    assert not prompt.stats.cache_hit
    assert after.memories != before.memories


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
        found = desk.of_sarah.ask()
        return found.stats.cache_hit, {
            (each["agent"], each["user"], each["project"])
            for each in found.memories
            if each["project"]
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
    asked = desk.of_sarah
    kept = [asked.ask() for _ in range(2)][-1], [asked.prompt() for _ in range(2)][-1]
    erase_user(
        team_id=desk.cast.team.id, external_id=desk.cast.sarah.external_id, actor="command:test"
    )
    after, prompt = asked.ask(), asked.prompt()

    assert all(each.stats.cache_hit for each in kept)
    assert "Sarah has a release key." in texts(kept[0])
    assert "Sarah has a release key." not in texts(after)
    assert "Sarah" not in after.text + prompt.text


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
    assert {each.text for each in away} == {kept.text}
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
