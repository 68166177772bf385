"""How long does a read take, for small and large owners, beside plain exact search in PostgreSQL?

Run as ``python -m benchmarks.reading`` beside a running, migrated database, with the settings that
manage.py uses. It fills a database of its own with 126,000 memories, the shape measured for other
products: one team with ten users of 600 memories, one of 20,000 and 200 of 500, and a team of
100,000 without users (``--scale 0.1`` for a tenth of all). It prints milliseconds of `retrieve` and
`search` in process, where the time of `retrieve` goes, the same through HTTP with eight clients and
two processes, and of an exact scan of the same owner by the same connection; and how many of the
exactly nearest ten and fifty the vector search finds for teams of different sizes. Rows stay: use a
database that may be thrown away.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import django
import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection, connections  # noqa: E402
from django.utils import timezone  # noqa: E402
from pgvector import HalfVector  # noqa: E402

from benchmarks.locomo_runs import own_server  # noqa: E402
from benchmarks.reading_http import concurrent_calls  # noqa: E402
from benchmarks.texts import Texts  # noqa: E402
from memory.clients.tools import Tools, default_tools  # noqa: E402
from memory.domain.scoring import Weights  # noqa: E402
from memory.domain.viewer import Viewer  # noqa: E402
from memory.selectors.signal_statement import Shape  # noqa: E402
from memory.selectors.sketches import make_sketch  # noqa: E402
from memory.selectors.vectors import VectorSearch, forget_graphs  # noqa: E402
from memory.services.explicit import StatedMemory, remember  # noqa: E402
from memory.services.ranking import Question  # noqa: E402
from memory.services.retrieval import retrieve, search  # noqa: E402
from memory.services.vector_graphs import extend_vector_graphs  # noqa: E402
from teams.models import Agent, EndUser  # noqa: E402
from teams.services.keys import issue_key  # noqa: E402
from teams.services.people import create_team, ensure_agent  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402

ACTOR = "benchmark:reading"
AGENT = "reader"
BATCH = 1_000
_EXACT = """
SELECT memory_id FROM memory_searchentry
WHERE team_id = %s AND (end_user_id = %s OR end_user_id IS NULL AND %s::uuid IS NULL)
ORDER BY embedding <#> %s::halfvec LIMIT 10
"""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memories are read: a user of a team, or a whole team."""

    title: str
    team_id: UUID
    user: str | None = None

    def viewer(self) -> Viewer:
        """The agent that asks about them."""
        with team_scope(team_ids=[self.team_id], actor=ACTOR):
            user = self.user and EndUser.objects.get(team_id=self.team_id, external_id=self.user).pk
            agent = Agent.objects.get(team_id=self.team_id, slug=AGENT).pk
        return Viewer(self.team_id, ACTOR, agent_id=agent, end_user_id=user or None)


@dataclass(slots=True)
class Timings:
    """Milliseconds by what was measured."""

    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def measure(self, name: str, call: Callable[[], object]) -> None:
        """Call it and note how long it took."""
        started = time.perf_counter()
        call()
        self.values[name].append(1000 * (time.perf_counter() - started))

    def row(self, name: str) -> str:
        """Median and 95th percentile."""
        p50, p95 = np.percentile(self.values[name], [50, 95])
        return f"{p50:>9.1f}{p95:>9.1f}"


def new_team() -> UUID:
    """An empty team with the agent that reads."""
    slug = f"reading-{uuid4().hex[:10]}"
    team = create_team(slug=slug, name=slug, actor=ACTOR)
    with team_scope(team_ids=[team.id], actor=ACTOR):
        ensure_agent(team_id=team.id, slug=AGENT)
    return team.id


def fill(*, team_id: UUID, user: str | None, count: int, texts: Texts, tools: Tools) -> None:
    """Write so many unchecked memories about the user."""
    viewer = Viewer(team_id=team_id, actor=ACTOR)
    for begin in range(0, count, BATCH):
        stated = [
            StatedMemory(
                content=texts.statement(), importance=texts.importance(), user=user, check=False
            )
            for _ in range(min(BATCH, count - begin))
        ]
        remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())


def build(*, scale: float, tools: Tools) -> list[Owner]:
    """The teams that are read."""
    texts = Texts(random.randrange(2**32))
    shared, wide = new_team(), new_team()
    small, large, other = (max(1, round(scale * count)) for count in (600, 20_000, 500))
    for number in range(10):
        fill(team_id=shared, user=f"small-{number}", count=small, texts=texts, tools=tools)
    fill(team_id=shared, user="large", count=large, texts=texts, tools=tools)
    for number in range(200):
        fill(team_id=shared, user=f"other-{number}", count=other, texts=texts, tools=tools)
    fill(team_id=wide, user=None, count=max(1, round(scale * 100_000)), texts=texts, tools=tools)
    return [
        Owner(f"user of {small:,}", shared, "small-3"),
        Owner(f"user of {large:,}", shared, "large"),
        Owner(f"team of {round(scale * 100_000):,}", wide),
    ]


def read_times(*, owner: Owner, questions: int, tools: Tools) -> tuple[Timings, Timings]:
    """Times of every way to ask the owner's memories, and of the steps of `retrieve`."""
    viewer, texts = owner.viewer(), Texts(random.randrange(2**32))
    asked = [texts.statement().rstrip(".") + "?" for _ in range(questions)]
    vectors = tools.embedder.embed(asked)
    times, steps = Timings(), Timings()

    def retrieved(text: str) -> None:
        found = retrieve(
            viewer=viewer,
            question=Question(text),
            weights=Weights(),
            token_budget=2000,
            limit=None,
            include_cold=False,
            tools=tools,
            now=timezone.now(),
        )
        for name, value in found.stats.steps_ms.items():
            steps.values[name].append(value)

    def searched(text: str) -> None:
        search(viewer=viewer, question=Question(text), limit=10, tools=tools, now=timezone.now())

    def exact(number: int) -> None:
        user = viewer.end_user_id
        vector = HalfVector(vectors[number]).to_text()
        with team_scope(team_ids=[owner.team_id], actor=ACTOR), connection.cursor() as cursor:
            cursor.execute(_EXACT, [owner.team_id, user, user, vector])
            cursor.fetchall()

    for text in asked[:5]:
        retrieved(text)  # a connection's first statements are planned
        searched(text)
    steps.values.clear()
    for number, text in enumerate(asked):
        times.measure("retrieve", lambda text=text: retrieved(text))  # type: ignore[misc]
        times.measure("retrieve again", lambda text=text: retrieved(text))  # type: ignore[misc]
        times.measure("search", lambda text=text: searched(text))  # type: ignore[misc]
        times.measure("exact scan", lambda number=number: exact(number))  # type: ignore[misc]
    return times, steps


def graph_recall(*, owner: Owner, questions: int, tools: Tools) -> tuple[float, float]:
    """The share of the exactly nearest 10 and 50 that the vector search finds."""
    viewer, texts = owner.viewer(), Texts(random.randrange(2**32))
    vectors = tools.embedder.embed([texts.statement() for _ in range(questions)])
    shape = Shape(of_agent=True, of_user=viewer.end_user_id is not None, of_project=False)
    given = {"agent": viewer.agent_id, "end_user": viewer.end_user_id}
    shares = []
    with team_scope(team_ids=[owner.team_id], actor=ACTOR):
        for vector in vectors:
            found = [
                [
                    pk
                    for pk, _ in VectorSearch(
                        team_id=owner.team_id,
                        condition=shape.condition,
                        parameters={name: pk for name, pk in given.items() if pk},
                        vector=vector,
                        embedding_model=tools.embedder.name,
                        limit=50,
                        is_exact=is_exact,
                    ).fetch()
                ]
                for is_exact in (True, False)
            ]
            shares.append(
                [
                    len(set(found[0][:k]) & set(found[1][:k])) / max(1, len(found[0][:k]))
                    for k in (10, 50)
                ]
            )
    ten, fifty = np.mean(shares, axis=0)
    return float(ten), float(fifty)


def run(*, scale: float, questions: int, clients: int, tools: Tools) -> None:
    """Fill, measure and print everything."""
    started = time.perf_counter()
    owners = build(scale=scale, tools=tools)
    filled = time.perf_counter() - started
    moved = extend_vector_graphs(fresh=0)
    forget_graphs()
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE")  # as autovacuum does within minutes
    print(f"filled in {filled:.0f} s; {moved:,} vectors moved into the approximate index")
    for team_id in {owner.team_id for owner in owners}:
        # As a process does aside once somebody asks.
        started = time.perf_counter()
        made = make_sketch(team_id=team_id, embedding_model=tools.embedder.name)
        count = len(made.sketch.ids) if made is not None else 0
        print(f"sketch of {count:,} memories in {time.perf_counter() - started:.1f} s")
    # As gunicorn_conf.py does: what was loaded is nothing to look through.
    gc.collect()
    gc.freeze()
    print()
    print(f"{'ms, p50 and p95':<22}{'retrieve':>18}{'again':>18}{'search':>18}{'exact scan':>18}")
    for owner in owners:
        times, steps = read_times(owner=owner, questions=questions, tools=tools)
        ways = ("retrieve", "retrieve again", "search", "exact scan")
        ratio = np.median(times.values["retrieve"]) / np.median(times.values["exact scan"])
        print(
            f"{owner.title:<22}"
            + "".join(times.row(way) for way in ways)
            + f"   retrieve/exact {ratio:.1f}; "
            + ", ".join(f"{name} {steps.row(name).split()[0]}" for name in steps.values),
            flush=True,
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nthis process held at most {memory:.0f} MB")
    print("\nof the exactly nearest the vector search finds, % of 10 and of 50")
    for owner in owners:
        ten, fifty = graph_recall(owner=owner, questions=questions, tools=tools)
        print(f"{owner.title:<22}{100 * ten:>9.1f}{100 * fifty:>9.1f}")
    print(f"\nHTTP, {clients} clients, ms: p50 and p95 of retrieve")
    with own_server(workers=2) as server:
        for owner in owners:
            with team_scope(team_ids=[owner.team_id], actor=ACTOR):
                token = issue_key(team_id=owner.team_id).token
            texts = Texts(random.randrange(2**32))
            bodies = [
                {"query": texts.statement(), "agent": AGENT, "token_budget": 2000}
                | ({"user": owner.user} if owner.user else {})
                for _ in range(questions)
            ]
            took = concurrent_calls(port=server.port, token=token, bodies=bodies, clients=clients)
            p50, p95 = np.percentile(took, [50, 95])
            print(f"{owner.title:<22}{p50:>9.1f}{p95:>9.1f}", flush=True)


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of memories")
    parser.add_argument("--questions", type=int, default=100, help="asked of each owner")
    parser.add_argument("--clients", type=int, default=8, help="that ask through HTTP at once")
    given = parser.parse_args()
    run(
        scale=given.scale,
        questions=given.questions,
        clients=given.clients,
        tools=default_tools(),
    )


if __name__ == "__main__":
    main()
