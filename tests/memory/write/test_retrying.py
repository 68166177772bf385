"""Work that PostgreSQL aborts because of another transaction is retried and completed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection, connections
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.judgements import Feedback
from memory.models import Contradiction, Memory
from memory.understanding.tools import Tools
from memory.writing.background import ATTEMPTS, retried
from memory.writing.decisions.changes import (
    correct_memory,
    delete_memory,
    give_feedback,
    pin_memory,
)
from memory.writing.decisions.disputes import resolve_contradiction
from memory.writing.write_path import write_memories
from teams.models import Conversation
from teams.services.conversations import start_conversation
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.disputes import Quarrel
from tests.support.embedders import OrthogonalEmbedder
from tests.support.waiting import PATIENCE_SECONDS, until, waits
from tests.support.writing import draft

Act = Callable[["Town"], object]


class Town:
    """A committed team with two memories of one conversation, in dispute."""

    def __init__(self, tools: Tools) -> None:
        self.tools = replace(tools, embedder=OrthogonalEmbedder(), judge=Quarrel())
        self.found()

    def found(self) -> None:
        """Begin with another team, as if nothing had happened."""
        self.cast: Cast = make_cast(f"town-{uuid4().hex}")
        self.viewer = Viewer(team_id=self.cast.team.id, actor="reviewer")
        with self.scope():
            self.talk, _ = start_conversation(
                team_id=self.cast.team.id,
                agent=self.cast.kyra,
                end_user=self.cast.sarah,
                project=None,
                thread_id="t",
            )
        drafts = [
            draft(self.cast, text, subject="user.drink", conversation_id=self.talk.pk)
            for text in ("Sarah drinks tea.", "Sarah drinks coffee.")
        ]
        results = write_memories(viewer=self.viewer, drafts=drafts, tools=self.tools)
        self.one, self.two = (result.memory.pk for result in results)
        with self.scope():
            self.contradiction: UUID = Contradiction.objects.get().pk

    def scope(self) -> AbstractContextManager[None]:
        """A transaction of the team's."""
        return team_scope(team_ids=[self.cast.team.id], actor="test")

    def now(self, memory_id: UUID) -> Memory:
        """The memory as the database has it."""
        with team_scope(team_ids=[self.cast.team.id], actor="test"):
            return Memory.objects.get(pk=memory_id)


@pytest.fixture
def town(committed_db: None, tools: Tools) -> Town:
    """A team that several connections may write to."""
    return Town(tools)


class OtherTurnedAwayError(Exception):
    """PostgreSQL turned away the transaction that the act was to meet, and not the act."""


def against(town: Town, act: Act) -> object:
    """Returns the result of `act` in a deadlock with another transaction.

    It has the memory and waits for the conversation that the log moves on; the other one has the
    conversation and then waits for the memory. Who waited first is turned away, if the other one
    waits by the time PostgreSQL looks; where it came too late they meet anew in another team.
    """
    for _ in range(20):
        try:
            return meet(town, act)
        except OtherTurnedAwayError:
            town.found()
    raise AssertionError("the act was never the one that is turned away")


def meet(town: Town, act: Act) -> object:
    """Returns the result of `act`; raises OtherTurnedAwayError where the other was aborted."""
    backends: list[int] = []

    def run() -> object:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                backends.append(cursor.fetchone()[0])
            return act(town)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with team_scope(team_ids=[town.cast.team.id], actor="test"):
            Conversation.objects.select_for_update().get(pk=town.talk.pk)
            running: Future[object] = pool.submit(run)
            until(lambda: backends and waits(backends[0]))
            try:
                list(Memory.objects.select_for_update().order_by("pk"))
            except OperationalError as error:
                raise OtherTurnedAwayError from error
        return running.result(timeout=PATIENCE_SECONDS)


def pin(town: Town) -> object:
    return pin_memory(viewer=town.viewer, memory_id=town.one, pinned=True)


def delete(town: Town) -> object:
    return delete_memory(viewer=town.viewer, memory_id=town.one)


def help_out(town: Town) -> object:
    return give_feedback(viewer=town.viewer, memory_id=town.one, signal=Feedback.HELPFUL, note="")


def settle(town: Town) -> object:
    return resolve_contradiction(
        viewer=town.viewer,
        contradiction_id=town.contradiction,
        resolution="a_wins",
        tools=town.tools,
        now=timezone.now(),
    )


def merge(town: Town) -> object:
    return resolve_contradiction(
        viewer=town.viewer,
        contradiction_id=town.contradiction,
        resolution="merged",
        merged_content="Sarah drinks both.",
        tools=town.tools,
        now=timezone.now(),
    )


def correct(town: Town) -> object:
    return correct_memory(
        viewer=town.viewer,
        memory_id=town.one,
        corrected_content="Sarah drinks water.",
        reason="",
        tools=town.tools,
        now=timezone.now(),
    )


@pytest.mark.parametrize(
    ("act", "holds"),
    [
        (pin, lambda town: town.now(town.one).is_pinned),
        (delete, lambda town: town.now(town.one).status == "soft_deleted"),
        (help_out, lambda town: town.now(town.one).importance == 6),
        (settle, lambda town: town.now(town.two).status == "superseded"),
        (merge, lambda town: town.now(town.two).status == "superseded"),
        (correct, lambda town: town.now(town.one).status == "superseded"),
    ],
)
def test_a_deadlock_is_not_the_callers_to_see(
    town: Town, act: Act, holds: Callable[[Town], bool]
) -> None:
    against(town, act)

    assert holds(town)


def test_feedback_that_was_turned_away_counts_once(town: Town) -> None:
    against(town, help_out)

    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        assert Memory.objects.select_related("usage").get(pk=town.one).usage.succeeded == 1


def test_without_another_try_the_same_meeting_is_a_deadlock(town: Town) -> None:
    once = pin_memory.__wrapped__  # type: ignore[attr-defined]

    with pytest.raises(OperationalError, match="deadlock"):
        against(town, lambda town: once(viewer=town.viewer, memory_id=town.one, pinned=True))


def turned_away(tries: list[int]) -> None:
    """Fails as PostgreSQL would."""
    tries.append(1)
    with connection.cursor() as cursor:
        cursor.execute(
            "DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'serialization_failure'; END $$"
        )


def test_it_gives_up_after_a_few_tries(committed_db: None) -> None:
    tries: list[int] = []

    with pytest.raises(OperationalError):
        retried(turned_away)(tries)

    assert len(tries) == ATTEMPTS


def test_other_failures_and_a_callers_transaction_are_tried_once(committed_db: None) -> None:
    tries: list[int] = []

    with pytest.raises(OperationalError), team_scope(team_ids=[], actor="test"):
        retried(turned_away)(tries)

    assert len(tries) == 1
