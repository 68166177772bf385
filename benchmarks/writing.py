"""Measures how fast memories are written: from talk, directly, over HTTP and by an import.

Run as ``python -m benchmarks.writing`` beside a running, migrated database, with the settings that
manage.py uses. ``--only`` chooses among the parts:

- extraction: messages read a second, alone and by whole jobs that write memories;
- writes: memories written a second at 1,000 and 10,000 (``--full``: 100,000) memories in the team,
  the cost at the largest size over that at the smallest, and for checked writes the pairs judged
  and the conflicts;
- http: the same bulk over HTTP and in process in turns, a page of a list, an answer of `retrieve`;
- import: ChatGPT's export of 10,000 and 100,000 messages, checked and written, and the memory of
  the process above that of an import of 100.

Rates are by the clock and by processor time: of this process, the server, Redis and the database,
where that is on this machine. Teams are new and their rows stay: use a database of its own.
``--users N`` spreads the memories over N people; 0, the default, is the dearest case of the checks.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC
from pathlib import Path
from statistics import mean, median
from threading import Barrier, Lock
from typing import Any, Final
from uuid import uuid4

import httpx
from django.db import OperationalError, connection
from django.utils import timezone

from benchmarks.ground import computed, new_team, scope_of, statements
from benchmarks.instance import own_server, run_command
from benchmarks.texts import Texts
from memory.domain.audience import Viewer
from memory.domain.types import Judgement, Statement
from memory.models import SearchEntry, SearchGraph
from memory.models.search import Place
from memory.understanding.ports import Judge
from memory.understanding.tools import Tools, default_tools
from memory.writing.drafts import Outcome
from memory.writing.indexing.vector_graphs import (
    FRESH,
    extend_vector_graphs,
    renew_outdated_statistics,
)
from memory.writing.indexing.vectors import embed_pending
from memory.writing.jobs import queue_extraction
from memory.writing.pipeline import run_job
from memory.writing.posting import open_conversation
from memory.writing.stating import StatedMemory, remember
from memory.writing.windows import find_candidates, load_range
from teams.services.conversations import NewMessage, append_messages
from teams.services.keys import issue_key

SIZES: Final = (1_000, 10_000, 100_000)
SINGLES: Final = 120  # a client's writes in one measure of single ones
CONVERSATION: Final = 20  # messages, the usual interval of extraction
BULK: Final = 500
LOST: Final = "lost"
_SENT: Final = ("content", "importance", "user", "check")
# One process for each file: the peak of a process never falls.
_IMPORT: Final = """
import resource, sys, time
import django
django.setup()
from pathlib import Path
from django.utils import timezone
from memory.understanding.tools import default_tools
from memory.domain.audience import Viewer
from memory.satellites.transfer.formats.items import Names
from memory.satellites.transfer.imports import run_import
from memory.satellites.transfer.imports import start_import
from teams.services.people import create_team
team = create_team(slug=sys.argv[2], name=sys.argv[2], actor="benchmark").pk
names, started = Names(agent="archive", user="sarah"), time.perf_counter()
run = start_import(viewer=Viewer(team_id=team, actor="benchmark"), source=Path(sys.argv[1]),
    names=names, now=timezone.now(), does_extract=False, is_published=False)
checked = time.perf_counter()
assert run_import(team_id=team, run_id=run.pk, tools=default_tools())
written = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(checked - started, written - checked, peak / 1024)
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of the clock and of the processors."""

    clock: float
    processor: float


def spent_on(act: Callable[[], object]) -> Spent:
    """Runs the act and measures its time."""
    busy, began = sum(computed().values()), time.perf_counter()
    act()
    took = time.perf_counter() - began
    return Spent(took, sum(computed().values()) - busy)


@dataclass(slots=True)
class Ground:
    """A throwaway team and how many memories it holds."""

    viewer: Viewer
    count: int = 0


@dataclass(slots=True)
class CountingJudge:
    """A judge that counts the pairs it is asked about."""

    inner: Judge
    name: str = "counting"
    asked: int = 0
    _lock: Lock = field(default_factory=Lock)

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The inner judge's verdict."""
        return self.judge_all([(existing, new)])[0]

    def judge_all(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Judgement]:
        """The inner judge's verdicts, in order."""
        with self._lock:
            self.asked += len(pairs)
        return self.inner.judge_all(pairs)

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


def write(viewer: Viewer, stated: Sequence[StatedMemory], tools: Tools) -> Counter[str]:
    """Writes the memories and counts the outcomes."""
    try:
        results = remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())
    except OperationalError as error:
        # A batch that waited too long for a lock is lost, and the figures must show it.
        return Counter({f"{LOST} ({type(error.__cause__).__name__})": len(stated)})
    return Counter(result.outcome.value for result in results)


def fill(*, ground: Ground, size: int, users: int, tools: Tools) -> None:
    """Brings the team to `size` unchecked memories with their vectors indexed."""
    texts = Texts(random.randrange(2**32), users)
    while ground.count < size:
        count = min(BULK, size - ground.count)
        write(ground.viewer, statements(texts, count), tools)
        ground.count += count
    # The worker's tasks; where a worker already indexes this team, wait for it.
    embed_pending(tools=tools, seconds=math.inf)
    renew_outdated_statistics()
    extend_vector_graphs()
    while _unindexed(ground.viewer) > 2 * FRESH:
        time.sleep(0.5)
        extend_vector_graphs()


def _unindexed(viewer: Viewer) -> int:
    with scope_of(viewer):
        if not SearchGraph.objects.filter(team_id=viewer.team_id).exists():
            return 0
        outside = SearchEntry.objects.filter(team_id=viewer.team_id, graph_dimensions=0)
        return outside.filter(place=Place.FOUND).count()


def extraction() -> None:
    """Prints messages a second through the extractor alone, and through jobs that write."""
    tools, viewer, texts = default_tools(), new_team("writing"), Texts(random.randrange(2**32))
    jobs, sources = [], []
    with scope_of(viewer):
        for number in range(40):
            conversation, _ = open_conversation(
                team_id=viewer.team_id, agent="scribe", user=f"person-{number}"
            )
            talk = [
                NewMessage(role="assistant" if index % 2 else "user", content=texts.remark())
                for index in range(CONVERSATION)
            ]
            append_messages(conversation=conversation, messages=talk, now=timezone.now())
            source = load_range(conversation=conversation, first=1, last=CONVERSATION, zone=UTC)
            sources.append(source)
            job = queue_extraction(conversation=conversation)
            assert job is not None
            jobs.append(job.pk)
    find_candidates(source=sources[0], tools=tools)
    alone = spent_on(lambda: [find_candidates(source=each, tools=tools) for each in sources])
    whole = spent_on(
        lambda: [run_job(team_id=viewer.team_id, job_id=each, tools=tools) for each in jobs]
    )
    messages = len(jobs) * CONVERSATION
    print(
        f"messages/s extracted: {messages / alone.clock:,.0f} by {tools.extractor.name} alone,"
        f" {messages / whole.clock:,.0f} by jobs that write"
    )


def measures(clients: Sequence[int]) -> list[Measure]:
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


def rates_of(
    measure: Measure, *, ground: Ground, users: int, tools: Tools
) -> tuple[list[float], Counter[str]]:
    """Memories a second by clock and processor, pairs judged a memory, conflicts in a hundred.

    Returns them with the outcomes.
    """
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
        spent = spent_on(lambda: [each.result() for each in running])
    outcomes = sum((each.result() for each in running), Counter[str]())
    stored = sum(count for name, count in outcomes.items() if not name.startswith(LOST))
    ground.count += stored
    conflicts = 100 * (stored - outcomes[Outcome.CREATED.value]) / stored
    return [
        stored / spent.clock,
        stored / spent.processor,
        judge.asked / stored,
        conflicts,
    ], outcomes


def writes(*, sizes: Sequence[int], clients: Sequence[int], rounds: int, users: int) -> None:
    """Prints the rates at each size; a team holds it half way through a measure."""
    tools, grounds = default_tools(), dict[int, Ground]()
    heading = "".join(f"{size:>10,}" for size in sizes)
    print(f"{'memories/s written at':<36}{heading}{'cost ratio':>12}  outcomes at the largest")
    for measure in measures(clients):
        found: dict[int, list[list[float]]] = {size: [] for size in sizes}
        outcomes: Counter[str] = Counter()
        for _ in range(rounds):
            for size in sizes:
                begin = max(0, size - measure.batch * measure.calls * measure.clients // 2)
                ground = grounds.get(size)
                if ground is None or ground.count > begin * 1.05:
                    ground = grounds[size] = Ground(new_team("writing"))
                fill(ground=ground, size=begin, users=users, tools=tools)
                rates, told = rates_of(measure, ground=ground, users=users, tools=tools)
                found[size].append(rates)
                outcomes += told if size == sizes[-1] else Counter()
        told_outcomes = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
        for place, title in enumerate((measure.title, "  by processor time")):
            row = [median(rates[place] for rates in found[size]) for size in sizes]
            cells = "".join(f"{rate:>10,.0f}" for rate in row) + f"{row[0] / row[-1]:>12.2f}"
            print(f"{title:<36}{cells}  {'' if place else told_outcomes}", flush=True)
        checks = ("  pairs judged a memory", "  conflicts in 100 memories")
        for place, title in enumerate(checks if measure.check else (), start=2):
            row = [mean(rates[place] for rates in found[size]) for size in sizes]
            print(f"{title:<36}" + "".join(f"{each:>10.2f}" for each in row), flush=True)


def http(*, rounds: int) -> None:
    """Prints the rates of bulk writes over HTTP by one client and two, beside one in process."""
    tools, viewer, texts = default_tools(), new_team("writing"), Texts(random.randrange(2**32))
    with scope_of(viewer):
        open_conversation(team_id=viewer.team_id, agent="scribe", user="reader")
        headers = {"Authorization": f"Bearer {issue_key(team_id=viewer.team_id).token}"}
    ways: dict[str, list[Spent]] = {"in process": [], "over HTTP": [], "by two clients": []}
    with (
        own_server(workers=2) as port,
        ThreadPoolExecutor(2) as pool,
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}/v1/", headers=headers, timeout=60
        ) as client,
    ):

        def ask(method: str, path: str, body: object = None) -> int:
            answer = client.request(method, path, json=body).raise_for_status()
            return len(answer.content)

        def drawn() -> list[dict[str, Any]]:
            return [
                {name: asdict(each)[name] for name in _SENT} for each in statements(texts, BULK)
            ]

        def post(sent: object) -> int:
            return ask("POST", "memories", sent)

        for turn in range(rounds + 1):
            stated, sent, several = statements(texts, BULK), drawn(), [drawn() for _ in range(4)]
            inside = spent_on(lambda stated=stated: write(viewer, stated, tools))  # type: ignore[misc]
            outside = spent_on(lambda sent=sent: post(sent))  # type: ignore[misc]
            at_once = spent_on(lambda several=several: list(pool.map(post, several)))  # type: ignore[misc]
            if turn:  # The first one warms up.
                ways["in process"].append(inside)
                ways["over HTTP"].append(outside)
                ways["by two clients"].append(Spent(at_once.clock / 4, at_once.processor / 4))
        for title, spent in ways.items():
            by_clock = BULK / median(each.clock for each in spent)
            by_processor = BULK / median(each.processor for each in spent)
            print(f"{title}: {by_clock:,.0f} memories/s by clock, {by_processor:,.0f} by processor")
        pages = [spent_on(lambda: ask("GET", "memories?limit=50")).clock for _ in range(50)][10:]
        questions = [each.content for each in statements(texts, 10)]
        brief, full = (
            median(ask("POST", "retrieve", {"agent": "scribe", "query": each, **shape}) / 1000
                   for each in questions)
            for shape in ({}, {"return": "full"})
        )  # fmt: skip
        print(
            f"page of 50: {1000 * median(pages):.1f} ms; retrieve: {brief:.1f} KB, full {full:.1f}"
        )


def imports() -> None:
    """Prints the rates and the peak memory of imports of growing size."""
    least = None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "conversations.json"
        for messages in (100, 10_000, 100_000):
            texts = Texts(seed=11)
            with file.open("w") as out:
                for number in range(messages // CONVERSATION):
                    out.write("[" if number == 0 else ",\n")
                    json.dump(_conversation(texts, number), out)
                out.write("]")
            team = f"writing-{uuid4().hex[:8]}"
            told = run_command(["-c", _IMPORT, str(file), team], os.environ)
            checked, written, peak = map(float, told.split())
            least = peak if least is None else least
            print(
                f"import of {messages:,} messages: checked {messages / checked:,.0f}/s, written"
                f" {messages / written:,.0f}/s, peak {peak:.1f} MiB ({peak - least:+.1f})",
                flush=True,
            )


def _conversation(texts: Texts, number: int) -> dict[str, object]:
    """A conversation as ChatGPT exports it."""
    keys = [f"{number}-{turn}" for turn in range(CONVERSATION)]
    mapping = {
        key: {
            "id": key,
            "parent": keys[turn - 1] if turn else None,
            "children": keys[turn + 1 : turn + 2],
            "message": {
                "id": key,
                "author": {"role": ("user", "assistant")[turn % 2], "name": None, "metadata": {}},
                "create_time": 1_700_000_000 + number * 3600 + turn * 30,
                "content": {"content_type": "text", "parts": [texts.statement()]},
                "status": "finished_successfully",
                "metadata": {"model_slug": "gpt-4o", "parent_id": key},
                "recipient": "all",
            },
        }
        for turn, key in enumerate(keys)
    }
    return {
        "title": f"Talk {number}",
        "create_time": 1_700_000_000 + number * 3600,
        "mapping": mapping,
        "current_node": keys[-1],
        "conversation_id": f"talk-{number}",
    }


def main() -> None:
    """Reads the command line, measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="parts to measure")
    parser.add_argument("--full", action="store_true", help="100,000 memories as well")
    parser.add_argument("--rounds", type=int, default=3, help="of each measure; the median counts")
    parser.add_argument("--clients", default="1,4", help="threads that write at the same time")
    parser.add_argument("--users", type=int, default=0, help="people the memories are spread over")
    given = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "extraction": extraction,
        "writes": lambda: writes(
            sizes=SIZES if given.full else SIZES[:-1],
            clients=[int(each) for each in given.clients.split(",")],
            rounds=given.rounds,
            users=given.users,
        ),
        "http": lambda: http(rounds=given.rounds),
        "import": imports,
    }
    for name, part in parts.items():
        if not given.only or name in given.only:
            part()


if __name__ == "__main__":
    main()
