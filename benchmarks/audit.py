"""What does the log cost a write, and how fast is the past rebuilt from it?

Run as ``python -m benchmarks.audit`` beside a running, migrated database, with the settings that
manage.py uses. Prints the cost of a write with its log over the same write to a copy of the table
that logs nothing, then, at 10,000 and 100,000 (``--full``: 1,000,000) log rows of a tenth as many
memories, the time of a page of the state at several instants, of a whole rebuild, of what changed
between two instants and of one memory's log. Each size has a throwaway team whose rows stay, for
nothing is ever removed: use a database of its own.

``--aged`` adds the same page of the same instant before and after the log has grown tenfold.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from uuid import UUID, uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection, connections  # noqa: E402

from audit.models import MemoryLog  # noqa: E402
from audit.selectors.instants import instant_at  # noqa: E402
from memory.domain.viewer import Viewer  # noqa: E402
from memory.models import Memory  # noqa: E402
from memory.selectors.memories import MemoryFilters  # noqa: E402
from memory.selectors.states import changes_between, state_at  # noqa: E402
from teams.ids import new_id  # noqa: E402
from teams.services.people import create_team, ensure_end_user  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402

ACTOR = "benchmark:audit"
SIZES = (10_000, 100_000, 1_000_000)
PER_MEMORY = 10
BATCH = 500
PAGE = 50
PEOPLE = 50
_INSERT = """
INSERT INTO {table} (id, team_id, memory_type, form, payload, scope, category, subject, content,
    importance, confidence, corroboration, is_pinned, status, tier, version, tags, contradicts,
    end_user_id, source_message_ids, source_external_ids, extractor, actor, created_at, updated_at)
SELECT given.id, %s, 'semantic', '', '{{}}', 'team', '', 'user.fact', 'Fact ' || given.id, 5, 1, 0,
    false, 'active', 'warm', 1, '{{a,b}}', '{{}}', given.person, '{{}}', '{{}}', 'benchmark', %s,
    now(), now()
FROM unnest(%s::uuid[], %s::uuid[]) AS given (id, person)
"""
_CHANGE = (
    "UPDATE {table} SET importance = importance %% 10 + 1 WHERE team_id = %s AND id = ANY (%s)"
)


@dataclass(frozen=True, slots=True)
class Ground:
    """A throwaway team, its people and its memories, with an instant at each tenth of its log."""

    viewer: Viewer
    people: list[UUID]
    ids: list[UUID]
    instants: list[datetime]

    @contextmanager
    def scope(self) -> Iterator[None]:
        """One transaction of the team."""
        with team_scope(team_ids=[self.viewer.team_id], actor=ACTOR):
            yield


def new_ground() -> Ground:
    """A new team without memories."""
    slug = f"audit-{uuid4().hex[:12]}"
    team = create_team(slug=slug, name=slug, actor=ACTOR)
    ground = Ground(Viewer(team_id=team.id, actor=ACTOR), [], [], [])
    with ground.scope():
        ground.people.extend(
            ensure_end_user(team_id=team.id, external_id=f"person-{each}").pk
            for each in range(PEOPLE)
        )
    return ground


def insert(ground: Ground, ids: list[UUID], *, table: str = "memory_memory") -> None:
    """Insert memories in one transaction."""
    people = [ground.people[index % PEOPLE] for index in range(len(ids))]
    with ground.scope(), connection.cursor() as cursor:
        cursor.execute(_INSERT.format(table=table), [ground.viewer.team_id, ACTOR, ids, people])


def change(ground: Ground, ids: list[UUID], *, table: str = "memory_memory") -> None:
    """Change memories in one transaction."""
    with ground.scope(), connection.cursor() as cursor:
        cursor.execute(_CHANGE.format(table=table), [ground.viewer.team_id, ids])


def fill(ground: Ground, size: int) -> None:
    """Bring the team's log to `size` rows, `PER_MEMORY` of each memory."""
    for _ in range(0, size // PER_MEMORY, BATCH):
        ids = [new_id() for _ in range(min(BATCH, size // PER_MEMORY))]
        insert(ground, ids)
        ground.ids.extend(ids)
    note(ground)
    for _ in range(PER_MEMORY - 1):
        grow(ground)
    for table in ("audit_memorylog", "audit_logcommit", "memory_memory"):
        with connections["owner"].cursor() as cursor:
            cursor.execute(f"VACUUM ANALYZE {table}")


def grow(ground: Ground) -> None:
    """One more log row of each memory."""
    for start in range(0, len(ground.ids), BATCH):
        change(ground, ground.ids[start : start + BATCH])
    note(ground)


def note(ground: Ground) -> None:
    """Remember this moment."""
    with ground.scope():
        ground.instants.append(instant_at(team_id=ground.viewer.team_id, at=None).at)


def seconds(act: Callable[[], object], *, times: int = 5) -> float:
    """The median time of an act."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return median(taken)


def append_cost(*, rows: int) -> None:
    """Print what a logged insert and change take over unlogged ones."""
    table = f"benchmark_{uuid4().hex[:8]}"
    owner = connections["owner"]
    with owner.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} (LIKE memory_memory INCLUDING ALL)")
        cursor.execute(f"GRANT ALL ON {table} TO palimpsest_app")
    try:
        ground = new_ground()
        taken: dict[tuple[str, str], float] = {}
        for where in ("memory_memory", table) * 2:
            batches = [[new_id() for _ in range(BATCH)] for _ in range(rows // BATCH)]
            for name, act in (("insert", insert), ("change", change)):
                began = time.perf_counter()
                for ids in batches:
                    act(ground, ids, table=where)
                taken[name, where] = time.perf_counter() - began
    finally:
        with owner.cursor() as cursor:
            cursor.execute(f"DROP TABLE {table}")
    for name in ("insert", "change"):
        logged, plain = taken[name, "memory_memory"] / rows, taken[name, table] / rows
        print(
            f"{name}: {logged * 1e6:.0f} us a memory with everything the table keeps,"
            f" {plain * 1e6:.0f} us without ({logged / plain:.1f} times;"
            f" {1 / logged:,.0f} memories a second)"
        )


def one_change_cost() -> None:
    """Print what a transaction with one change takes."""
    ground = new_ground()
    ids = [new_id() for _ in range(300)]
    insert(ground, ids)
    each = iter(ids)
    taken = seconds(lambda: change(ground, [next(each)]), times=len(ids))
    print(f"one change in a transaction of its own: {taken * 1e3:.2f} ms")


def read_cost(*, size: int) -> Ground:
    """Print the times of reads of a log of `size` rows."""
    ground = new_ground()
    began = time.perf_counter()
    fill(ground, size)
    print(
        f"\n{size:,} log rows of {len(ground.ids):,} memories ({time.perf_counter() - began:.0f} s)"
    )
    report_pages(ground)
    middle = ground.instants[len(ground.instants) // 2]

    def rebuild() -> None:
        with ground.scope():
            rows = state_at(viewer=ground.viewer, at=middle, filters=MemoryFilters()).memories
            count = sum(1 for _ in rows.iterator(chunk_size=2000))
        assert count == len(ground.ids)

    print(f"  whole rebuild: {seconds(rebuild, times=2):.2f} s")

    def changed() -> None:
        with ground.scope():
            found = changes_between(
                viewer=ground.viewer,
                at=middle,
                to=ground.instants[-1],
                filters=MemoryFilters(),
                limit=PAGE,
            )
        assert len(found.changes) == PAGE

    print(f"  a page of what changed in the second half: {seconds(changed) * 1e3:.0f} ms")

    def history() -> None:
        with ground.scope():
            rows = MemoryLog.objects.filter(
                team_id=ground.viewer.team_id, memory_id=ground.ids[size % len(ground.ids)]
            )
            assert len(rows.order_by("-seq")) >= PER_MEMORY

    print(f"  one memory's log: {seconds(history) * 1e3:.1f} ms")
    return ground


def report_pages(ground: Ground) -> None:
    """Print the times of pages of the state at the first, middle and last instant."""

    def page(at: datetime, filters: MemoryFilters) -> list[Memory]:
        with ground.scope():
            rows = state_at(viewer=ground.viewer, at=at, filters=filters).memories
            return list(rows.order_by("-id")[: PAGE + 1])

    for name, at in (
        ("first", ground.instants[0]),
        ("middle", ground.instants[len(ground.instants) // 2]),
        ("last", ground.instants[-1]),
    ):
        whole = seconds(lambda at=at: page(at, MemoryFilters()))  # type: ignore[misc]
        person = seconds(lambda at=at: page(at, MemoryFilters(user="person-7")))  # type: ignore[misc]
        none = seconds(
            lambda at=at: page(at, MemoryFilters(category="none")),  # type: ignore[misc]
            times=2,
        )
        print(
            f"  a page at the {name} instant: {whole * 1e3:.0f} ms; of one person"
            f" {person * 1e3:.0f} ms; of what no memory is {none * 1e3:.0f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="up to 1,000,000 log rows")
    parser.add_argument("--aged", action="store_true", help="read, let the log grow, read again")
    parser.add_argument("--rows", type=int, default=5_000, help="memories of the write measure")
    given = parser.parse_args()
    append_cost(rows=given.rows)
    one_change_cost()
    for size in SIZES if given.full else SIZES[:2]:
        ground = read_cost(size=size)
    if given.aged:
        for _ in range(9 * PER_MEMORY):
            grow(ground)
        print(f"\nthe same {len(ground.ids):,} memories, the log ten times as long")
        report_pages(ground)


if __name__ == "__main__":
    main()
