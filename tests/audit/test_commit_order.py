"""The log's order is the order in which a team's transactions committed."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction
from django.db.models import Subquery
from django.utils import timezone

from audit.models import CommitClock, LogCommit, MemoryLog
from audit.selectors import Instant, instant_at
from audit.services.seals import closed_up_to, seal_team
from audit.services.verification import verify_team
from memory.models import Memory
from memory.selectors.history.memory_history import as_of
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.clean_database import conninfo_of
from tests.support.seals import by_owner

Rows = dict[UUID, dict[str, Any]]  # every column of every memory, by its id


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team."""
    return make_cast(f"town-{uuid4().hex}")


@pytest.fixture
def other(committed_db: None) -> Cast:
    """Another one."""
    return make_cast(f"other-{uuid4().hex}")


def told(town: Cast, **values: Any) -> Memory:
    """A memory in a transaction of its own."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory: Memory = factories.MemoryFactory.create(team=town.team, **values)
    return memory


def change(memory: Memory, **values: Any) -> None:
    """A change in a transaction of its own."""
    with team_scope(team_ids=[memory.team_id], actor="test"):
        Memory.objects.filter(pk=memory.pk).update(**values)


def now_of(town: Cast) -> Instant:
    """This instant."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        return instant_at(team_id=town.team.id, at=None)


def by_id(rows: Iterable[Any]) -> Rows:
    """Rows of columns by the memories' ids."""
    return {row["id"]: row for row in rows}


def table_of(town: Cast) -> Rows:
    """The team's memories as the table has them."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        return by_id(Memory.objects.values())


def past_of(town: Cast, at: datetime) -> Rows:
    """The team's memories as the log has them."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        instant = instant_at(team_id=town.team.id, at=at)
        return by_id(as_of(Memory.objects.all(), instant).values())


def seal(town: Cast, *, rows: int) -> None:
    """Seal the team's log, so many rows at a time."""
    last_seq = closed_up_to(seconds=10)
    assert last_seq is not None
    seal_team(team_id=town.team.id, last_seq=last_seq, now=timezone.now(), rows_per_seal=rows)


def commits_of(town: Cast) -> list[LogCommit]:
    """The team's commits in their order."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        return list(LogCommit.objects.order_by("position"))


@pytest.fixture
def writers(committed_db: None) -> Iterator[list[psycopg.Connection]]:
    """Two connections of the owner's, which give up rather than wait for long."""
    both = [
        psycopg.connect(conninfo_of("owner"), options="-c lock_timeout=10000") for _ in range(2)
    ]
    yield both
    for each in both:
        each.close()


def test_one_transaction_is_one_commit_of_each_team_it_changed(town: Cast, other: Cast) -> None:
    first, second = told(town), told(other)
    before = [len(commits_of(each)) for each in (town, other)]

    with team_scope(team_ids=[town.team.id, other.team.id], actor="test"):
        for importance in (6, 7):
            Memory.objects.update(importance=importance)

    assert [len(commits_of(each)) for each in (town, other)] == [each + 1 for each in before]
    for cast, memory in ((town, first), (other, second)):
        commit = commits_of(cast)[-1]
        with team_scope(team_ids=[cast.team.id], actor="test"):
            rows = MemoryLog.objects.filter(memory_id=memory.pk).order_by("seq")
            assert [row.commit_id == commit.pk for row in rows] == [False, True, True]


def test_positions_have_no_gaps_and_times_grow(town: Cast) -> None:
    memory = told(town)
    for importance in (6, 7, 8):
        change(memory, importance=importance)

    commits = commits_of(town)

    assert [each.position for each in commits] == [1, 2, 3, 4]
    times = [each.at for each in commits]
    assert times == sorted(set(times))  # type: ignore[type-var]


def test_times_go_on_where_the_clock_was_set_back(town: Cast) -> None:
    before = told(town)
    for table in ("audit_logcommit", "audit_commitclock"):
        by_owner(f"UPDATE {table} SET at = at + interval '1 hour' WHERE team_id = '{town.team.id}'")

    after = told(town)

    first, second = [each.at for each in commits_of(town)]
    assert first is not None
    assert second == first + timedelta(microseconds=1)
    assert past_of(town, now_of(town).at) == table_of(town)
    assert set(table_of(town)) == {before.pk, after.pk}
    assert verify_team(team_id=town.team.id).findings == []


def test_what_is_rolled_back_leaves_no_commit(town: Cast) -> None:
    memory = told(town)

    with team_scope(team_ids=[town.team.id], actor="test"):
        savepoint = transaction.savepoint()
        Memory.objects.filter(pk=memory.pk).update(importance=9)
        transaction.savepoint_rollback(savepoint)

    assert len(commits_of(town)) == 1


def test_what_follows_a_savepoint_that_was_undone_is_a_commit(town: Cast) -> None:
    memory = told(town)

    with team_scope(team_ids=[town.team.id], actor="test"):
        savepoint = transaction.savepoint()
        Memory.objects.filter(pk=memory.pk).update(importance=9)
        transaction.savepoint_rollback(savepoint)
        Memory.objects.filter(pk=memory.pk).update(importance=3)

    assert len(commits_of(town)) == 2
    assert past_of(town, now_of(town).at) == table_of(town)


@pytest.mark.parametrize("rows_per_seal", [1, 2, 100])
def test_a_change_that_commits_late_is_not_there_before(
    town: Cast, writers: list[psycopg.Connection], rows_per_seal: int
) -> None:
    """Its statement came first; what counts is when others could see it."""
    late, early = told(town), told(town)
    writers[0].execute("UPDATE memory_memory SET importance = 9 WHERE id = %s", [late.pk])
    writers[1].execute("UPDATE memory_memory SET importance = 8 WHERE id = %s", [early.pk])
    writers[1].commit()
    between, seen = now_of(town), table_of(town)
    writers[0].commit()
    # What is sealed is taken to be there; not before its own commit, though.
    seal(town, rows=rows_per_seal)

    assert past_of(town, between.at) == seen
    assert (seen[late.pk]["importance"], seen[early.pk]["importance"]) == (5, 8)
    assert past_of(town, now_of(town).at)[late.pk]["importance"] == 9


def test_of_what_is_sealed_no_commit_is_asked(town: Cast) -> None:
    memory = told(town)
    change(memory, importance=6)
    seal(town, rows=100)
    sealed = now_of(town)
    change(memory, importance=7)
    later = now_of(town)

    with team_scope(team_ids=[town.team.id], actor="test"):
        numbers = list(MemoryLog.objects.order_by("seq").values_list("seq", flat=True))
    assert numbers[1] <= sealed.settled_seq < numbers[2]
    assert later.settled_seq == sealed.settled_seq
    assert past_of(town, sealed.at)[memory.pk]["importance"] == 6
    assert past_of(town, later.at)[memory.pk]["importance"] == 7


def test_a_memory_that_commits_late_is_not_there_before(
    town: Cast, writers: list[psycopg.Connection]
) -> None:
    source, late = told(town), uuid4()
    writers[0].execute(
        "INSERT INTO memory_memory SELECT (jsonb_populate_record(m, jsonb_build_object("
        "'id', %s::text))).* FROM memory_memory m WHERE id = %s",
        [str(late), source.pk],
    )
    told(town)
    between, seen = now_of(town), table_of(town)
    writers[0].commit()

    assert past_of(town, between.at) == seen
    assert late not in seen
    assert late in past_of(town, now_of(town).at)


def test_two_transactions_that_insert_at_once_number_one_conversation_without_gaps(
    town: Cast, writers: list[psycopg.Connection]
) -> None:
    """The second one waits for the first, and counts on from what it wrote."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        conversation = factories.ConversationFactory.create(
            team=town.team, agent=town.kyra, end_user=town.sarah
        )
    source = told(town, conversation=conversation, agent=town.kyra, end_user=town.sarah)
    copies = (
        "INSERT INTO memory_memory SELECT (jsonb_populate_record(m, jsonb_build_object("
        "'id', gen_random_uuid()))).* FROM memory_memory m, generate_series(1, 3) WHERE id = %s"
    )
    writers[0].execute(copies, [source.pk])
    second = threading.Thread(target=lambda: writers[1].execute(copies, [source.pk]))
    second.start()
    second.join(0.3)
    waited = second.is_alive()
    writers[0].commit()
    second.join()
    writers[1].commit()

    assert waited
    with team_scope(team_ids=[town.team.id], actor="test"):
        rows = MemoryLog.objects.filter(conversation_id=conversation.pk).order_by("seq")
        found = [(row.revision, row.commit_id) for row in rows]
        conversation.refresh_from_db()
    assert [revision for revision, _ in found] == list(range(1, 8))
    assert len({commit for _, commit in found[1:4]}) == 1
    assert len({commit for _, commit in found[4:]}) == 1
    assert conversation.revision == 7
    assert past_of(town, now_of(town).at) == table_of(town)


def test_a_commit_under_way_is_waited_for(town: Cast, writers: list[psycopg.Connection]) -> None:
    """It has its time and cannot be seen yet: an answer without it would change afterwards."""
    memory = told(town)
    writers[0].execute("UPDATE memory_memory SET importance = 9 WHERE id = %s", [memory.pk])
    writers[0].execute("SET CONSTRAINTS ALL IMMEDIATE")
    found: list[Rows] = []

    def read() -> None:
        found.append(past_of(town, now_of(town).at))
        connection.close()

    reader = threading.Thread(target=read)
    reader.start()
    reader.join(0.3)
    waited = reader.is_alive()
    writers[0].commit()
    reader.join()

    assert waited
    assert found[0][memory.pk]["importance"] == 9


def test_an_instant_before_the_last_commit_waits_for_nobody(
    town: Cast, writers: list[psycopg.Connection]
) -> None:
    memory = told(town)
    first = now_of(town).at
    change(memory, importance=7)
    writers[0].execute("UPDATE memory_memory SET importance = 9 WHERE id = %s", [memory.pk])
    writers[0].execute("SET CONSTRAINTS ALL IMMEDIATE")

    assert past_of(town, first)[memory.pk]["importance"] == 5

    writers[0].rollback()


def test_constraints_checked_before_the_end_leave_one_commit(
    town: Cast, writers: list[psycopg.Connection]
) -> None:
    memory = told(town)
    before, seen = now_of(town), table_of(town)

    writers[0].execute("SET CONSTRAINTS ALL IMMEDIATE")
    for importance in (7, 8, 9):
        writers[0].execute(
            "UPDATE memory_memory SET importance = %s WHERE id = %s", [importance, memory.pk]
        )
    stamped = writers[0].execute("SELECT clock_timestamp()").fetchone()
    writers[0].execute("SET CONSTRAINTS ALL DEFERRED")
    writers[0].execute("UPDATE memory_memory SET importance = 10 WHERE id = %s", [memory.pk])
    writers[0].commit()

    assert len(commits_of(town)) == 2
    assert stamped is not None
    assert past_of(town, stamped[0]) == seen == past_of(town, before.at)
    assert past_of(town, now_of(town).at) == table_of(town)


def test_transactions_that_change_teams_in_two_orders_do_not_deadlock(
    town: Cast, other: Cast, writers: list[psycopg.Connection]
) -> None:
    rows = [
        [told(cast).pk for cast in order] for order in ((town, other), (other, town)) for _ in "ab"
    ]
    failures: list[Exception] = []
    start = threading.Barrier(2)

    def write(writer: psycopg.Connection, mine: list[list[UUID]]) -> None:
        try:
            for round_ in range(20):
                start.wait()
                for memory in mine[round_ % 2]:
                    writer.execute(
                        "UPDATE memory_memory SET corroboration = corroboration + 1 WHERE id = %s",
                        [memory],
                    )
                writer.commit()
        except Exception as error:
            failures.append(error)
            start.abort()

    threads = [
        threading.Thread(target=write, args=(writer, rows[2 * index : 2 * index + 2]))
        for index, writer in enumerate(writers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failures
    assert past_of(town, now_of(town).at) == table_of(town)


@dataclass
class Crowd:
    """Writers and readers of one team at the same time, and what the readers saw when."""

    town: Cast
    ids: list[UUID]
    seen: list[tuple[datetime, Rows]] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)

    def write(self, seed: int) -> None:
        """Transactions of several changes, some of them slow, some undone, some with new rows."""
        chance = random.Random(seed)
        for _ in range(25):
            with team_scope(team_ids=[self.town.team.id], actor=f"writer:{seed}"):
                for memory in sorted(chance.sample(self.ids, 3)):
                    Memory.objects.filter(pk=memory).update(importance=chance.randint(1, 10))
                if chance.random() < 0.3:
                    factories.MemoryFactory.create(team=self.town.team)
                if chance.random() < 0.3:
                    time.sleep(chance.random() / 50)
                if chance.random() < 0.2:
                    transaction.set_rollback(True)

    def read(self, seed: int) -> None:
        """One snapshot after the other, each noted with the instant it belongs to."""
        del seed
        while not self.is_over.is_set():
            with team_scope(team_ids=[self.town.team.id], actor="reader"):
                with connection.cursor() as cursor:
                    # Holds commits back for a moment, so that clock and snapshot are of one.
                    cursor.execute(
                        "SELECT pg_advisory_xact_lock_shared(palimpsest_commit_lock(%s))",
                        [self.town.team.id],
                    )
                    cursor.execute("SELECT clock_timestamp()")
                    (at,) = cursor.fetchone()
                rows = by_id(Memory.objects.values())
            self.seen.append((at, rows))

    def look(self, seed: int) -> None:
        """One snapshot after the other, nobody held back, with its last commit's time."""
        del seed
        last = Subquery(CommitClock.objects.filter(team_id=self.town.team.id).values("at"))
        while not self.is_over.is_set():
            with team_scope(team_ids=[self.town.team.id], actor="reader"):
                found: list[dict[str, Any]] = [*Memory.objects.annotate(last=last).values()]  # type: ignore[list-item]
            at = {row.pop("last") for row in found}
            self.seen.append((at.pop(), by_id(found)))

    def run(self, act: Any, seed: int) -> None:
        try:
            act(seed)
        except BaseException as error:
            self.failures.append(error)
        finally:
            connection.close()


def test_the_log_says_what_readers_saw_while_others_wrote(town: Cast) -> None:
    crowd = Crowd(town, [told(town).pk for _ in range(8)])
    writing = [
        threading.Thread(target=crowd.run, args=(crowd.write, seed)) for seed in (1, 2, 3, 4)
    ]
    reading = [
        threading.Thread(target=crowd.run, args=(act, seed))
        for seed, act in enumerate((crowd.read, crowd.look))
    ]

    for thread in [*reading, *writing]:
        thread.start()
    for thread in writing:
        thread.join()
    crowd.is_over.set()
    for thread in reading:
        thread.join()

    assert not crowd.failures
    states = [rows for _, rows in crowd.seen]
    assert sum(one != two for one, two in itertools.pairwise(states)) > 1
    for at, rows in crowd.seen:
        assert past_of(town, at) == rows
    seal(town, rows=5)
    for at, rows in crowd.seen[:: len(crowd.seen) // 20 + 1]:
        assert past_of(town, at) == rows
    assert past_of(town, now_of(town).at) == table_of(town)
    assert verify_team(team_id=town.team.id).findings == []
    positions = [each.position for each in commits_of(town)]
    assert positions == list(range(1, len(positions) + 1))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO audit_logcommit (team_id, transaction_number, began_at, is_last)"
        " VALUES (%s, 1, now(), true)",
        "UPDATE audit_logcommit SET at = now() WHERE team_id = %s",
        "DELETE FROM audit_logcommit WHERE team_id = %s",
        "UPDATE audit_commitclock SET at = now() WHERE team_id = %s",
        "SELECT palimpsest_current_commit(%s)",
    ],
)
def test_the_application_cannot_write_the_order(town: Cast, statement: str) -> None:
    told(town)

    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        team_scope(team_ids=[town.team.id], actor="test"),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, [town.team.id])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_logcommit SET at = now() WHERE team_id = %s",
        "DELETE FROM audit_logcommit WHERE team_id = %s",
        "TRUNCATE audit_logcommit",
    ],
)
def test_the_owner_is_refused_too(town: Cast, statement: str) -> None:
    told(town)

    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(using="owner"),
        connections["owner"].cursor() as cursor,
    ):
        cursor.execute(statement, [town.team.id] if "%s" in statement else None)


def test_another_teams_order_is_not_seen(town: Cast, other: Cast) -> None:
    told(town)

    with team_scope(team_ids=[other.team.id], actor="test"):
        assert not LogCommit.objects.exists()
        assert not CommitClock.objects.exists()
