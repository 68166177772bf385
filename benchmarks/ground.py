"""Throwaway teams with memories, and the time that work takes.

Nothing is ever removed, so the teams stay: benchmarks want a database of their own.
"""

from __future__ import annotations

import calendar
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import psutil  # type: ignore[import-untyped]
from django.db import connection, connections
from django.test import Client as TestClient
from django.utils import timezone
from django_redis import get_redis_connection

from benchmarks.texts import Texts
from memory.domain.audience import Viewer
from memory.domain.text.calendar import WEEKDAYS
from memory.domain.text.words import STOP_WORDS
from memory.models import Job
from memory.satellites.episodes.making import make_episode, queue_episodes
from memory.understanding.tools import Tools
from memory.writing.jobs import due_jobs, taken
from memory.writing.pipeline import run_job
from memory.writing.stating import StatedMemory
from teams.services.keys import issue_key
from teams.services.people import create_team
from teams.tenancy import team_scope

ACTOR = "benchmark"
_MONTHS: Final = "|".join(calendar.month_name[1:])
_DAYS: Final = r"\d{1,2}(?: to \d{1,2})?"
# What a reader of "on Friday" or "tonight" may resolve.
_RESOLVED: Final = re.compile(
    rf"\b(?:{_DAYS} (?:{_MONTHS})|(?:{_MONTHS}) {_DAYS}|{_MONTHS}|{'|'.join(WEEKDAYS)}"
    r"|morning|evening|night|20\d\d)\b",
    re.IGNORECASE,
)
# Somebody's name, and how a text tells in the third person what was said in the first.
_TOLD: Final = frozenset(["user's", "user", "goes", "team", "asked", "answer", "wants", "s"])
_WORD: Final = re.compile(r"\w+(?:[.,:'’]\w+)*")


def new_team(kind: str) -> Viewer:
    """Returns the viewer of a new empty team."""
    slug = f"{kind}-{uuid4().hex[:12]}"
    return Viewer(team_id=create_team(slug=slug, name=slug, actor=ACTOR).pk, actor=ACTOR)


def scope_of(viewer: Viewer) -> AbstractContextManager[None]:
    """One transaction of the viewer's team."""
    return team_scope(team_ids=[viewer.team_id], actor=ACTOR)


class Client:
    """A caller of the HTTP API in this process, with a key of its team."""

    def __init__(self, viewer: Viewer) -> None:
        with scope_of(viewer):
            token = issue_key(team_id=viewer.team_id).token
        self._headers = {"Authorization": f"Bearer {token}", "Host": "localhost"}
        self._client = TestClient(raise_request_exception=True)

    def post(self, path: str, **body: object) -> dict[str, Any]:  # Any: JSON
        """The answer's body; RuntimeError for a refusal."""
        answer = self._client.post(
            f"/v1/{path}", body, content_type="application/json", headers=self._headers
        )
        if answer.status_code >= 400:
            raise RuntimeError(f"POST /v1/{path}: {answer.status_code} {answer.content.decode()}")
        found: dict[str, Any] = answer.json()
        return found


def post_talk(client: Client, row: Mapping[str, Any]) -> str:  # Any: JSON
    """Post a conversation of the labelled data, its messages a minute apart; the id it gets."""
    names = {"agent": row["agent"], "user": row["user"], "thread_id": row["id"]}
    conversation: str = client.post("conversations", **names)["id"]
    began = datetime.fromisoformat(row["started_at"])
    for number, message in enumerate(row["messages"]):
        said = {**message, "created_at": (began + timedelta(minutes=number)).isoformat()}
        client.post(f"conversations/{conversation}/messages", messages=[said])
    return conversation


def run_waiting(*, viewer: Viewer, tools: Tools) -> None:
    """Run the jobs that wait, as workers would."""
    while True:
        jobs = due_jobs(team_id=viewer.team_id, now=timezone.now())
        if not jobs:
            return
        for job in jobs:
            run_job(team_id=viewer.team_id, job_id=job.pk, tools=tools)


def make_episodes(*, viewer: Viewer, tools: Tools) -> int:
    """Tell all talk of the team as episodes, as workers do once it is at rest; returns how many."""
    now, made = timezone.now() + timedelta(days=30), 0
    while queue_episodes(team_id=viewer.team_id, now=now):
        while jobs := due_jobs(team_id=viewer.team_id, now=now, kind=Job.Kind.EPISODE):
            for job in jobs:
                with taken(job=job, clock=lambda: now) as run:
                    if run is not None:
                        made += make_episode(run, tools=tools, now=now) is not None
    return made


def unsaid_words(text: str, said: Iterable[str]) -> list[str]:
    """The words and values of a text that nobody said in any form.

    But for resolved dates and the grammar of the third person; `said` holds the names as well.
    """
    known = {each for line in said for each in _beginnings(line)}
    own = _beginnings(_RESOLVED.sub(" ", text))
    return [word for each, word in own.items() if each not in known and word not in _TOLD]


def _beginnings(text: str) -> dict[str, str]:
    """The content words of a text by their first letters."""
    plain = text.replace("’", "'").lower().replace("n't", "")
    words = (word.removesuffix("'s") for word in _WORD.findall(plain))
    return {word[:5]: word for word in words if word not in STOP_WORDS}


def statements(
    texts: Texts, count: int, *, check: bool = False, user: str | None = None
) -> list[StatedMemory]:
    """Facts to be written, about `user` or whomever the texts choose."""
    return [
        StatedMemory(
            content=texts.statement(),
            importance=texts.importance(),
            user=user or texts.user(),
            check=check,
        )
        for _ in range(count)
    ]


def analyse(*tables: str) -> None:
    """Vacuum and analyse the tables, or all, as autovacuum does within minutes."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {', '.join(tables)}")


def times_of(act: Callable[[], object], *, times: int) -> list[float]:
    """The seconds that each of so many runs of an act took."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return taken


def computed() -> dict[str, float]:
    """Seconds of processor so far: of this process, its servers, Redis and the database.

    What others do at the same time lengthens the wall clock much and these little. A database of
    another machine is left out.
    """
    own = psutil.Process()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    redis = get_redis_connection("default").info("cpu")
    sums = {
        "client": _seconds([own]),
        "web": _seconds(own.children(recursive=True)),
        "Redis": float(redis["used_cpu_user"] + redis["used_cpu_sys"]),
    }
    if not connection.settings_dict["HOST"] or connection.settings_dict["HOST"].startswith("/"):
        server = psutil.Process(backend).parent()
        ended = server.cpu_times()
        sums["PostgreSQL"] = (
            _seconds(server.children()) + ended.children_user + ended.children_system
        )
    return sums


def _seconds(processes: Iterable[psutil.Process]) -> float:
    """Processor time of the processes that still run."""
    sums = 0.0
    for process in processes:
        with suppress(psutil.Error):
            times = process.cpu_times()
            sums += times.user + times.system
    return sums
