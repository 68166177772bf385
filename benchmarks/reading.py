"""How long does a read take, for small and large owners, beside plain exact search in PostgreSQL?

Run as ``python -m benchmarks.reading`` beside a running, migrated database, with the settings that
manage.py uses. It fills it with 226,000 memories: a team with ten users of 600, one of 20,000 and
200 of 500, as was measured for other products, and a team of 100,000 without users (``--scale 0.1``
for a tenth of all). ``--rows 1000000 --classes`` adds teams of 100, 1,000, 10,000 and 300,000, and
as many of 2,000 as it takes to come to so many rows. With ``--keep NAME`` it fills only what no run
of that name has filled before, ``--fill`` does nothing else.

It prints milliseconds of `retrieve` and `search` in process, where the time of `retrieve` goes, and
the same of what a large owner costs where a sketch does not help: with none, in a transaction that
has written, among what a filter leaves; of an exact scan of the same owner by the same connection;
of `retrieve` through HTTP with eight clients and two processes; and how many of the exactly nearest
ten and fifty a read finds by the sketch, and without it, for teams of different sizes. Rows stay:
use a database that may be thrown away.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Sequence
from uuid import uuid4

import django
import numpy as np
import psutil  # type: ignore[import-untyped]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connections  # noqa: E402
from django.test.utils import override_settings  # noqa: E402

from benchmarks.locomo_runs import own_server  # noqa: E402
from benchmarks.reading_ground import ACTOR, AGENT, Ground, Owner, questions  # noqa: E402
from benchmarks.reading_http import concurrent_calls  # noqa: E402
from benchmarks.reading_ways import WAYS, Reader  # noqa: E402
from config.collecting import spare_the_collector  # noqa: E402
from memory.clients.tools import Tools, default_tools  # noqa: E402
from memory.selectors.revisions import team_revision  # noqa: E402
from memory.selectors.searching.signal_rows import Sought  # noqa: E402
from memory.selectors.searching.signal_statement import Shape  # noqa: E402
from memory.selectors.searching.signals import find_candidates  # noqa: E402
from memory.selectors.searching.sketches import forget_sketches, make_sketch  # noqa: E402
from memory.selectors.searching.vectors import VectorSearch, forget_graphs  # noqa: E402
from memory.services.indexing.vector_graphs import extend_vector_graphs  # noqa: E402
from memory.services.reading.usage import flush_noted_usage  # noqa: E402
from teams.services.keys import issue_key  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402

# A process makes its sketch aside once somebody asks.
WARM_UP_SECONDS = 15.0
# So many times the questions go over HTTP, where a single one says little.
HTTP_TIMES = 4


def recall(*, owner: Owner, asked: Sequence[str], tools: Tools) -> tuple[float, ...]:
    """The share of the exactly nearest 10 and 50 that a read finds, and finds without a sketch."""
    viewer, shape = owner.viewer(), Shape(True, owner.user is not None, False)
    given = {"agent": viewer.agent_id, "end_user": viewer.end_user_id}
    shares = []
    with team_scope(team_ids=[owner.team_id], actor=ACTOR):
        revision = team_revision(team_id=owner.team_id)
        for vector in tools.embedder.embed(asked):
            exact = VectorSearch(
                team_id=owner.team_id,
                condition=shape.condition,
                parameters={name: pk for name, pk in given.items() if pk},
                vector=vector,
                embedding_model=tools.embedder.name,
                limit=50,
                is_exact=True,
            ).fetch()
            wanted = [pk for pk, _ in exact]
            sought = Sought([], vector, tools.embedder.name)
            row = []
            for most in (settings.SKETCH_MOST_MEMORIES, 0):
                with override_settings(SKETCH_MOST_MEMORIES=most):
                    found = find_candidates(viewer=viewer, sought=sought, revision=revision)
                pks = {each.memory_id for each in found.rows}
                row += [len(pks & set(wanted[:k])) / max(1, len(wanted[:k])) for k in (10, 50)]
            shares.append(row)
    return tuple(100 * float(share) for share in np.mean(shares, axis=0))


def prepared(ground: Ground, *, tools: Tools) -> list[Owner]:
    """The ground as it stands a while after it was filled."""
    started = time.perf_counter()
    owners = ground.fill(tools=tools)
    filled = time.perf_counter() - started
    moved = extend_vector_graphs(fresh=0)
    forget_graphs()
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE")  # as autovacuum does within minutes
    print(f"filled in {filled:.0f} s; {moved:,} vectors moved into the approximate index")
    return owners


def print_times(owners: Sequence[Owner], *, count: int, tools: Tools) -> None:
    """A table of them, and the memory that it took."""
    spare_the_collector()  # as gunicorn_conf.py does
    print(
        f"\nload {os.getloadavg()[0]:.1f}\n{'ms, p50 and p95':<18}"
        + "".join(f"{way:>16}" for way in WAYS)
    )
    for owner in owners:
        started = time.perf_counter()
        # As a process does aside once somebody asks.
        made = make_sketch(team_id=owner.team_id, embedding_model=tools.embedder.name)
        took = time.perf_counter() - started
        size = len(made.sketch.ids) if made is not None else 0
        reader = Reader(owner, tools)
        reader.measure(questions(count))
        reader.measure_without_sketch(questions(count // 4 + 5))
        print(
            f"{owner.title:<18}"
            + "".join(reader.times.row(way) for way in WAYS)
            + f"  sketch of {size:,} in {took:.1f} s; "
            + ", ".join(
                f"{name} {reader.steps.row(name).split()[0]}" for name in reader.steps.values
            ),
            flush=True,
        )
        forget_sketches()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nthis process held at most {memory:.0f} MB")


def print_recall(owners: Sequence[Owner], *, count: int, tools: Tools) -> None:
    """A table of what reads find of what is nearest."""
    print("\nof the exactly nearest a read finds, % of 10 and of 50; and without a sketch")
    for owner in owners:
        make_sketch(team_id=owner.team_id, embedding_model=tools.embedder.name)
        found = recall(owner=owner, asked=questions(count), tools=tools)
        print(f"{owner.title:<18}" + "".join(f"{share:>9.1f}" for share in found), flush=True)
        forget_sketches()


def print_http(owners: Sequence[Owner], *, count: int, clients: int) -> None:
    """A table of what clients wait for."""
    print(
        f"\nHTTP, {clients} clients, ms: p50 and p95 of retrieve; MB that a process holds;"
        f" ms of processor a request; load {os.getloadavg()[0]:.1f}"
    )
    with own_server(workers=2) as server:
        for owner in owners:
            with team_scope(team_ids=[owner.team_id], actor=ACTOR):
                token = issue_key(team_id=owner.team_id).token
            bodies = [
                {"query": text, "agent": AGENT, "token_budget": 2000}
                | ({"user": owner.user} if owner.user else {})
                for text in questions(HTTP_TIMES * count + 20)
            ]
            warm_until = time.perf_counter() + WARM_UP_SECONDS
            while time.perf_counter() < warm_until:
                concurrent_calls(port=server.port, token=token, bodies=bodies[:20], clients=clients)
                time.sleep(1.0)
            flush_noted_usage()  # as a worker does every few seconds
            load = concurrent_calls(
                port=server.port, token=token, bodies=bodies[20:], clients=clients
            )
            p50, p95 = np.percentile(load.took, [50, 95])
            held = max(each.memory_info().rss for each in psutil.Process().children(recursive=True))
            print(
                f"{owner.title:<18}{p50:>9.1f}{p95:>9.1f}{held / 2**20:>9.0f}   "
                + ", ".join(f"{kind} {spent:.1f}" for kind, spent in load.computed.items()),
                flush=True,
            )


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the memories of each owner")
    parser.add_argument("--rows", type=int, default=0, help="the least that the database holds")
    parser.add_argument("--classes", action="store_true", help="a team of each size class as well")
    parser.add_argument("--keep", metavar="NAME", help="fill it once, and use it again")
    parser.add_argument("--fill", action="store_true", help="measure nothing")
    parser.add_argument("--only", default="", help="those whose title has this in it")
    parser.add_argument("--questions", type=int, default=100, help="asked of each owner")
    parser.add_argument("--clients", type=int, default=8, help="that ask through HTTP at once")
    given = parser.parse_args()
    name = given.keep or f"reading-{uuid4().hex[:10]}"
    ground = Ground(name, scale=given.scale, rows=given.rows, classes=given.classes)
    tools = default_tools()
    owners = [each for each in prepared(ground, tools=tools) if given.only in each.title]
    if not given.fill:
        print_times(owners, count=given.questions, tools=tools)
        print_recall(owners, count=given.questions, tools=tools)
        print_http(owners, count=given.questions, clients=given.clients)


if __name__ == "__main__":
    main()
