"""Samples into throwaway teams, and their questions asked, in process and through HTTP."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.utils import timezone

from benchmarks.locomo_data import Recall, Sample
from memory.clients.tools import Tools
from memory.domain.scoring import Weights
from memory.domain.viewer import Viewer
from memory.services.extracting.importing import (
    ImportMode,
    ImportSummary,
    ImportTarget,
    import_transcripts,
)
from memory.services.indexing.message_index import index_team
from memory.services.indexing.statistics import renew_statistics
from memory.services.reading.cascade import Depth
from memory.services.reading.ranking import Question
from memory.services.reading.recall import ScoredMemory
from memory.services.reading.retrieval import retrieve, search_levels
from memory.services.reading.scored_messages import ScoredMessage
from teams.models import Agent, EndUser
from teams.services.keys import issue_key
from teams.services.people import create_team
from teams.tenancy import team_scope

ACTOR = "benchmark:locomo"
AGENT, USER = "observer", "speakers"
TOKEN_BUDGET = 2000
WAYS_IN = {
    "verbatim": ImportMode.VERBATIM,
    "extracted": ImportMode.MESSAGES,
    "extracted+raw": ImportMode.MESSAGES,
    "extracted+weak": ImportMode.MESSAGES,
}
# Whether the messages themselves are searched; None where memories are weak, as by default.
INCLUDE_RAW = {
    "verbatim": False,
    "extracted": False,
    "extracted+raw": True,
    "extracted+weak": None,
}
_START_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Home:
    """The throwaway team that holds one sample."""

    viewer: Viewer
    summary: ImportSummary


@dataclass(slots=True)
class Latencies:
    """Milliseconds of single calls, by what was called."""

    calls: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Note how long the block took."""
        started = time.perf_counter()
        yield
        self.calls.setdefault(name, []).append(1000 * (time.perf_counter() - started))


def ingest(*, sample: Sample, mode: ImportMode, tools: Tools) -> Home:
    """Import the sample into a new team."""
    slug = f"locomo-{sample.name}-{mode.value}-{secrets.token_hex(4)}"
    team = create_team(slug=slug, name=slug, actor=ACTOR)
    summary = import_transcripts(
        target=ImportTarget(team_id=team.id, agent=AGENT, user=USER),
        transcripts=sample.transcripts,
        mode=mode,
        extract=True,
        tools=tools,
        actor=ACTOR,
        now=timezone.now(),
    )
    index_team(team_id=team.id, tools=tools)
    renew_statistics()  # as the command that imports does
    with team_scope(team_ids=[team.id], actor=ACTOR):
        viewer = Viewer(
            team_id=team.id,
            actor=ACTOR,
            agent_id=Agent.objects.get(team_id=team.id, slug=AGENT).pk,
            end_user_id=EndUser.objects.get(team_id=team.id, external_id=USER).pk,
        )
    return Home(viewer, summary)


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the questions of a sample in its team; `limit` is the results of a search.

    `include_raw` is that of `cascade.Depth`.
    """

    sample: Sample
    home: Home
    limit: int
    latencies: Latencies
    include_raw: bool | None = False

    def ask_in_process(self, *, recall: Recall, tools: Tools) -> None:
        """Search for every question, note what was found and how long search and retrieve took."""
        for number, question in enumerate(self.sample.questions):
            asked = Question(question.text)
            if number == 0:
                self._search(asked, tools)  # the first statement of a connection is slower
            with self.latencies.of("process search"):
                found = self._search(asked, tools)
            recall.add(question, [_turns(each) for each in found])
            with self.latencies.of("process retrieve"):
                retrieve(
                    viewer=self.home.viewer,
                    question=asked,
                    weights=Weights(),
                    token_budget=TOKEN_BUDGET,
                    limit=None,
                    include_cold=False,
                    include_raw=self.include_raw,
                    tools=tools,
                    now=timezone.now(),
                )

    def _search(self, question: Question, tools: Tools) -> list[ScoredMemory | ScoredMessage]:
        return search_levels(
            viewer=self.home.viewer,
            question=question,
            limit=self.limit,
            depth=Depth(include_cold=False, include_raw=self.include_raw),
            tools=tools,
            now=timezone.now(),
        ).results

    def ask_over_http(self, server: Server) -> None:
        """Every question through the API, timed until the whole answer is read."""
        team_id = self.home.viewer.team_id
        with team_scope(team_ids=[team_id], actor=ACTOR):
            token = issue_key(team_id=team_id).token
        server.reconnect()
        for question in self.sample.questions:
            query = {"query": question.text, "agent": AGENT, "user": USER}
            depth: dict[str, bool] = {"include_cold": False}
            if self.include_raw is not None:
                depth["include_raw"] = self.include_raw
            searched = {**query, "limit": self.limit, **depth}
            path = f"/v1/memories/search?{urlencode(searched)}"
            body = json.dumps({**query, "token_budget": TOKEN_BUDGET, **depth})
            with self.latencies.of("http search"):
                server.call("GET", path, token=token)
            with self.latencies.of("http retrieve"):
                server.call("POST", "/v1/retrieve", token=token, body=body)


def _turns(found: ScoredMemory | ScoredMessage) -> list[str]:
    """The turns that a result stands for."""
    if isinstance(found, ScoredMemory):
        return found.memory.source_external_ids
    return [found.external_id] if found.external_id else []


class Server:
    """One connection to the server, kept open as an agent would."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def reconnect(self) -> None:
        """Begin with a new connection; the server closes one that has been idle."""
        self._connection.close()

    def call(self, method: str, path: str, *, token: str = "", body: str | None = None) -> None:
        """One request; RuntimeError for anything but success."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._connection.request(method, path, body, headers if token else {})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")


@contextmanager
def own_server(
    *, workers: int = 1, threads: int = 8, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """A gunicorn on a free port, set up as `make run` does, for as long as it is needed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "-c", "config/gunicorn_conf.py"]
    command += ["-b", f"127.0.0.1:{port}", "-w", str(workers), "--threads", str(threads)]
    given = {"DATABASE_POOL_SIZE": "12", **(environment or {})}
    server = subprocess.Popen(command, env={**os.environ, **given})
    try:
        _wait_until_up(port, server)
        yield Server(port)
    finally:
        server.terminate()
        server.wait()


def _wait_until_up(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(_START_SECONDS * 10):
        if server.poll() is not None:
            raise RuntimeError(f"gunicorn ended with status {server.returncode}.")
        try:
            Server(port).call("GET", "/healthz")
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"The server did not answer within {_START_SECONDS} seconds.")
