"""Measures how long the admin's pages take where a team has 100,000 memories.

Run as ``python -m benchmarks.admin_pages`` beside a running, migrated database, with the settings
that manage.py uses. It fills a team with that many memories (``--memories``), their log, searches,
conversations, disputes, requests and figures, and asks as the team's admin, in process, for every
page. With ``--keep NAME`` it fills only what no run of that name has filled before; ``--only TEXT``
asks for the pages whose names hold the text.

It prints milliseconds (median and worst of five), the processor time of a request here and in
PostgreSQL, statements, and kilobytes as they are and compressed. Over 300 ms is marked: SLOW by
processor time, late where only the clock says so, as it does while others use the machine. Rows
stay: use a database that may be thrown away.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import os
import time
from dataclasses import dataclass
from statistics import median
from typing import Any, Final
from uuid import uuid4

import psutil  # type: ignore[import-untyped]
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django_redis import get_redis_connection

from benchmarks.admin_ground import AdminGround
from benchmarks.admin_page_list import Page, pages_of
from benchmarks.ground import ACTOR, analyse
from memory.models import SearchEntry
from memory.models.search import Place
from memory.selectors.search.vectors import forget_graphs
from memory.understanding.tools import default_tools
from memory.writing.indexing.vector_graphs import extend_vector_graphs
from teams.models import StaffUser
from teams.services.people import ensure_team
from teams.tenancy import team_scope

LIMIT_MS: Final = 300
_RUNS = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """The cost of a page: milliseconds of each run, of the processors, statements and bytes."""

    took: list[float]
    here: float
    database: float
    statements: int
    body: bytes

    def line(self, name: str) -> str:
        """It as a row of the table."""
        usual = median(self.took)
        mark = "  late" if usual > LIMIT_MS else ""
        if self.here + self.database > LIMIT_MS:
            mark = "  SLOW"
        return (
            f"{name:<44}{usual:>7.0f}{max(self.took):>7.0f}{self.here:>7.0f}{self.database:>5.0f}"
            f"{self.statements:>4}{len(self.body) / 1e3:>8.0f}"
            f"{len(gzip.compress(self.body)) / 1e3:>6.1f}{mark}"
        )


def measured(page: Page, client: Client) -> Measured:
    """Ask for the page once to warm up, once to count its statements, and then in earnest."""
    if not page.is_cold:
        _answer(page, client)
    with CaptureQueriesContext(connection) as counted:
        body = _answer(page, client)
        statements = len(counted)
    took, began, database = [], time.process_time(), _backend_seconds()
    for _ in range(_RUNS):
        if page.is_cold:
            _forget_figures()
        start = time.perf_counter()
        _answer(page, client)
        took.append(1000 * (time.perf_counter() - start))
    return Measured(
        took,
        1000 * (time.process_time() - began) / _RUNS,
        1000 * (_backend_seconds() - database) / _RUNS,
        statements,
        body,
    )


def _answer(page: Page, client: Client) -> bytes:
    """The page's body; RuntimeError for a refusal."""
    answer: Any = (  # Any: a response of Django's test client
        client.post(page.url, page.form) if page.form else client.get(page.url, follow=True)
    )
    if answer.status_code != 200:
        raise RuntimeError(f"{page.url}: {answer.status_code}")
    body: bytes = answer.content
    return body


def _forget_figures() -> None:
    redis = get_redis_connection("default")
    for key in redis.scan_iter("*:figures:*"):
        redis.delete(key)


def _backend_seconds() -> float:
    """Seconds of processor of this connection's process, where PostgreSQL is on this machine."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    try:
        times = psutil.Process(backend).cpu_times()
    except psutil.Error:
        return float("nan")
    return float(times.user + times.system)


def ground_of(*, name: str, memories: int) -> AdminGround:
    """The team of that name, filled where it is new, and its login."""
    team_id = ensure_team(slug=name, actor=ACTOR)
    login, is_new = StaffUser.objects.get_or_create(username=name, is_staff=True)
    ground = AdminGround(team_id, login)
    if is_new:
        tools = default_tools()
        began = time.monotonic()
        ground.fill(memories=memories, tools=tools)
        ground.tell_story(tools=tools)
        _index(ground)
        analyse()
        print(f"Filled in {time.monotonic() - began:.0f} s.")
    return ground


def _index(ground: AdminGround) -> None:
    """Move the team's vectors into the approximate index, unless a worker is at it: then wait."""
    outside = SearchEntry.objects.filter(place=Place.FOUND, graph_dimensions=0)
    while True:
        extend_vector_graphs(fresh=0)
        with team_scope(team_ids=[ground.team_id], actor=ACTOR):
            if outside.count() < settings.EXACT_SEARCH_LIMIT:
                break
        time.sleep(1)
    forget_graphs()


def main() -> None:
    """Read the command line, fill, ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--keep", metavar="NAME", help="fill it once, and use it again")
    parser.add_argument("--only", default="", help="of the pages' names")
    given = parser.parse_args()
    ground = ground_of(name=given.keep or f"pages-{uuid4().hex[:10]}", memories=given.memories)
    # What was filled is many objects, and a server's garbage collector has few to look at.
    gc.collect()
    gc.freeze()
    with connection.cursor() as cursor:
        # The time of workers beside the connection's process would be seen by nobody.
        cursor.execute("SET max_parallel_workers_per_gather = 0")
    client = Client(headers={"host": "localhost"})
    client.force_login(ground.login)
    with team_scope(team_ids=[ground.team_id], actor=ACTOR):
        pages = [page for page in pages_of() if given.only in page.name]
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'ms':<44} median  worst   here   db   n      KB  gzip")
    for page in pages:
        print(measured(page, client).line(page.name), flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
