"""Liveness, readiness, the heartbeat of the workers, `/metrics`, and the log of requests.

Each web process counts its requests in a file of its own; whichever process is asked adds up the
files of all (config/web_server.py names their folder). Jobs come from the database, written
memories and what extraction took from Redis, so that workers and other machines are in the figures.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django_redis import get_redis_connection
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from audit.services.verification import log_is_intact, oldest_unsealed_seconds
from config.healthcheck import allowed_name
from memory.reading.snapshots import READS
from memory.satellite import satellites
from memory.selectors.contradictions import count_open_contradictions
from memory.selectors.conversations import jobs_by_state, oldest_wait
from memory.writing.counters import work_counts, written_counts
from memory.writing.indexing.vectors import pending_counts
from routing.clients.quick_redis import QuickRedis
from routing.services.cost_guard import installation_spend
from teams.services.keys import Principal
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

from .backup_times import last_verified_backup
from .logs import OF_REQUESTS, REQUEST_LOG
from .problems import RETRY_AFTER_SECONDS, problem

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
# A proxy on this machine sets one of these when it forwards somebody else's request.
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)

# Asked every few seconds by whoever watches the server.
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})

_requests = logging.getLogger(REQUEST_LOG)

AT_WORK = f"{settings.REDIS_PREFIX}:at-work"
# Beat sends a task every few seconds, so a minute without any means that no worker runs.
_BETWEEN_TASKS_SECONDS = 60
# No request waits for the key, and losing one would report a working worker as away.
_PATIENCE_SECONDS = 2.0

REQUESTS = Counter(
    "palimpsest_http_requests",
    "Requests answered.",
    ["route", "method", "status"],
    registry=None,
)
LATENCY = Histogram(
    "palimpsest_http_request_seconds",
    "Seconds until the answer began.",
    ["route", "method"],
    buckets=_SECONDS,
    registry=None,
)
WAITS = Counter(
    "palimpsest_database_waits",
    "Uses of the database that waited for a connection of their process' pool.",
    registry=None,
)
WAIT_SECONDS = Counter(
    "palimpsest_database_wait_seconds", "Seconds that they waited, in all.", registry=None
)
WAIT_FAILURES = Counter(
    "palimpsest_database_wait_failures",
    "Uses of the database that got no connection in time.",
    registry=None,
)
_OF_PROCESSES = (REQUESTS, LATENCY, READS, WAITS, WAIT_SECONDS, WAIT_FAILURES)


def healthz(_request: HttpRequest) -> HttpResponse:
    """200 while this process answers at all."""
    return JsonResponse({"status": "ok"})


def readyz(_request: HttpRequest) -> HttpResponse:
    """200 when PostgreSQL answers, else 503; reports Redis, the worker and what waits as well.

    Without Redis the API goes on, so a load balancer that took all servers out would do harm.
    """
    parts = {
        "postgresql": postgres_answers(),
        "redis": redis_answers(),
        "background": is_anybody_at_work(),
    }
    body: dict[str, object] = {name: "ok" if answers else "away" for name, answers in parts.items()}
    wait: float | None = None
    pending: int | None = None
    if parts["postgresql"]:
        with suppress(DatabaseError, InterfaceError):
            wait = oldest_wait()
        with suppress(DatabaseError, InterfaceError):
            pending = sum(pending_counts().values())
    body["oldest_waiting_job_seconds"] = None if wait is None else round(wait, 1)
    body["pending_vectors"] = pending
    if parts["postgresql"]:
        return JsonResponse({"status": "ok" if parts["redis"] else "degraded", **body})
    return JsonResponse(
        {"status": "unavailable", **body},
        status=503,
        headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def postgres_answers() -> bool:
    """Returns whether PostgreSQL answers and holds Palimpsest's tables."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM teams_team LIMIT 1")
    except (DatabaseError, InterfaceError):
        return False
    return True


def redis_answers() -> bool:
    """Returns whether Redis answers."""
    try:
        return bool(get_redis_connection("default").ping())
    except redis.RedisError:
        return False


def is_anybody_at_work() -> bool:
    """Returns whether a task runs or ended within a minute; False if Redis is unavailable."""
    return bool(_heartbeat().ask(lambda client: client.exists(AT_WORK)))


def note_at_work(*, is_busy: bool) -> None:
    """Notes that a task begins, which may last up to the time limit of tasks, or has ended."""
    seconds = _BETWEEN_TASKS_SECONDS + (settings.CELERY_TASK_TIME_LIMIT if is_busy else 0)
    _heartbeat().ask(lambda client: client.set(AT_WORK, 1, ex=seconds))


@cache
def _heartbeat() -> QuickRedis:
    return QuickRedis(settings.REDIS_URL, patience=_PATIENCE_SECONDS)


class MetricsMiddleware:
    """Counts requests and their duration by route, and logs a line for each, without addresses.

    The time ends where the answer begins. Probes are counted and not logged.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        if request.path in _PROBES:
            # Monitors send the address of a machine or pod, which no list of names can hold.
            request.META["HTTP_HOST"] = allowed_name()
        response = self.get_response(request)
        match = request.resolver_match
        route = f"/{match.route}" if match is not None else "unmatched"
        method = request.method if request.method in _METHODS else "other"
        seconds = time.perf_counter() - started
        REQUESTS.labels(route, method, response.status_code).inc()
        LATENCY.labels(route, method).observe(seconds)
        count_pool(connection)
        _log(request, method, route, response.status_code, seconds)
        return response


def count_pool(used: Any) -> None:  # Any: Django leaves the pool of a connection untyped
    """Counts what the pool of this process has noted of waiting since the last request."""
    if (pool := used.pool) is not None:
        noted = pool.pop_stats()
        WAITS.inc(noted.get("requests_queued", 0))
        WAIT_SECONDS.inc(noted.get("requests_wait_ms", 0) / 1000)
        WAIT_FAILURES.inc(noted.get("requests_errors", 0))


def _log(request: HttpRequest, method: str, route: str, status: int, seconds: float) -> None:
    if route in _PROBES:
        return
    # An admin's session has a user that is looked up when it is first used: it stays unused here.
    holder = request.__dict__.get("user")
    team, agent = (holder.team_slug, holder.agent_slug) if type(holder) is Principal else ("", "")
    # Of the agent that a request names, as `ApiViewSet.check_agent` has it.
    agent = agent or str(request.META.get("palimpsest.agent", ""))
    values = (method, route, status, round(seconds * 1_000, 1), team, agent)
    _requests.info(
        "%s %s %d in %s ms, team %s, agent %s",
        *(value or "-" for value in values),
        extra=dict(zip(OF_REQUESTS, values, strict=True)),
    )


class _State(Collector):
    """Metrics read at scrape time; those of a service that is down are left out."""

    def collect(self) -> Iterator[Metric]:
        """The metrics as they are now."""
        up = GaugeMetricFamily(
            "palimpsest_up", "1 for a service that answers, else 0.", labels=["service"]
        )
        has_postgres, has_redis = postgres_answers(), redis_answers()
        up.add_metric(["postgresql"], float(has_postgres))
        up.add_metric(["redis"], float(has_redis))
        up.add_metric(["background"], float(is_anybody_at_work()))
        yield up
        # One that has just gone down is left out too.
        with suppress(DatabaseError, InterfaceError):
            if has_postgres:
                yield from _jobs()
        with suppress(redis.RedisError):
            if has_redis:
                yield from _backups()
                yield from _writing()


def _jobs() -> Iterator[Metric]:
    jobs = GaugeMetricFamily("palimpsest_jobs", "Extraction jobs by state.", labels=["state"])
    with team_scope(team_ids=all_team_ids(), actor="metrics"):
        for state, count in jobs_by_state().items():
            jobs.add_metric([state], count)
        yield jobs
        yield GaugeMetricFamily(
            "palimpsest_open_contradictions",
            "Contradictions that nobody has resolved.",
            value=count_open_contradictions(),
        )
        yield from _log_of_teams()
        yield from _spend()
        for satellite in satellites():
            yield from satellite.metrics()
    yield GaugeMetricFamily(
        "palimpsest_oldest_waiting_job_seconds",
        "For how long the oldest waiting job has waited; 0 where none waits.",
        value=oldest_wait() or 0.0,
    )
    yield GaugeMetricFamily(
        "palimpsest_pending_vectors",
        "Memories stored in bulk that wait to be embedded.",
        value=sum(pending_counts().values()),
    )


def _log_of_teams() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "palimpsest_oldest_unsealed_seconds",
        "Seconds since the oldest entry of a team's log that has no seal yet; 0 where none waits.",
        value=oldest_unsealed_seconds(),
    )
    yield GaugeMetricFamily(
        "palimpsest_log_intact",
        "0 where the latest verification of a team's log found that it was changed, else 1.",
        value=float(log_is_intact()),
    )


def _spend() -> Iterator[Metric]:
    spent_usd, fullest = installation_spend(now=timezone.now())
    yield GaugeMetricFamily(
        "palimpsest_month_spend_usd",
        "USD that language models have cost all teams in the month.",
        value=float(spent_usd),
    )
    yield GaugeMetricFamily(
        "palimpsest_budget_used_ratio",
        "The greatest share of a team's monthly budget that is spent.",
        value=fullest,
    )


def _backups() -> Iterator[Metric]:
    verified = last_verified_backup()
    if verified is not None:
        yield GaugeMetricFamily(
            "palimpsest_backup_verified_timestamp_seconds",
            "When the newest backup that a trial restore has verified was made, in Unix time.",
            value=verified.timestamp(),
        )


def _writing() -> Iterator[Metric]:
    written = CounterMetricFamily(
        "palimpsest_memories_written", "Writes of memories by outcome.", labels=["outcome"]
    )
    for outcome, count in written_counts().items():
        written.add_metric([outcome], count)
    yield written
    for kind, name, words in (
        ("seconds", "palimpsest_extraction_seconds", "Seconds"),
        ("cost", "palimpsest_extraction_cost_usd", "USD"),
    ):
        histogram = HistogramMetricFamily(
            name, f"{words} that a pass of extraction took for a message.", labels=["model"]
        )
        for model, (buckets, total) in work_counts(kind).items():
            histogram.add_metric([model], buckets, total)
        yield histogram


def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics in Prometheus' text format, for authorised callers."""
    if request.method not in ("GET", "HEAD"):
        refusal = problem(405, "Method not allowed", "Metrics are read with GET.")
        refusal["Allow"] = "GET, HEAD"
        return refusal
    if not _may_see(request):
        if settings.METRICS_TOKEN:
            return problem(
                401,
                "Unauthorized",
                "Send the header «Authorization: Bearer <METRICS_TOKEN>».",
                headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
            )
        return problem(
            403, "Forbidden", "Metrics are for this machine alone; set METRICS_TOKEN for others."
        )
    registry = CollectorRegistry()
    if os.environ.get(MULTIPROCESS):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        for each in _OF_PROCESSES:
            registry.register(each)
    registry.register(_State())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_see(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        sent = request.headers.get("Authorization", "").encode()
        return hmac.compare_digest(sent, f"Bearer {settings.METRICS_TOKEN}".encode())
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
