"""Whatever is done to memories, by whomever and however: the log says it, and says it as it was."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from audit.models import EVENTS, LogCommit, MemoryLog
from audit.selectors import instant_at
from memory.domain.audience import Viewer
from memory.domain.judgements import Feedback
from memory.models import Contradiction, Memory
from memory.selectors.history.memory_history import as_of
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import (
    correct_memory,
    delete_memory,
    give_feedback,
    pin_memory,
)
from memory.writing.decisions.disputes import resolve_contradiction
from memory.writing.decisions.moving import restore_memory
from memory.writing.stating import StatedMemory, remember
from teams.errors import DomainError
from teams.tenancy import team_scope
from tests.support.cast import make_cast
from tests.support.examples import examples

Rows = dict[UUID, dict[str, Any]]  # every column of every memory, by its id
FACTS = st.builds(
    "{} {} {}.".format,
    st.sampled_from(["Sarah", "Dmitri"]),
    st.sampled_from(["lives in", "does not live in", "works in", "prefers"]),
    st.sampled_from(["Rome", "Oslo", "Potsdam"]),
)
COLUMNS = st.fixed_dictionaries(
    {},
    optional={
        "importance": st.integers(1, 10),
        "confidence": st.sampled_from([0.0, 0.1, 1.0]),
        "corroboration": st.integers(0, 3),
        "is_pinned": st.booleans(),
        "tier": st.sampled_from(["hot", "warm", "cold"]),
        "status": st.sampled_from(["disputed", "superseded", "soft_deleted", "archived"]),
        "tags": st.lists(st.sampled_from(["a", "b c", 'q"{}', "é\\"]), unique=True, max_size=3),
        "subject": st.sampled_from(["", "user.home", "a'b"]),
        "valid_to": st.sampled_from([None, datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)]),
        "external_id": st.none(),
    },
).filter(bool)


class LogMachine(RuleBasedStateMachine):
    """The public services, the table and its owner take turns; the log must follow each step."""

    memories = Bundle("memories")
    tools: Tools

    @initialize()
    def found_a_team(self) -> None:
        self.town = make_cast(f"town-{uuid4().hex}")
        self.team_id = self.town.team.id
        self.viewer = Viewer(team_id=self.team_id, actor="key:machine")
        self.seen: list[tuple[datetime, Rows]] = []

    @rule(target=memories, facts=st.lists(FACTS, min_size=1, max_size=3), check=st.booleans())
    def remember(self, facts: list[str], check: bool) -> Any:
        results = remember(
            viewer=self.viewer,
            stated=[StatedMemory(content=each, user="sarah", check=check) for each in facts],
            tools=self.tools,
            now=timezone.now(),
        )
        return multiple(*(result.memory.pk for result in results))

    @rule(target=memories, memory=memories, fact=FACTS)
    def correct(self, memory: UUID, fact: str) -> Any:
        try:
            result = correct_memory(
                viewer=self.viewer,
                memory_id=memory,
                corrected_content=fact,
                reason="",
                tools=self.tools,
                now=timezone.now(),
            )
        except DomainError:
            return multiple()
        return result.memory.pk

    @rule(memory=memories, pinned=st.booleans())
    def pin(self, memory: UUID, pinned: bool) -> None:
        self.may_refuse(pin_memory, memory_id=memory, pinned=pinned)

    @rule(memory=memories)
    def delete(self, memory: UUID) -> None:
        self.may_refuse(delete_memory, memory_id=memory)

    @rule(memory=memories)
    def restore(self, memory: UUID) -> None:
        self.may_refuse(restore_memory, memory_id=memory, tools=self.tools)

    @rule(memory=memories, signal=st.sampled_from(Feedback))
    def judge(self, memory: UUID, signal: Feedback) -> None:
        self.may_refuse(give_feedback, memory_id=memory, signal=signal, note="")

    @rule(resolution=st.sampled_from(["a_wins", "b_wins", "both_valid", "merged"]), text=FACTS)
    def resolve(self, resolution: str, text: str) -> None:
        with team_scope(team_ids=[self.team_id], actor="test"):
            row = Contradiction.objects.filter(resolved_at=None).order_by("id").first()
        if row is not None:
            self.may_refuse(
                resolve_contradiction,
                contradiction_id=row.pk,
                resolution=resolution,
                merged_content=text,
                tools=self.tools,
                now=timezone.now(),
            )

    @rule(memory=memories, change=COLUMNS, by_owner=st.booleans())
    def change_by_sql(self, memory: UUID, change: dict[str, Any], by_owner: bool) -> None:
        columns = ", ".join(f"{name} = %s" for name in change)
        self.sql(
            f"UPDATE memory_memory SET {columns} WHERE id = %s",
            [*change.values(), memory],
            by_owner=by_owner,
        )

    @rule(change=COLUMNS, by_owner=st.booleans())
    def change_all_by_sql(self, change: dict[str, Any], by_owner: bool) -> None:
        columns = ", ".join(f"{name} = %s" for name in change)
        self.sql(
            f"UPDATE memory_memory SET {columns} WHERE team_id = %s",
            [*change.values(), self.team_id],
            by_owner=by_owner,
        )

    @rule(target=memories, memory=memories, by_owner=st.booleans())
    def copy_by_sql(self, memory: UUID, by_owner: bool) -> UUID:
        copy = uuid4()
        self.sql(
            "INSERT INTO memory_memory SELECT (jsonb_populate_record(m, jsonb_build_object('id',"
            " %s::text, 'dedupe_key', NULL, 'supersedes_id', NULL))).* FROM memory_memory m"
            " WHERE id = %s",
            [str(copy), memory],
            by_owner=by_owner,
        )
        return copy

    @rule(one=memories, two=memories, strength=st.sampled_from([0.1, 1.0]))
    def link_by_sql(self, one: UUID, two: UUID, strength: float) -> None:
        if one != two:
            self.sql(
                "INSERT INTO memory_memoryrelation (id, team_id, from_memory_id, to_memory_id,"
                " relation_type, strength, created_at)"
                " VALUES (gen_random_uuid(), %s, %s, %s, 'related_to', %s, now())"
                " ON CONFLICT DO NOTHING",
                [self.team_id, one, two, strength],
            )

    @rule(memory=memories, change=COLUMNS)
    def change_and_take_it_back(self, memory: UUID, change: dict[str, Any]) -> None:
        with team_scope(team_ids=[self.team_id], actor="test"):
            Memory.objects.filter(pk=memory).update(**change)
            transaction.set_rollback(True)

    @invariant()
    def the_log_ends_with_the_table(self) -> None:
        if not hasattr(self, "team_id"):
            return
        with team_scope(team_ids=[self.team_id], actor="test"):
            instant = instant_at(team_id=self.team_id, at=None)
            table: Rows = {row["id"]: dict(row) for row in Memory.objects.values()}
            past = as_of(Memory.objects.all(), instant)
            assert {row["id"]: row for row in past.values()} == table
            assert not MemoryLog.objects.exclude(event__in=EVENTS).exists()
            assert not LogCommit.objects.filter(at=None).exists()
        self.seen.append((instant.at, table))

    def teardown(self) -> None:
        """Every moment stays what it was."""
        if not hasattr(self, "team_id"):
            return
        with team_scope(team_ids=[self.team_id], actor="test"):
            for at, table in self.seen:
                instant = instant_at(team_id=self.team_id, at=at)
                past = as_of(Memory.objects.all(), instant)
                assert {row["id"]: row for row in past.values()} == table

    def may_refuse(self, service: Any, **given: Any) -> None:
        """Call a service; what it refuses changes nothing."""
        with suppress(DomainError):
            service(viewer=self.viewer, **given)

    def sql(self, statement: str, params: list[Any], *, by_owner: bool = False) -> None:
        """Run a statement in a transaction of its own; a constraint may refuse it."""
        with suppress(IntegrityError):
            if by_owner:
                with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
                    cursor.execute(statement, params)
            else:
                with (
                    team_scope(team_ids=[self.team_id], actor="sql"),
                    connection.cursor() as cursor,
                ):
                    cursor.execute(statement, params)


@pytest.mark.usefixtures("committed_db")
def test_the_log_follows_every_way_of_changing_memories(tools: Tools) -> None:
    LogMachine.tools = tools
    run_state_machine_as_test(
        LogMachine,
        settings=settings(
            max_examples=examples(5),
            stateful_step_count=15,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
