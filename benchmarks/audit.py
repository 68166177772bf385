"""What does the log cost a write, and how fast is the past rebuilt from it?

Run as ``python -m benchmarks.audit`` beside a running, migrated database, with the settings that
manage.py uses. Prints the cost of a write with its log over the same write to a copy of the table
that logs nothing; then, at 10,000 and 100,000 (``--full``: 1,000,000) log rows of a tenth as many
memories, how fast they are sealed and verified, the time of a page of the state at several
instants, of a whole rebuild and of what changed between two instants, and of erasing one person.
``--aged`` adds the same pages before and after the log has grown tenfold. Rows stay: use a database
of its own.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from statistics import median
from uuid import UUID, uuid4

from django.db import connection, connections
from django.utils import timezone

from audit.selectors.instants import instant_at
from audit.services.erasure import erase_user
from audit.services.seals import closed_up_to, seal_team
from audit.services.verification import verify_team
from benchmarks.ground import ACTOR, analyse, new_team, scope_of, times_of
from memory.domain.viewer import Viewer
from memory.selectors.history.states import changes_between, state_at
from memory.selectors.memories import MemoryFilters
from teams.ids import new_id
from teams.services.people import ensure_end_user

SIZES = (10_000, 100_000, 1_000_000)
PER_MEMORY = 10
BATCH = 500
PEOPLE = 50
PAGE = 50
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

    viewer: Viewer = field(default_factory=partial(new_team, "audit"))
    people: list[UUID] = field(default_factory=list)
    ids: list[UUID] = field(default_factory=list)
    instants: list[datetime] = field(default_factory=list)

    def __post_init__(self) -> None:
        team_id = self.viewer.team_id
        with scope_of(self.viewer):
            for number in range(PEOPLE):
                person = ensure_end_user(team_id=team_id, external_id=f"person-{number}")
                self.people.append(person.pk)

    def insert(self, ids: list[UUID], *, table: str = "memory_memory") -> None:
        """Insert memories in one transaction."""
        people = [self.people[index % PEOPLE] for index in range(len(ids))]
        with scope_of(self.viewer), connection.cursor() as cursor:
            cursor.execute(_INSERT.format(table=table), [self.viewer.team_id, ACTOR, ids, people])

    def change(self, ids: list[UUID], *, table: str = "memory_memory") -> None:
        """Change memories in one transaction."""
        with scope_of(self.viewer), connection.cursor() as cursor:
            cursor.execute(_CHANGE.format(table=table), [self.viewer.team_id, ids])

    def fill(self, size: int) -> None:
        """Bring the log to `size` rows, `PER_MEMORY` of each memory."""
        for _ in range(0, size // PER_MEMORY, BATCH):
            ids = [new_id() for _ in range(min(BATCH, size // PER_MEMORY))]
            self.insert(ids)
            self.ids.extend(ids)
        self.note()
        for _ in range(PER_MEMORY - 1):
            self.grow()
        analyse("audit_memorylog", "audit_logcommit", "memory_memory")

    def grow(self) -> None:
        """One more log row of each memory."""
        for start in range(0, len(self.ids), BATCH):
            self.change(self.ids[start : start + BATCH])
        self.note()

    def note(self) -> None:
        """Remember this moment."""
        with scope_of(self.viewer):
            self.instants.append(instant_at(team_id=self.viewer.team_id, at=None).at)

    def read_page(self, at: datetime, filters: MemoryFilters) -> None:
        """Read a page of the state at an instant."""
        with scope_of(self.viewer):
            rows = state_at(viewer=self.viewer, at=at, filters=filters).memories
            list(rows.order_by("-id")[: PAGE + 1])

    def rebuild(self, at: datetime) -> None:
        """Read the whole state at an instant."""
        with scope_of(self.viewer):
            rows = state_at(viewer=self.viewer, at=at, filters=MemoryFilters()).memories
            assert sum(1 for _ in rows.iterator(chunk_size=2000)) == len(self.ids)

    def read_changes(self, at: datetime) -> None:
        """Read a page of what changed from an instant to the last one."""
        with scope_of(self.viewer):
            found = changes_between(
                viewer=self.viewer,
                at=at,
                to=self.instants[-1],
                filters=MemoryFilters(),
                limit=PAGE,
            )
        assert len(found.changes) == PAGE


def report_writes(*, rows: int) -> None:
    """Print what a logged insert and change take over unlogged ones, and one change by itself."""
    table = f"benchmark_{uuid4().hex[:8]}"
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"CREATE TABLE {table} (LIKE memory_memory INCLUDING ALL)")
        cursor.execute(f"GRANT ALL ON {table} TO palimpsest_app")
        ground = Ground()
        taken: dict[tuple[str, str], float] = {}
        for where in ("memory_memory", table) * 2:
            batches = [[new_id() for _ in range(BATCH)] for _ in range(rows // BATCH)]
            for name, act in (("insert", ground.insert), ("change", ground.change)):
                began = time.perf_counter()
                for ids in batches:
                    act(ids, table=where)
                taken[name, where] = time.perf_counter() - began
        cursor.execute(f"DROP TABLE {table}")
    for name in ("insert", "change"):
        logged, plain = taken[name, "memory_memory"] / rows, taken[name, table] / rows
        print(
            f"{name}: {logged * 1e6:.0f} us a memory with everything the table keeps,"
            f" {plain * 1e6:.0f} us without ({logged / plain:.1f} times;"
            f" {1 / logged:,.0f} memories a second)"
        )
    ids = [new_id() for _ in range(300)]
    ground.insert(ids)
    each = iter(ids)
    single = median(times_of(lambda: ground.change([next(each)]), times=len(ids)))
    print(f"one change in a transaction of its own: {single * 1e3:.2f} ms")


def report_pages(ground: Ground) -> None:
    """Print the times of pages of the state at the first, middle and last instant."""
    instants = ground.instants
    for name, at in zip(
        ("first", "middle", "last"),
        (instants[0], instants[len(instants) // 2], instants[-1]),
        strict=True,
    ):
        figures = []
        for told, filters in (
            ("of all", MemoryFilters()),
            ("of one person", MemoryFilters(user="person-7")),
            ("of what no memory is", MemoryFilters(category="none")),
        ):
            seconds = median(times_of(partial(ground.read_page, at, filters), times=5))
            figures.append(f"{told} {seconds * 1e3:.0f} ms")
        print(f"  a page at the {name} instant: {', '.join(figures)}")


def report_seals(ground: Ground) -> None:
    """Seal the team's log and verify it; print how fast."""
    last_seq = closed_up_to(seconds=60)
    if last_seq is None:
        raise SystemExit("Another transaction stays open; use a database of its own.")
    began = time.perf_counter()
    rows = seal_team(team_id=ground.viewer.team_id, last_seq=last_seq, now=timezone.now())
    print(f"  {rows:,} rows sealed: {rows / (time.perf_counter() - began):,.0f} rows/s")
    report_verification(ground)


def report_verification(ground: Ground) -> None:
    """Verify the team's log; print how fast."""
    began = time.perf_counter()
    found = verify_team(team_id=ground.viewer.team_id)
    taken = time.perf_counter() - began
    if found.findings:
        raise SystemExit(f"Not as it was sealed: {found.findings[0]}")
    rows = found.rows + found.unsealed
    print(f"  {rows:,} rows verified: {rows / taken:,.0f} rows/s ({taken:.1f} s)")


def report_size(size: int, *, is_aged: bool) -> None:
    """Print the times of reads of a log of `size` rows."""
    ground = Ground()
    began = time.perf_counter()
    ground.fill(size)
    taken = time.perf_counter() - began
    print(f"\n{size:,} log rows of {len(ground.ids):,} memories ({taken:.0f} s)")
    report_seals(ground)
    report_pages(ground)
    middle = ground.instants[len(ground.instants) // 2]
    rebuilt = median(times_of(partial(ground.rebuild, middle), times=2))
    changed = median(times_of(partial(ground.read_changes, middle), times=5))
    print(f"  whole rebuild: {rebuilt:.2f} s")
    print(f"  a page of what changed in the second half: {changed * 1e3:.0f} ms")
    if is_aged:
        for _ in range(9 * PER_MEMORY):
            ground.grow()
        print(f"  the same {len(ground.ids):,} memories, the log ten times as long")
        report_pages(ground)
    began = time.perf_counter()
    erased = erase_user(team_id=ground.viewer.team_id, external_id="person-0", actor=ACTOR)
    taken = time.perf_counter() - began
    print(f"  {erased.log_entries:,} rows of a person erased: {taken * 1e3:,.0f} ms; after that:")
    report_verification(ground)


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="up to 1,000,000 log rows")
    parser.add_argument("--aged", action="store_true", help="read, let the log grow, read again")
    parser.add_argument("--rows", type=int, default=5_000, help="memories of the write measure")
    given = parser.parse_args()
    report_writes(rows=given.rows)
    for size in SIZES if given.full else SIZES[:2]:
        report_size(size, is_aged=given.aged)


if __name__ == "__main__":
    main()
