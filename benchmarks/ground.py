"""Throwaway teams with memories, and the time that work takes.

Nothing is ever removed, so the teams stay: benchmarks want a database of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from uuid import uuid4

import psutil  # type: ignore[import-untyped]
from django.db import connection, connections
from django_redis import get_redis_connection

from benchmarks.texts import Texts
from memory.domain.viewer import Viewer
from memory.services.write.explicit import StatedMemory
from teams.services.people import create_team
from teams.tenancy import team_scope

ACTOR = "benchmark"


def new_team(kind: str) -> Viewer:
    """Who asks as a new empty team."""
    slug = f"{kind}-{uuid4().hex[:12]}"
    return Viewer(team_id=create_team(slug=slug, name=slug, actor=ACTOR).pk, actor=ACTOR)


def scope_of(viewer: Viewer) -> AbstractContextManager[None]:
    """One transaction of the viewer's team."""
    return team_scope(team_ids=[viewer.team_id], actor=ACTOR)


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
        sums["PostgreSQL"] = _seconds(psutil.Process(backend).parent().children())
    return sums


def _seconds(processes: Iterable[psutil.Process]) -> float:
    """Of those that still run."""
    sums = 0.0
    for process in processes:
        with suppress(psutil.Error):
            times = process.cpu_times()
            sums += times.user + times.system
    return sums
