"""Whatever is done to memories, and whenever runs come: none breaks what a run never does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memory.domain.judgements import Feedback
from memory.domain.types import MemoryType
from memory.models import Memory, SearchEntry
from memory.satellites.lifecycle.aging import purge_due
from memory.satellites.lifecycle.models import ConsolidationRun, Step
from memory.satellites.lifecycle.running import undo_run
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory, give_feedback, pin_memory
from memory.writing.decisions.moving import restore_memory
from teams.errors import ConflictError, DomainError
from teams.tenancy import team_scope
from tests.support.cast import make_cast
from tests.support.examples import examples
from tests.support.lifecycle import NOW, choose, run, told, viewer_of
from tests.support.writing import store

Rows = dict[UUID, Memory]
_STATE = ("status", "tier", "is_pinned", "importance", "purge_at")


def state(memory: Memory) -> tuple[Any, ...]:
    return tuple(getattr(memory, name) for name in _STATE)


def is_kept(memory: Memory) -> bool:
    return memory.is_pinned or memory.importance >= 8 or memory.memory_type == "identity"


class LifecycleMachine(RuleBasedStateMachine):
    """People, agents, the calendar, runs and the purge take turns."""

    memories = Bundle("memories")
    tools: Tools

    @initialize(below=st.sampled_from([3, 8]))
    def found_a_team(self, below: int) -> None:
        self.town = make_cast(f"town-{uuid4().hex}")
        self.viewer = viewer_of(self.town)
        choose(self.town, expire_below=below)
        self.now = NOW
        self.last: ConsolidationRun | None = None
        self.before: Rows = {}
        self.when_live: dict[UUID, tuple[Any, ...]] = {}
        self.purged: set[UUID] = set()

    def rows(self) -> Rows:
        with team_scope(team_ids=[self.town.team.id], actor="test"):
            return {row.pk: row for row in Memory.objects.filter(team_id=self.town.team.id)}

    @rule(
        target=memories,
        importance=st.sampled_from([1, 2, 3, 7, 8]),
        is_pinned=st.booleans(),
        is_identity=st.sampled_from([False, False, True]),
        days=st.sampled_from([0, 100]),
    )
    def remember(self, importance: int, is_pinned: bool, is_identity: bool, days: int) -> UUID:
        (memory,) = store(
            self.town,
            self.tools,
            f"The kiln has the number {uuid4()}.",
            importance=importance,
            is_pinned=is_pinned,
            created_at=self.now - timedelta(days=days),
            memory_type=MemoryType.IDENTITY if is_identity else MemoryType.SEMANTIC,
            agent_id=self.town.kyra.pk if is_identity else None,
        )
        return memory.pk

    @rule(memory=memories, times=st.sampled_from([1, 2, 11]))
    def tell(self, memory: UUID, times: int) -> None:
        if memory not in self.purged:
            told(self.town, memory, at=self.now, times=times)

    @rule(memory=memories, signal=st.sampled_from([Feedback.HELPFUL, Feedback.IGNORED]))
    def judge(self, memory: UUID, signal: Feedback) -> None:
        self.may_refuse(give_feedback, memory_id=memory, signal=signal, note="")

    @rule(memory=memories, pinned=st.booleans())
    def pin(self, memory: UUID, pinned: bool) -> None:
        self.may_refuse(pin_memory, memory_id=memory, pinned=pinned)

    @rule(memory=memories)
    def delete(self, memory: UUID) -> None:
        self.may_refuse(delete_memory, memory_id=memory)

    @rule(days=st.sampled_from([1, 8, 31, 61]))
    def wait(self, days: int) -> None:
        self.now += timedelta(days=days)

    @rule()
    def consolidate(self) -> None:
        self.before = self.rows()
        self.last = run(self.town, self.tools, now=self.now, steps=[Step.RANK, Step.FORGET])
        for pk, row in self.rows().items():
            was = self.before[pk]
            if is_kept(was) and was.is_live:
                assert row.is_live
                assert row.tier != "cold" or was.tier == "cold"
            if row.status != was.status:
                assert (was.status, row.status) == ("active", "soft_deleted")
                assert row.purge_at == self.now + timedelta(days=30)
                self.when_live[pk] = state(was)

    @precondition(lambda self: self.last is not None)
    @rule()
    def take_back(self) -> None:
        assert self.last is not None
        changed = {
            pk
            for pk, row in self.rows().items()
            if pk in self.before and state(row) != state(self.before[pk])
        }
        try:
            undo_run(viewer=self.viewer, run_id=self.last.pk, tools=self.tools, now=self.now)
        except ConflictError:
            return
        finally:
            self.last = None
        after = self.rows()
        for pk in changed:
            if self.before[pk].is_live:
                assert after[pk].is_live
                assert after[pk].purge_at is None

    @rule(memory=memories)
    def restore(self, memory: UUID) -> None:
        was = self.rows()[memory]
        is_over = was.status == "purged" or (was.purge_at is not None and was.purge_at <= self.now)
        try:
            restore_memory(viewer=self.viewer, memory_id=memory, tools=self.tools, now=self.now)
        except DomainError:
            assert is_over
            return
        assert not is_over
        if was.purge_at is not None:
            row = self.rows()[memory]
            tier, *others = (row.tier, row.is_pinned, row.importance)
            _, then, *as_then, _ = self.when_live[memory]
            assert others == as_then
            # What was hot by its use alone a long time ago is warm by now.
            assert tier == then or (then, tier) == ("hot", "warm")

    @rule()
    def purge(self) -> None:
        purge_due(now=self.now)
        for pk, row in self.rows().items():
            assert row.purge_at is None or row.status == "purged" or row.purge_at > self.now
            if row.status == "purged":
                self.purged.add(pk)

    @invariant()
    def what_is_purged_stays_purged_and_is_found_by_nothing(self) -> None:
        with team_scope(team_ids=[self.town.team.id], actor="test"):
            gone = Memory.objects.filter(pk__in=self.purged)
            assert set(gone.values_list("status", flat=True)) <= {"purged"}
            assert not SearchEntry.objects.filter(memory_id__in=self.purged).exists()
            live = Memory.objects.filter(team_id=self.town.team.id).live()
            assert not live.filter(purge_at__isnull=False).exists()

    def may_refuse(self, service: Any, **given: Any) -> None:
        # Any: a service and its arguments
        try:
            service(viewer=self.viewer, **given)
        except DomainError:
            return


def test_no_sequence_breaks_a_never(committed_db: None, tools: Tools) -> None:
    class Machine(LifecycleMachine):
        pass

    Machine.tools = tools
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples(3),
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
