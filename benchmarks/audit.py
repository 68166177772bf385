"""What does the log cost a write, and how fast is the past rebuilt from it?

Run as ``python -m benchmarks.audit`` beside a running, migrated database, with the settings that
manage.py uses. Prints the cost of a write with its log over the same write to a copy of the table
that logs nothing, and that of an operational event; then, at 10,000 and 100,000 (``--full``:
1,000,000) log rows of a tenth as many memories, how fast they are sealed and verified, the time of
a page of the state at several instants, of a whole rebuild, of what changed between two instants
and of one memory's log, and of erasing one person; at last the time of saving and loading a
checkpoint of 50 KB. Each size has a throwaway team whose rows stay, for nothing is ever removed:
use a database of its own.

``--aged`` adds the same page of the same instant before and after the log has grown tenfold.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from datetime import datetime
from itertools import cycle
from statistics import median, quantiles
from uuid import uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connections  # noqa: E402
from django.utils import timezone  # noqa: E402
from rest_framework.test import APIClient  # noqa: E402

from audit.models import MemoryLog  # noqa: E402
from audit.services.erasure import erase_user  # noqa: E402
from audit.services.events import Event, flush_events, note_events, record_events  # noqa: E402
from audit.services.seals import closed_up_to, seal_team  # noqa: E402
from audit.services.verification import verify_team  # noqa: E402
from benchmarks.log_ground import (  # noqa: E402
    ACTOR,
    BATCH,
    PER_MEMORY,
    SIZES,
    Ground,
    change,
    fill,
    grow,
    insert,
    new_ground,
)
from memory.models import Memory  # noqa: E402
from memory.selectors.history.states import changes_between, state_at  # noqa: E402
from memory.selectors.memories import MemoryFilters  # noqa: E402
from routing.clients.quick_redis import quick_redis  # noqa: E402
from teams.ids import new_id  # noqa: E402
from teams.models import EndUser  # noqa: E402
from teams.services.keys import issue_key  # noqa: E402

PAGE = 50


def times_of(act: Callable[[], object], *, times: int) -> list[float]:
    """The seconds that each of so many runs of an act took."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return taken


def seconds(act: Callable[[], object], *, times: int = 5) -> float:
    """The median time of an act."""
    return median(times_of(act, times=times))


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


def event_cost(*, events: int = 2_000) -> None:
    """Print what an operational event takes where it is noted, and where it is written down."""
    ground = new_ground()
    one = Event(node="hotpath", op="search", similarity=0.5, meta={"found": 3})
    flush_events()

    def note() -> None:
        quick_redis().ask(
            lambda client: note_events(
                client=client, team_id=ground.viewer.team_id, events=[one], now=timezone.now()
            )
        )

    noted = seconds(note, times=events)
    began = time.perf_counter()
    flush_events()
    flushed = (time.perf_counter() - began) / events

    def record() -> None:
        with ground.scope():
            record_events(team_id=ground.viewer.team_id, events=[one] * 100)

    recorded = seconds(record, times=20) / 100
    print(
        f"an operational event: {noted * 1e6:.0f} us to a request, {flushed * 1e6:.0f} us to write"
        f" down later; {recorded * 1e6:.0f} us where work writes its own, by the hundred"
    )


def read_cost(*, size: int) -> Ground:
    """Print the times of reads of a log of `size` rows."""
    ground = new_ground()
    began = time.perf_counter()
    fill(ground, size)
    print(
        f"\n{size:,} log rows of {len(ground.ids):,} memories ({time.perf_counter() - began:.0f} s)"
    )
    report_seals(ground)
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


def report_erasure(ground: Ground) -> None:
    """Erase one person of the team and verify the log again; print how fast."""
    with ground.scope():
        person = EndUser.objects.get(pk=ground.people[0]).external_id
    began = time.perf_counter()
    erased = erase_user(team_id=ground.viewer.team_id, external_id=person, actor=ACTOR)
    taken = time.perf_counter() - began
    print(f"  {erased.log_entries:,} rows of a person erased: {taken * 1e3:,.0f} ms; after that:")
    report_verification(ground)


def report_checkpoints(*, rounds: int = 400) -> None:
    """Print what saving and loading a thread's state of 50 KB takes over the API."""
    settings.ALLOWED_HOSTS = ["testserver"]
    ground = new_ground()
    with ground.scope():
        token = issue_key(team_id=ground.viewer.team_id, agent=None).token
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    messages = [{"role": "user", "content": f"word{n} " * 25, "score": n / 7} for n in range(200)]
    states = cycle({"step": step, "messages": messages} for step in range(20))
    url = "/v1/threads/t/checkpoint"

    def save() -> None:
        body = json.dumps({"user": "sarah", "data": next(states)})
        answer = client.put(url, body, content_type="application/json")
        assert answer.status_code in (200, 201), answer.content

    def load() -> None:
        answer = client.get(f"{url}?user=sarah")
        assert answer.status_code == 200, answer.content

    for name, act in (("saved", save), ("loaded", load)):
        taken = times_of(act, times=rounds)
        p95 = quantiles(taken, n=20)[-1]
        print(f"a checkpoint {name}: p50 {median(taken) * 1e3:.1f} ms, p95 {p95 * 1e3:.1f} ms")


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
    event_cost()
    for size in SIZES if given.full else SIZES[:2]:
        ground = read_cost(size=size)
        if given.aged:
            for _ in range(9 * PER_MEMORY):
                grow(ground)
            print(f"  the same {len(ground.ids):,} memories, the log ten times as long")
            report_pages(ground)
        report_erasure(ground)
    report_checkpoints()


if __name__ == "__main__":
    main()
