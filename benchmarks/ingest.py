"""How fast do messages become memories, and does a write get dearer as the team grows?

Run as ``python -m benchmarks.ingest`` beside a running, migrated database, with the settings that
manage.py uses. Prints messages extracted a second, then memories written a second at 1,000 and
10,000 (``--full``: 100,000) memories in the team, and the cost of a write at the largest size over
that at the smallest; then the same by processor time, of this process, Redis and the database,
where that is on this machine. Each size has throwaway teams whose rows stay, for nothing
is ever removed: use a database of its own. The sizes of one measure follow each other directly, and
a team holds the named number of memories half way through what is measured.

``--users 0``, the default, writes every memory for one audience, the dearest case of the checks;
``--users N`` spreads them over N people. All texts share one list of names, so that the more there
are, the more of them are about one matter and the more conflict: below each checked measure stands
how many pairs a memory the judge was asked, and how many of a hundred memories conflicted.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC
from statistics import mean, median
from threading import Barrier, Lock
from typing import Any

from django.db import OperationalError, connection
from django.utils import timezone

from benchmarks.ground import computed, new_team, scope_of, statements
from benchmarks.texts import Texts
from memory.domain.types import Judgement, Statement
from memory.domain.viewer import Viewer
from memory.models import SearchEntry, SearchGraph
from memory.models.search import Place
from memory.services.extraction.extraction import find_candidates, load_range
from memory.services.extraction.job_runs import run_job
from memory.services.extraction.jobs import queue_extraction
from memory.services.indexing.pending_vectors import embed_pending
from memory.services.indexing.statistics import renew_outdated_statistics
from memory.services.indexing.vector_graphs import FRESH, extend_vector_graphs
from memory.services.messages.posting import open_conversation
from memory.services.write.drafts import Outcome
from memory.services.write.explicit import StatedMemory, remember
from memory.understanding.ports import Judge
from memory.understanding.tools import Tools, default_tools
from teams.services.conversations import NewMessage, append_messages

SIZES = (1_000, 10_000, 100_000)
SINGLES = 120  # a client's writes in one measure of single ones
CONVERSATION = 20  # messages, the usual interval of extraction
LOST = "lost"
BULK = 500
_WAIT_SECONDS = 0.5


@dataclass(slots=True)
class Ground:
    """A throwaway team and how many memories it holds."""

    viewer: Viewer
    count: int = 0


@dataclass(slots=True)
class CountingJudge:
    """A judge that counts what it is asked; all else is the inner one's."""

    inner: Judge
    name: str = "counting"
    asked: int = 0
    _lock: Lock = field(default_factory=Lock)

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The inner judge's verdict."""
        with self._lock:
            self.asked += 1
        return self.inner.judge(existing=existing, new=new)

    def __getattr__(self, name: str) -> Any:  # Any: whatever the inner one has
        return getattr(self.inner, name)


@dataclass(frozen=True, slots=True)
class Measure:
    """One way of writing; a client calls once for each of its `calls` batches of `batch`."""

    title: str
    batch: int
    calls: int
    check: bool
    clients: int

    @property
    def written(self) -> int:
        """How many memories the measure adds to the team."""
        return self.batch * self.calls * self.clients


@dataclass(frozen=True, slots=True)
class Rate:
    """Memories written a second: of the clock, and of processor time; and why they take it.

    `judged` pairs a memory, of which `conflicting` a memory end in something else than a new one.
    """

    by_clock: float
    by_processor: float
    judged: float
    conflicting: float


def write(viewer: Viewer, stated: Sequence[StatedMemory], tools: Tools) -> Counter[str]:
    """What became of them."""
    try:
        results = remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())
    except OperationalError as error:
        # A batch that waited too long for its turn is lost, and the figures must say so.
        return Counter({f"{LOST} ({type(error.__cause__).__name__})": len(stated)})
    return Counter(result.outcome.value for result in results)


def fill(*, ground: Ground, size: int, users: int, tools: Tools) -> None:
    """Bring the team to `size` memories, unchecked, with their vectors indexed."""
    texts = Texts(random.randrange(2**32), users)
    while ground.count < size:
        count = min(BULK, size - ground.count)
        write(ground.viewer, statements(texts, count), tools)
        ground.count += count
    # What the worker's tasks do a few times a minute. Where a worker is at this team already, it is
    # waited for: what is not indexed yet is compared with each write.
    embed_pending(tools=tools, seconds=math.inf)
    renew_outdated_statistics()
    extend_vector_graphs()
    while _waiting(ground.viewer) > 2 * FRESH:
        time.sleep(_WAIT_SECONDS)
        extend_vector_graphs()


def _waiting(viewer: Viewer) -> int:
    with scope_of(viewer):
        if not SearchGraph.objects.filter(team_id=viewer.team_id).exists():
            return 0
        outside = SearchEntry.objects.filter(team_id=viewer.team_id, graph_dimensions=0)
        return outside.filter(place=Place.FOUND).count()


def _talk(texts: Texts, count: int) -> list[NewMessage]:
    """A person and an assistant in turns."""
    return [
        NewMessage(role="assistant" if index % 2 else "user", content=texts.remark())
        for index in range(count)
    ]


def write_rate(
    *, measure: Measure, ground: Ground, users: int, tools: Tools
) -> tuple[Rate, Counter[str]]:
    """How fast all clients together write, and what became of the memories."""
    start = Barrier(measure.clients + 1)
    judge = CountingJudge(tools.judge)
    counting = replace(tools, judge=judge)

    def client(seed: int) -> Counter[str]:
        texts = Texts(seed, users)
        batches = [
            statements(texts, measure.batch, check=measure.check) for _ in range(measure.calls)
        ]
        start.wait()
        try:
            return sum((write(ground.viewer, batch, counting) for batch in batches), Counter[str]())
        finally:
            connection.close()

    with ThreadPoolExecutor(measure.clients) as pool:
        running = [pool.submit(client, random.randrange(2**32)) for _ in range(measure.clients)]
        start.wait()
        started, busy = time.perf_counter(), sum(computed().values())
        outcomes = sum((each.result() for each in running), Counter[str]())
        seconds, cpu = time.perf_counter() - started, sum(computed().values()) - busy
    stored = sum(count for name, count in outcomes.items() if not name.startswith(LOST))
    ground.count += stored
    conflicting = (stored - outcomes[Outcome.CREATED.value]) / stored
    rate = Rate(stored / seconds, stored / cpu, judge.asked / stored, conflicting)
    return rate, outcomes


def extraction_rates(*, conversations: int, tools: Tools) -> tuple[float, float]:
    """Messages a second through both passes alone, and through whole jobs that write memories."""
    viewer = new_team("ingest")
    team_id = viewer.team_id
    texts = Texts(random.randrange(2**32))
    jobs, sources = [], []
    with scope_of(viewer):
        for number in range(conversations):
            conversation, _ = open_conversation(
                team_id=team_id, agent="scribe", user=f"person-{number}"
            )
            append_messages(
                conversation=conversation,
                messages=_talk(texts, CONVERSATION),
                now=timezone.now(),
            )
            sources.append(
                load_range(conversation=conversation, first=1, last=CONVERSATION, zone=UTC)
            )
            job = queue_extraction(conversation=conversation)
            assert job is not None
            jobs.append(job.pk)
    find_candidates(source=sources[0], tools=tools)
    started = time.perf_counter()
    for source in sources:
        find_candidates(source=source, tools=tools)
    passes = time.perf_counter() - started
    started = time.perf_counter()
    for job_id in jobs:
        run_job(team_id=team_id, job_id=job_id, tools=tools)
    whole = time.perf_counter() - started
    messages = conversations * CONVERSATION
    return messages / passes, messages / whole


def measures(*, clients: Sequence[int]) -> list[Measure]:
    """Single writes and bulk ones, without checks and with them, by so many clients."""
    return [
        Measure(
            f"{kind}, {'checked' if check else 'unchecked'}, {count} client{'s' * (count > 1)}",
            batch,
            SINGLES if batch == 1 else max(1, 2 // count),
            check,
            count,
        )
        for kind, batch in (("single", 1), (f"bulk of {BULK}", BULK))
        for check in (False, True)
        for count in clients
    ]


def run(*, sizes: Sequence[int], clients: Sequence[int], rounds: int, users: int) -> None:
    """Measure and print everything."""
    tools = default_tools()
    # Seeded from the clock: a second run against the same database writes other texts.
    passes, whole = extraction_rates(conversations=40, tools=tools)
    print(f"extractor {tools.extractor.name}, judge {tools.judge.name}, {tools.embedder.name}")
    print(f"messages/s extracted: {passes:,.0f} by the passes, {whole:,.0f} by jobs that write\n")
    grounds: dict[int, Ground] = {}
    heading = "".join(f"{size:>10,}" for size in sizes)
    print(f"{'memories/s written at':<36}{heading}{'cost ratio':>12}  outcomes at the largest")
    for measure in measures(clients=clients):
        rates: dict[int, list[Rate]] = {size: [] for size in sizes}
        outcomes: Counter[str] = Counter()
        for _ in range(rounds):
            for size in sizes:
                begin = max(0, size - measure.written // 2)
                ground = grounds.get(size)
                if ground is None or ground.count > begin * 1.05:
                    ground = Ground(new_team("ingest"))
                    grounds[size] = ground
                fill(ground=ground, size=begin, users=users, tools=tools)
                rate, what = write_rate(measure=measure, ground=ground, users=users, tools=tools)
                rates[size].append(rate)
                outcomes += what if size == sizes[-1] else Counter()
        by_clock = [median(rate.by_clock for rate in rates[size]) for size in sizes]
        by_processor = [median(rate.by_processor for rate in rates[size]) for size in sizes]
        told = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
        print(f"{measure.title:<36}{_row(by_clock)}  {told}")
        print(f"{'  by processor time':<36}{_row(by_processor)}", flush=True)
        if measure.check:
            judged = [mean(rate.judged for rate in rates[size]) for size in sizes]
            conflicting = [mean(100 * rate.conflicting for rate in rates[size]) for size in sizes]
            print(f"{'  pairs judged a memory':<36}{_counts(judged)}")
            print(f"{'  conflicts in 100 memories':<36}{_counts(conflicting)}", flush=True)


def _row(rates: Sequence[float]) -> str:
    """The rate at each size, and the cost at the largest over that at the smallest."""
    return "".join(f"{rate:>10,.0f}" for rate in rates) + f"{rates[0] / rates[-1]:>12.2f}"


def _counts(values: Sequence[float]) -> str:
    return "".join(f"{value:>10.2f}" for value in values)


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="100,000 memories as well")
    parser.add_argument("--rounds", type=int, default=3, help="of each measure; the median counts")
    parser.add_argument("--clients", default="1,4", help="threads that write at the same time")
    parser.add_argument("--users", type=int, default=0, help="people the memories are spread over")
    given = parser.parse_args()
    run(
        sizes=SIZES if given.full else SIZES[:-1],
        clients=[int(each) for each in given.clients.split(",")],
        rounds=given.rounds,
        users=given.users,
    )


if __name__ == "__main__":
    main()
