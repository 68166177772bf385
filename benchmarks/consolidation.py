"""What does a consolidation cost, for small and large teams, and do reads wait for it?

Run as ``python -m benchmarks.consolidation`` beside a running, migrated database without workers,
which would take its runs. For each size it fills a team, then consolidates it twice in a process of
its own: wholly, and after CHANGES memories more, ten days later by the clock that it is given. It
prints the seconds, the statements and the peak memory of that process, and the ratios between the
two runs. While the first one goes on `retrieve` is asked, in turns with a pause: how much longer it
takes is printed as ratios of p50 and p95. Rows stay: use a database that may be thrown away.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
from celery import current_app
from django.db import connection
from django.utils import timezone

from benchmarks.ground import analyse, new_team, scope_of, statements
from benchmarks.reading import questions
from benchmarks.texts import Texts
from memory.domain.viewer import Viewer
from memory.satellites.lifecycle.models import ConsolidationRun
from memory.satellites.lifecycle.running import run_consolidation
from memory.satellites.lifecycle.runs import RUN_TASK, start_run
from memory.selectors.search.vectors import forget_graphs
from memory.services.indexing.pending_vectors import embed_pending
from memory.services.indexing.vector_graphs import extend_vector_graphs
from memory.services.read.ranking import Question
from memory.services.read.retrieval import Read, search
from memory.services.read.search import Depth
from memory.services.write.explicit import remember
from memory.understanding.tools import default_tools
from teams.models import EndUser

SIZES = (10_000, 100_000)
CHANGES = 100
# Of one person's memories.
EACH = 500
BATCH = 1_000
LATER = timedelta(days=10)
# Reads in a row with the run going on, and with it at a stop.
TURN = 20
MOST = 300


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took; `peak_mb` is the process's, `base_mb` what it was before."""

    seconds: float
    statements: int
    base_mb: float
    peak_mb: float
    looked_at: int
    judged: int
    changes: int

    def line(self, title: str) -> str:
        """For printing."""
        return (
            f"{title:<28}{self.seconds:>9.1f} s{self.statements:>10,} statements"
            f"{self.base_mb:>7.0f} → {self.peak_mb:.0f} MB, looked at {self.looked_at:,},"
            f" judged {self.judged:,}, changed {self.changes:,}"
        )


def consolidate(*, viewer: Viewer, days: int) -> Cost:
    """Run it here, so many days later."""
    tools, counted = default_tools(), 0
    tools.embedder.embed(["warm"])
    now = timezone.now() + timedelta(days=days)

    def count(execute: Any, *given: Any) -> Any:  # Any: Django's own signature
        nonlocal counted
        counted += 1
        return execute(*given)

    # Nobody listens there.
    current_app.conf.task_routes = {RUN_TASK: {"queue": "benchmark"}}
    run = start_run(viewer=viewer, now=now)
    base, began = _peak_mb(), time.perf_counter()
    with connection.execute_wrapper(count):
        run_consolidation(team_id=viewer.team_id, run_id=run.pk, tools=tools, clock=lambda: now)
    seconds = time.perf_counter() - began
    with scope_of(viewer):
        done = ConsolidationRun.objects.get(team_id=viewer.team_id, pk=run.pk)
    if done.state != ConsolidationRun.State.DONE:
        raise RuntimeError(f"The run is {done.state}: {done.error}")
    sums = {
        name: sum(each[name] for each in done.counts.values()) for name in ("looked_at", "made")
    }
    return Cost(seconds, counted, base, _peak_mb(), sums["looked_at"], done.judged, sums["made"])


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def started(viewer: Viewer, *, days: int = 0) -> subprocess.Popen[str]:
    """A process that consolidates the team and prints what it took."""
    command = [sys.executable, "-m", "benchmarks.consolidation", "--team", str(viewer.team_id)]
    return subprocess.Popen([*command, "--days", str(days)], stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> Cost:
    """What it took; RuntimeError where it failed."""
    answer, _ = process.communicate()
    if process.returncode:
        raise RuntimeError("The consolidation failed.")
    return Cost(**json.loads(answer.splitlines()[-1]))


def fill(viewer: Viewer, count: int, texts: Texts) -> None:
    """Store so many memories as if by an import, unchecked."""
    tools = default_tools()
    for begin in range(0, count, BATCH):
        stated = statements(texts, min(BATCH, count - begin))
        remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())


def read_meanwhile(
    viewer: Viewer, process: subprocess.Popen[str]
) -> tuple[dict[str, list[float]], float]:
    """Milliseconds of reads while the process works and stands still, and how long it stood."""
    stood = 0.0
    took: dict[str, list[float]] = {"alone": [], "meanwhile": []}
    with scope_of(viewer):
        person = EndUser.objects.filter(team_id=viewer.team_id).order_by("pk")[0].pk
    asker = Viewer(viewer.team_id, viewer.actor, end_user_id=person)
    _read(asker, TURN)
    time.sleep(5)  # its start is not what is measured
    while process.poll() is None:
        took["meanwhile"] += _read(asker, TURN)
        process.send_signal(signal.SIGSTOP)
        stopped = time.perf_counter()
        try:
            took["alone"] += _read(asker, TURN)
        finally:
            process.send_signal(signal.SIGCONT)
            stood += time.perf_counter() - stopped
        if len(took["alone"]) >= MOST:
            break
    return took, stood


def _read(viewer: Viewer, count: int) -> list[float]:
    tools, took = default_tools(), []
    for text in questions(count):
        began = time.perf_counter()
        search(
            Read(
                viewer=viewer,
                question=Question(text),
                limit=10,
                depth=Depth(include_cold=False),
                tools=tools,
                now=timezone.now(),
            )
        )
        took.append(1000 * (time.perf_counter() - began))
    return took


def measure(size: int) -> dict[str, Cost]:
    """Fill a team, consolidate it twice, and print what it took."""
    viewer, texts = new_team("consolidation"), Texts(random.randrange(2**32), size // EACH or 1)
    began = time.perf_counter()
    fill(viewer, size, texts)
    embed_pending(tools=default_tools(), seconds=math.inf)
    extend_vector_graphs(fresh=0)
    forget_graphs()
    analyse()
    print(f"team of {size:,}: filled in {time.perf_counter() - began:.0f} s", flush=True)
    process = started(viewer)
    took, stood = read_meanwhile(viewer, process)
    cost = ended(process)
    costs = {"first": replace(cost, seconds=cost.seconds - stood)}
    print(costs["first"].line("  first run"), flush=True)
    for way, values in took.items():
        if values:
            p50, p95 = np.percentile(values, [50, 95])
            print(f"  retrieve {way:<12}p50 {p50:.1f} ms, p95 {p95:.1f} ms, {len(values)} reads")
    if all(took.values()):
        ratios = [
            np.percentile(took["meanwhile"], p) / np.percentile(took["alone"], p) for p in (50, 95)
        ]
        print(f"  retrieve, ratio       p50 {ratios[0]:.2f}, p95 {ratios[1]:.2f}")
    fill(viewer, CHANGES, texts)
    costs["later"] = ended(started(viewer, days=LATER.days))
    print(costs["later"].line(f"  after {CHANGES} changes"))
    first, later = costs["first"], costs["later"]
    print(
        f"  later to first        {later.seconds / first.seconds:.3f} of the time,"
        f" {later.statements / first.statements:.3f} of the statements",
        flush=True,
    )
    return costs


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", help="as in 10000,100000, which is the default")
    parser.add_argument("--team", type=UUID, help="consolidate this one here, and print JSON")
    parser.add_argument("--days", type=int, default=0, help="later than now, with --team")
    given = parser.parse_args()
    if given.team:
        viewer = Viewer(team_id=given.team, actor="benchmark")
        print(json.dumps(asdict(consolidate(viewer=viewer, days=given.days))))
        return
    sizes = [int(each) for each in given.sizes.split(",")] if given.sizes else SIZES
    found = [measure(size) for size in sizes]
    if len(found) > 1:
        small, large = found[0]["later"], found[-1]["later"]
        print(
            f"after {CHANGES} changes, {sizes[-1]:,} to {sizes[0]:,}:"
            f" {large.seconds / small.seconds:.2f} of the time,"
            f" {large.statements / small.statements:.2f} of the statements"
        )


if __name__ == "__main__":
    main()
