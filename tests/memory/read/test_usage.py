"""Reads are counted beside the read, written down in batches, and each once."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections
from django.utils import timezone
from django_redis import get_redis_connection

from audit.models import WrittenBatch
from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryUsage
from memory.reading.usage import (
    KEPT_DAYS,
    NOTED,
    TAKEN,
    flush_noted_usage,
    note_answer,
    note_retrieved,
)
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import locked_memory
from memory.writing.drafts import MemoryDraft
from memory.writing.write_path import write_memories
from teams.ids import new_id
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.waiting import until, waits

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team of this test's own, committed."""
    return make_cast(f"town-{uuid4().hex}")


@pytest.fixture
def ids(town: Cast, tools: Tools) -> list[UUID]:
    """Memories of the town."""
    drafts = [
        MemoryDraft(
            team_id=town.team.id,
            content=f"Fact number {number}.",
            memory_type=MemoryType.SEMANTIC,
            importance=5,
            extractor="test",
            created_at=NOON,
            check=False,
        )
        for number in range(3)
    ]
    viewer = Viewer(team_id=town.team.id, actor="test")
    return [each.memory.pk for each in write_memories(viewer=viewer, drafts=drafts, tools=tools)]


def note(cast: Cast, ids: list[UUID], now: datetime = NOON) -> None:
    """One read of them."""
    note_retrieved(team_id=cast.team.id, memory_ids=ids, now=now)


def counts(cast: Cast) -> Mapping[UUID, int]:
    """Returns the recorded number of reads of each memory."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return dict(MemoryUsage.objects.values_list("memory_id", "retrieved"))


def test_an_id_written_either_way_is_one(town: Cast, ids: list[UUID]) -> None:
    now = NOON + timedelta(seconds=1)
    note(town, ids[:1])
    note_retrieved(team_id=town.team.id, memory_ids=[str(ids[0])], now=now)
    flush_noted_usage()

    assert counts(town) == {ids[0]: 2}


def test_each_read_is_written_down_once(town: Cast, ids: list[UUID]) -> None:
    note(town, ids)
    note(town, ids[:1], now=NOON + timedelta(seconds=30))
    flush_noted_usage()
    note(town, ids[1:2], now=NOON - timedelta(hours=1))
    flush_noted_usage()
    flush_noted_usage()

    assert counts(town) == {ids[0]: 2, ids[1]: 2, ids[2]: 1}
    with team_scope(team_ids=[town.team.id], actor="test"):
        times = dict(MemoryUsage.objects.values_list("memory_id", "last_accessed_at"))
    assert [times[each] for each in ids] == [NOON + timedelta(seconds=30), NOON, NOON]


def test_reads_are_counted_by_day_and_old_days_go(town: Cast, ids: list[UUID]) -> None:
    note(town, ids[:1], now=NOON - timedelta(days=KEPT_DAYS + 5))
    flush_noted_usage()
    note(town, ids[:2], now=NOON - timedelta(days=1))
    note(town, ids[:1])
    flush_noted_usage()
    note(town, ids[:1], now=NOON + timedelta(minutes=1))
    flush_noted_usage()

    with team_scope(team_ids=[town.team.id], actor="test"):
        found = dict(MemoryUsage.objects.values_list("memory_id", "daily"))
    assert found == {ids[0]: {"2026-04-30": 1, "2026-05-01": 2}, ids[1]: {"2026-04-30": 1}}


def test_a_crash_after_the_writing_counts_nothing_twice(town: Cast, ids: list[UUID]) -> None:
    """The taken usage is still in Redis, as when the worker dies before it removes it."""
    client = get_redis_connection("default")
    note(town, ids)
    client.rename(NOTED, TAKEN)
    client.hset(TAKEN, "batch", str(new_id()))
    taken = client.dump(TAKEN)
    flush_noted_usage()
    client.restore(TAKEN, 0, taken)
    note(town, ids[:1])
    flush_noted_usage()
    flush_noted_usage()

    assert counts(town) == {ids[0]: 2, ids[1]: 1, ids[2]: 1}


def test_a_crash_between_two_teams_forgets_and_repeats_neither(town: Cast, ids: list[UUID]) -> None:
    """One team's counts of the batch are written, the other's not."""
    client = get_redis_connection("default")
    batch = new_id()
    note(town, ids)
    client.rename(NOTED, TAKEN)
    client.hset(TAKEN, "batch", str(batch))
    other = make_cast(f"other-{uuid4().hex}")
    with team_scope(team_ids=[other.team.id], actor="test"):
        WrittenBatch.objects.create(id=batch, team=other.team)
    client.hset(TAKEN, f"{other.team.id}:{uuid4()}:2026-05-01", 1)
    flush_noted_usage()

    assert counts(town) == dict.fromkeys(ids, 1)
    assert not client.exists(TAKEN)


def answer(cast: Cast, cited: list[UUID], ignored: list[UUID]) -> None:
    """One answer that used some of them."""
    note_answer(team_id=cast.team.id, find=lambda: (cited, ignored))


def used(cast: Cast) -> Mapping[UUID, tuple[int, datetime | None, int, int]]:
    """Returns how often each memory was retrieved, and when last, and cited and ignored."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = MemoryUsage.objects.all()
        return {
            row.memory_id: (row.retrieved, row.last_accessed_at, row.cited, row.ignored)
            for row in rows
        }


def test_what_answers_use_is_counted_beside_what_is_read(town: Cast, ids: list[UUID]) -> None:
    one, two, three = ids
    note(town, ids[:2])
    answer(town, [one], [two])
    answer(town, [one, three], [])
    answer(town, [], [])
    flush_noted_usage()
    answer(town, [], [two])
    flush_noted_usage()
    flush_noted_usage()

    assert used(town) == {
        one: (1, NOON, 2, 0),
        two: (1, NOON, 0, 2),
        three: (0, None, 1, 0),
    }


def test_a_batch_that_was_written_counts_no_citation_twice(town: Cast, ids: list[UUID]) -> None:
    client = get_redis_connection("default")
    answer(town, ids[:1], ids[1:])
    client.rename(NOTED, TAKEN)
    client.hset(TAKEN, "batch", str(new_id()))
    taken = client.dump(TAKEN)
    flush_noted_usage()
    client.restore(TAKEN, 0, taken)
    flush_noted_usage()

    assert [each[2:] for each in used(town).values()].count((0, 1)) == 2
    assert used(town)[ids[0]] == (0, None, 1, 0)


def test_citations_that_nobody_writes_down_for_long_are_bounded_and_counted(
    town: Cast, ids: list[UUID]
) -> None:
    client = get_redis_connection("default")
    for second in range(520):
        answer(town, ids[:1], ids[1:2])
        note(town, ids[2:], now=NOON + timedelta(seconds=second))
    assert client.hlen(NOTED) <= 4 * len(ids)
    flush_noted_usage()

    counted = used(town)
    assert (counted[ids[0]][2], counted[ids[1]][3]) == (520, 520)
    assert counts(town)[ids[2]] == 520


def test_what_nobody_writes_down_for_long_is_bounded_and_counted(
    town: Cast, ids: list[UUID]
) -> None:
    client = get_redis_connection("default")
    for second in range(550):
        note(town, ids, now=NOON + timedelta(seconds=second))
    assert client.hlen(NOTED) <= 2 * len(ids)
    flush_noted_usage()

    assert counts(town) == dict.fromkeys(ids, 550)
    with team_scope(team_ids=[town.team.id], actor="test"):
        times = set(MemoryUsage.objects.values_list("last_accessed_at", flat=True))
    assert times == {NOON + timedelta(seconds=549)}


def test_two_flushes_at_once_count_once(town: Cast, ids: list[UUID]) -> None:
    for _ in range(5):
        note(town, ids)
    start = Barrier(4)

    def flush() -> None:
        start.wait()
        flush_noted_usage()
        connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        for each in [pool.submit(flush) for _ in range(4)]:
            each.result()

    assert counts(town) == dict.fromkeys(ids, 5)


def flush_elsewhere(backends: list[int]) -> None:
    """Write down by a connection of its own, whose number is told first."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backends.append(cursor.fetchone()[0])
        flush_noted_usage()
    finally:
        connections.close_all()


def test_a_memory_that_is_being_changed_holds_up_no_flush(town: Cast, ids: list[UUID]) -> None:
    """Feedback holds a memory and then asks for its counters, which a waiting flush would hold."""
    note(town, ids)
    viewer = Viewer(team_id=town.team.id, actor="test")
    with ThreadPoolExecutor(1) as pool, team_scope(team_ids=[town.team.id], actor="test"):
        locked_memory(viewer=viewer, memory_id=ids[0])
        pool.submit(flush_elsewhere, []).result()

    assert counts(town) == dict.fromkeys(ids, 1)


def test_a_flush_that_another_transaction_turned_away_is_written_all_the_same(
    town: Cast, ids: list[UUID]
) -> None:
    """It has the counters and waits for the memories; the other one waits for counters."""
    note(town, ids)
    backends: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        with team_scope(team_ids=[town.team.id], actor="test"):
            list(Memory.objects.select_for_update().order_by("pk"))
            running = pool.submit(flush_elsewhere, backends)
            until(lambda: backends and waits(backends[0]))
            MemoryUsage.objects.get_or_create(team_id=town.team.id, memory_id=ids[0])
        running.result()

    assert counts(town) == dict.fromkeys(ids, 1)


def test_reads_during_a_flush_are_in_the_next_one(town: Cast, ids: list[UUID]) -> None:
    with ThreadPoolExecutor(4) as pool:
        reads = [pool.submit(note, town, ids) for _ in range(200)]
        for _ in range(5):
            flush_noted_usage()
        for each in reads:
            each.result()
    flush_noted_usage()

    assert counts(town) == dict.fromkeys(ids, 200)


def test_old_batches_are_forgotten_and_the_present_one_is_not(town: Cast, ids: list[UUID]) -> None:
    old, present = new_id(), new_id()
    long_ago = timezone.now() - timedelta(days=1)
    with team_scope(team_ids=[town.team.id], actor="test"):
        for each in (old, present):
            WrittenBatch.objects.create(id=each, team=town.team, at=long_ago)
    client = get_redis_connection("default")
    note(town, ids)
    client.rename(NOTED, TAKEN)
    client.hset(TAKEN, "batch", str(present))
    flush_noted_usage()

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert list(WrittenBatch.objects.values_list("id", flat=True)) == [present]
    assert counts(town) == {}


def versions(cast: Cast) -> Any:
    """Which version of each row the two big tables and their indexes hold."""
    with team_scope(team_ids=[cast.team.id], actor="test"), connection.cursor() as cursor:
        cursor.execute(
            "SELECT m.id, m.xmin::text, m.ctid::text, e.xmin::text, e.ctid::text"
            " FROM memory_memory m JOIN memory_searchentry e USING (team_id)"
            " WHERE e.memory_id = m.id ORDER BY m.id"
        )
        return cursor.fetchall()


def test_counting_touches_neither_the_memory_nor_its_vector(town: Cast, ids: list[UUID]) -> None:
    before = versions(town)
    note(town, ids)
    flush_noted_usage()

    assert counts(town) == dict.fromkeys(ids, 1)
    assert versions(town) == before
    assert len(before) == len(ids)


def test_the_counters_have_no_index_but_of_numbers_and_times(committed_db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT am.amname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
            " JOIN pg_am am ON am.oid = c.relam"
            " WHERE i.indrelid = 'memory_memoryusage'::regclass"
        )
        kinds = {row[0] for row in cursor.fetchall()}

    assert kinds == {"btree"}
