"""Measures how long a read takes, for small and large owners, and if it finds the nearest.

Run as ``python -m benchmarks.reading`` beside a running, migrated database, with the settings that
manage.py uses. It fills it with 261,000 memories: a team with users of 1,000, 20,000 and 500, and
teams of 1,000, 20,000 and 200,000 without users (``--scale 0.1`` for a tenth of all). With ``--keep
NAME`` it fills only what no run of that name has filled before.

It prints milliseconds of `retrieve` and of a search in process, those of its SQL and of embedding
the question, the share of the exactly nearest ten and fifty that a read finds, and what one client
and several of `POST /v1/retrieve` wait for, asking something new and asking again. The ratio is of
one client's wait to SQL and embedding together. ``--others 1000`` asks mem0 and LangGraph's store,
which search exactly, about the same memories of teams up to that size, in process and with the same
encoder. Rows stay: use a database that may be thrown away.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import selectors
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from django.db import connection
from django.utils import timezone

from benchmarks.ground import ACTOR, analyse, computed, statements
from benchmarks.instance import own_server
from benchmarks.report import langgraph, mem0
from benchmarks.texts import Texts
from memory.domain.audience import Viewer
from memory.domain.scoring import Weights
from memory.models import Memory
from memory.reading.packing import Packing
from memory.reading.questions import Question, Read
from memory.reading.retrieval import prompt, search
from memory.selectors.filters import viewer_parameters
from memory.selectors.search.signal_rows import Sought
from memory.selectors.search.signals import Shape, find_candidates
from memory.selectors.search.vectors import VectorSearch, forget_graphs
from memory.understanding.tools import Tools, default_tools
from memory.writing.indexing.vector_graphs import extend_vector_graphs
from memory.writing.indexing.vectors import embed_pending
from memory.writing.stating import remember
from teams.models import Agent, EndUser
from teams.prepared import fetch_planned
from teams.services.keys import issue_key
from teams.services.people import ensure_agent, ensure_team
from teams.tenancy import team_scope

AGENT = "reader"
BATCH = 1_000
# The people of one team, of whom the first of each size is read, and teams without users.
PEOPLE = {1_000: 10, 20_000: 1, 500: 20}
READ_PEOPLE = (1_000, 20_000)
TEAMS = (1_000, 20_000, 200_000)
DEPTHS = (10, 50)
# The first questions of a connection wait for its plans.
WARM_UP = 10
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_END = b"\r\n\r\n"
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of the memories that are read: a user of a team, or a whole team."""

    title: str
    count: int
    team_id: UUID
    user: str | None = None

    def viewer(self) -> Viewer:
        """The agent that asks about them."""
        with team_scope(team_ids=[self.team_id], actor=ACTOR):
            user = self.user and EndUser.objects.get(team_id=self.team_id, external_id=self.user).pk
            agent = Agent.objects.get(team_id=self.team_id, slug=AGENT).pk
        return Viewer(self.team_id, ACTOR, agent_id=agent, end_user_id=user or None)


@dataclass(frozen=True, slots=True)
class Part:
    """So many memories of one owner; `title` of one that is read."""

    team: str
    count: int
    user: str | None = None
    title: str = ""


def parts(scale: float) -> Iterator[Part]:
    """Every owner there is, the smallest teams first; `scale` is of the number of memories."""
    for size, people in PEOPLE.items():
        count = max(1, round(scale * size))
        for number in range(people):
            is_read = number == 0 and size in READ_PEOPLE
            yield Part("people", count, f"{size}-{number}", f"user of {count:,}" * is_read)
    for size in TEAMS:
        count = max(1, round(scale * size))
        yield Part(f"team-{size}", count, title=f"team of {count:,}")


def filled(*, name: str, scale: float, tools: Tools) -> list[Owner]:
    """Write what no run of that name has written, and return the owners that are read."""
    texts, owners = Texts(random.randrange(2**32)), []
    for part in parts(scale):
        team_id = ensure_team(slug=f"{name}-{part.team}", actor=ACTOR)
        with team_scope(team_ids=[team_id], actor=ACTOR):
            ensure_agent(team_id=team_id, slug=AGENT)
            stored = Memory.objects.filter(team_id=team_id, end_user__external_id=part.user).count()
        for begin in range(stored, part.count, BATCH):
            stated = statements(texts, min(BATCH, part.count - begin), user=part.user)
            viewer = Viewer(team_id=team_id, actor=ACTOR)
            remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())
        if part.title:
            owners.append(Owner(part.title, part.count, team_id, part.user))
    return owners


def questions(count: int) -> list[str]:
    """So many questions about what such memories say."""
    texts = Texts(random.randrange(2**32))
    return [texts.statement().rstrip(".") + "?" for _ in range(count)]


def timed(call: Callable[[str], object], asked: Sequence[str]) -> str:
    """Median and 95th percentile of milliseconds."""
    took = []
    for text in asked:
        started = time.perf_counter()
        call(text)
        took.append(1000 * (time.perf_counter() - started))
    p50, p95 = np.percentile(took[WARM_UP:], [50, 95])
    return f"{p50:>8.1f}{p95:>8.1f}"


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of the SQL of a median `retrieve`, and of embedding its question."""

    sql: float
    embedding: float

    def ratio(self, took: float) -> float:
        """How many times as long something took."""
        return took / (self.sql + self.embedding)


def in_process(owner: Owner, asked: Sequence[str], tools: Tools) -> tuple[str, Cost]:
    """Returns the p50 and p95 milliseconds of `retrieve` as a prompt, and as a search; the cost."""
    viewer = owner.viewer()
    packing = Packing(weights=Weights(), token_budget=2000)
    spent: list[float] = []

    def read(text: str, limit: int | None = None) -> Read:
        question = Question(text)
        return Read(viewer=viewer, question=question, limit=limit, tools=tools, now=timezone.now())

    def timing(execute: Callable[..., Any], *given: Any) -> Any:  # Any: as Django has it
        started = time.perf_counter()
        try:
            return execute(*given)
        finally:
            spent[-1] += 1000 * (time.perf_counter() - started)

    def told(text: str) -> None:
        spent.append(0.0)
        with connection.execute_wrapper(timing):
            prompt(read(text), packing=packing)

    figures = timed(told, asked) + timed(lambda text: search(read(text, limit=10)), asked)
    embedding = timed(lambda text: tools.embedder.embed([f"{text} And why?"]), asked)
    return figures, Cost(float(np.median(spent[WARM_UP:])), float(embedding.split()[0]))


def others(owner: Owner, asked: Sequence[str]) -> Iterator[str]:
    """Yields the p50 and p95 milliseconds of a search by mem0 and by LangGraph's store."""
    with team_scope(team_ids=[owner.team_id], actor=ACTOR):
        rows = Memory.objects.filter(team_id=owner.team_id, end_user__external_id=owner.user)
        texts = list(rows.values_list("content", flat=True))
    for name, make in (("mem0", mem0), ("LangGraph", langgraph)):
        yield f"{name} {timed(make(texts), asked)}"


def recall(owner: Owner, asked: Sequence[str], tools: Tools) -> str:
    """The share in percent of the exactly nearest 10 and 50 that a read finds."""
    viewer = owner.viewer()
    shape, shares = Shape.of(viewer), []
    with team_scope(team_ids=[owner.team_id], actor=ACTOR):
        for vector in tools.embedder.embed(asked):
            search = VectorSearch(
                team_id=owner.team_id,
                condition=shape.condition,
                parameters=viewer_parameters(viewer),
                vector=vector,
                embedding_model=tools.embedder.name,
                limit=max(DEPTHS),
                is_exact=True,
            )
            statement = f"{search.statement()} ORDER BY cosine DESC LIMIT %(closest)s"
            nearest = fetch_planned(statement, search.all_parameters())
            sought = Sought([], vector, tools.embedder.name)
            found = {row.memory_id for row in find_candidates(viewer=viewer, sought=sought).rows}
            shares.append([np.mean([pk in found for pk, _ in nearest[:depth]]) for depth in DEPTHS])
    return "".join(f"{100 * share:>8.1f}" for share in np.mean(shares, axis=0))


@dataclass(frozen=True, slots=True)
class Load:
    """Milliseconds of each request, and those that each kind of process computed for one."""

    took: list[float]
    computed: Mapping[str, float]


@dataclass(slots=True)
class _Client:
    """One connection, and the answer that is on its way."""

    line: socket.socket
    began: float = 0.0
    came: bytearray = field(default_factory=bytearray)
    expected: int = 0

    def ask(self, request: bytes) -> None:
        """Send a request."""
        self.came.clear()
        self.expected = 0
        self.began = time.perf_counter()
        self.line.sendall(request)

    def has_read_all(self) -> bool:
        """Reads a piece; returns whether the answer is complete. RuntimeError for a refusal."""
        piece = self.line.recv(1 << 18)
        self.came += piece
        if not self.expected and _END in self.came:
            head, _, _ = self.came.partition(_END)
            length = _LENGTH.search(head + b"\r\n")
            if b" 200 " not in head.splitlines()[0] or length is None:
                raise RuntimeError(bytes(self.came[:300]).decode(errors="replace"))
            self.expected = len(head) + len(_END) + int(length[1])
        if not piece:
            raise RuntimeError("The server closed a connection within an answer.")
        return 0 < self.expected <= len(self.came)


def concurrent_calls(
    *, port: int, token: str, bodies: Sequence[Mapping[str, object]], clients: int
) -> Load:
    """`POST /v1/retrieve` with each of the bodies, by so many clients that never pause.

    One thread plays all clients: several would wait for each other's interpreter, and take of the
    server's cores besides.
    """
    left = [_request(token, body) for body in reversed(bodies)]
    took: list[float] = []
    with ExitStack() as lines, selectors.DefaultSelector() as waiting:
        before = computed()
        for _ in range(min(clients, len(left))):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", port), _SECONDS))
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = _Client(line)
            waiting.register(line, selectors.EVENT_READ, client)
            client.ask(left.pop())
        while len(took) < len(bodies):
            ready = waiting.select(_SECONDS)
            if not ready:
                raise RuntimeError(f"The server did not answer within {_SECONDS:.0f} seconds.")
            for key, _ in ready:
                client = key.data
                if client.has_read_all():
                    took.append(1000 * (time.perf_counter() - client.began))
                    if left:
                        client.ask(left.pop())
        after = computed()
    return Load(took, {kind: 1000 * (after[kind] - before[kind]) / len(took) for kind in after})


def _request(token: str, body: Mapping[str, object]) -> bytes:
    content = json.dumps(body).encode()
    head = (
        "POST /v1/retrieve HTTP/1.1",
        "Host: 127.0.0.1",
        "Accept-Encoding: identity",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
    )
    return "\r\n".join(head).encode() + _END + content


def over_http(costs: Mapping[Owner, Cost], *, count: int, clients: int) -> None:
    """Print what clients wait for that never pause, and what the processors spend on a request."""
    print(f"\nHTTP, clients: {clients}, ms: new p50, p95, ratio; again p50, p95; processors of one")
    with own_server(workers=2) as port:
        for owner, cost in costs.items():
            with team_scope(team_ids=[owner.team_id], actor=ACTOR):
                token = issue_key(team_id=owner.team_id).token
            bodies = [
                {"query": text, "agent": AGENT, "token_budget": 2000}
                | ({"user": owner.user} if owner.user else {})
                for text in questions(count + 20 * clients)
            ]
            first, rest = bodies[count:], bodies[:count]
            concurrent_calls(port=port, token=token, bodies=first, clients=clients)
            new = concurrent_calls(port=port, token=token, bodies=rest, clients=clients)
            again = concurrent_calls(port=port, token=token, bodies=rest, clients=clients)
            p50, p95 = np.percentile(new.took, [50, 95])
            figures = [p50, p95, cost.ratio(p50), *np.percentile(again.took, [50, 95])]
            spent = ", ".join(f"{kind} {each:.1f}" for kind, each in new.computed.items())
            print(f"{owner.title:<18}" + "".join(f"{each:>8.1f}" for each in figures), spent)


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="of the memories of each owner")
    parser.add_argument("--keep", metavar="NAME", help="fill it once, and use it again")
    parser.add_argument("--questions", type=int, default=100, help="asked of each owner")
    parser.add_argument("--clients", type=int, default=8, help="that ask through HTTP at once")
    parser.add_argument("--others", type=int, default=0, help="largest team of the other stores")
    given = parser.parse_args()
    tools = default_tools()
    name = given.keep or f"reading-{uuid4().hex[:10]}"
    owners = filled(name=name, scale=given.scale, tools=tools)
    embed_pending(tools=tools, seconds=math.inf)
    extend_vector_graphs(fresh=0)
    forget_graphs()
    analyse()
    print(
        "ms: retrieve p50, p95; search p50, p95; SQL, embedding; % found of the nearest 10 and 50"
    )
    costs: dict[Owner, Cost] = {}
    for owner in owners:
        asked = questions(given.questions + WARM_UP)
        figures, cost = in_process(owner, asked, tools)
        costs[owner] = cost
        figures += f"{cost.sql:>8.1f}{cost.embedding:>8.1f}" + recall(owner, asked[:50], tools)
        print(f"{owner.title:<18}{figures}", flush=True)
    for clients in (1, given.clients):
        over_http(costs, count=4 * given.questions, clients=clients)
    for owner in owners:
        if owner.count <= given.others:
            print(owner.title, *others(owner, questions(given.questions)), flush=True)


if __name__ == "__main__":
    main()
