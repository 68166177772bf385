"""`/metrics`: what it counts, over all processes, and who may read it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client, override_settings
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

from config import web_server
from memory.domain.audience import Viewer
from memory.models import Job
from memory.satellites.webhooks.endpoints import create_endpoint, send_test
from memory.satellites.webhooks.models import WebhookDelivery
from memory.understanding.tools import Tools
from memory.writing.drafts import Outcome
from memory.writing.stating import StatedMemory, remember
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]


def values(text: str) -> dict[tuple[str, ...], float]:
    """The samples by name and label values, in the labels' order."""
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(client: Any = None) -> dict[tuple[str, ...], float]:
    """The metrics as this machine reads them."""
    response = (client or Client()).get("/metrics")
    assert response.status_code == 200
    return values(response.content.decode())


def requests(route: str, method: str, status: str) -> float:
    """Returns the number of requests counted so far."""
    name = "palimpsest_http_requests_total"
    return scraped().get((name, method, route, status), 0.0)


# -- what is counted -------------------------------------------------------------------------


def test_it_is_in_prometheus_text_format(db: None) -> None:
    response = Client().get("/metrics")

    assert response["Content-Type"].startswith("text/plain; version=")
    names = {family.name for family in text_string_to_metric_families(response.content.decode())}
    assert names >= {
        "palimpsest_http_requests",
        "palimpsest_http_request_seconds",
        "palimpsest_jobs",
        "palimpsest_memories_written",
        "palimpsest_up",
    }


@pytest.mark.parametrize(
    ("path", "route", "status"),
    [
        ("/v1/memories/{id}", "/v1/memories/<uuid:pk>", "404"),
        ("/v1/memories?limit=0", "/v1/memories", "422"),
        ("/v1/nothing/{id}", "unmatched", "404"),
    ],
)
def test_a_request_is_counted_under_its_route_and_status(
    api: APIClient, path: str, route: str, status: str
) -> None:
    before = requests(route, "GET", status)

    api.get(path.format(id=uuid4()))

    assert requests(route, "GET", status) == before + 1


def test_a_method_that_nobody_knows_has_no_label_of_its_own(db: None) -> None:
    before = requests("/healthz", "other", "200")

    Client().generic("BREW", "/healthz")

    assert requests("/healthz", "other", "200") == before + 1
    assert not any("BREW" in key for key in scraped())


def test_each_request_is_in_one_bucket_of_seconds(db: None) -> None:
    name = "palimpsest_http_request_seconds"
    before = scraped().get((f"{name}_count", "GET", "/healthz"), 0.0)

    Client().get("/healthz")

    found = scraped()
    assert found[f"{name}_count", "GET", "/healthz"] == before + 1
    assert found[f"{name}_bucket", "+Inf", "GET", "/healthz"] == before + 1


def test_jobs_are_counted_by_state_over_all_teams(acme: Cast, globex: Cast) -> None:
    before = scraped()
    for cast, state in ((acme, "queued"), (globex, "queued"), (globex, "failed")):
        with team_scope(team_ids=[cast.team.id], actor="test"):
            talk = factories.ConversationFactory.create(
                team=cast.team, agent=cast.kyra, end_user=cast.sarah
            )
            factories.JobFactory.create(
                team=cast.team, conversation=talk, from_position=1, to_position=1, state=state
            )

    found = scraped()

    change = {
        state: found["palimpsest_jobs", state] - before["palimpsest_jobs", state]
        for state in Job.State.values
    }
    assert change == {"queued": 2, "running": 0, "done": 0, "failed": 1, "set_aside": 0}


def test_undelivered_events_are_counted(acme: Cast) -> None:
    before = scraped()
    with team_scope(team_ids=[acme.team.id], actor="test"):
        url = "https://receiver.example/hook"
        made = create_endpoint(team_id=acme.team.id, url=url, events=["memory.created"])
        for state in ("waiting", "dead", "dead", "delivered"):
            sent = send_test(endpoint=made.endpoint, now=timezone.now())
            WebhookDelivery.objects.filter(pk=sent.pk).update(state=state)

    found = scraped()

    name = "palimpsest_webhook_deliveries"
    told = {key[1]: value - before[key] for key, value in found.items() if key[0] == name}
    assert told == {"waiting": 1, "dead": 2}


def test_the_age_of_the_oldest_waiting_job_is_told(acme: Cast) -> None:
    with team_scope(team_ids=[acme.team.id], actor="test"):
        talk = factories.ConversationFactory.create(
            team=acme.team, agent=acme.kyra, end_user=acme.sarah
        )
        factories.JobFactory.create(
            team=acme.team,
            conversation=talk,
            from_position=1,
            to_position=1,
            due_at=timezone.now() - timedelta(days=1),
        )

    ready = Client().get("/readyz").json()

    assert scraped()["palimpsest_oldest_waiting_job_seconds",] >= 86_400
    assert ready["oldest_waiting_job_seconds"] >= 86_400


def test_written_memories_are_counted_by_outcome(committed_db: None, tools: Tools) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    viewer = Viewer(team_id=town.team.id, actor="test")
    stated = [StatedMemory(content="The dam holds."), StatedMemory(content="The dam HOLDS")]

    remember(viewer=viewer, stated=stated, tools=tools, now=timezone.now())

    found = scraped()
    counts = {
        each.value: found["palimpsest_memories_written_total", each.value] for each in Outcome
    }
    assert counts == {**dict.fromkeys(counts, 0), "created": 1, "duplicate": 1}


def test_what_answers_is_up(db: None) -> None:
    found = scraped()

    assert (found["palimpsest_up", "postgresql"], found["palimpsest_up", "redis"]) == (1, 1)


# -- who may read it -------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1"])
def test_this_machine_may_read_it(db: None, address: str) -> None:
    assert Client(REMOTE_ADDR=address).get("/metrics").status_code == 200


@pytest.mark.parametrize("address", ["10.0.0.7", "192.168.1.2", "2001:db8::1", "", "unix:"])
def test_others_may_not(db: None, address: str) -> None:
    response = Client(REMOTE_ADDR=address).get("/metrics")

    assert response.status_code == 403
    assert "METRICS_TOKEN" in response.json()["detail"]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
def test_who_comes_through_a_proxy_is_not_this_machine(db: None, header: str) -> None:
    assert Client().get("/metrics", headers={header: "127.0.0.1"}).status_code == 403


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("Bearer let-me-in", 200),
        ("Bearer let-me", 401),
        ("let-me-in", 401),
        ("Bearer ", 401),
        ("Bearer пусти", 401),
        (None, 401),
    ],
)
def test_with_a_token_everybody_needs_it(db: None, sent: str | None, status: int) -> None:
    headers = {"Authorization": sent} if sent is not None else {}
    near, far = Client(), Client(REMOTE_ADDR="10.0.0.7")

    with override_settings(METRICS_TOKEN="let-me-in"):
        answers = [client.get("/metrics", headers=headers) for client in (near, far)]

    assert [answer.status_code for answer in answers] == [status, status]


def test_metrics_are_only_read(db: None) -> None:
    response = Client().post("/metrics")

    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")


# -- several processes -------------------------------------------------------------------------


@pytest.fixture
def server(committed_db: None, tmp_path: Path) -> Iterator[str]:
    """The address of a server of two processes on the tests' database."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stale = tmp_path / "counter_1.db"
    stale.write_bytes(b"")
    environment = {
        **os.environ,
        "WEB_CONCURRENCY": "2",
        "WEB_THREADS": "1",
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path),
    }
    command = web_server.command(host="127.0.0.1", port=port)
    with subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True) as process:
        try:
            base = f"http://127.0.0.1:{port}"
            until(lambda: fetch(f"{base}/readyz")[0] == 200)
            assert not stale.exists()
            yield base
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def fetch(address: str) -> tuple[int, str]:
    """Status and body over a connection of its own; 0 when nobody answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(address, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def test_every_process_tells_the_figures_of_all(server: str, tmp_path: Path) -> None:
    sent = 0
    while len(list(tmp_path.glob("counter_*.db"))) < 2 or sent < 40:
        assert fetch(f"{server}/healthz")[0] == 200
        sent += 1
        assert sent < 2000, "one of the processes never answered"

    scrapes = [values(fetch(f"{server}/metrics")[1]) for _ in range(10)]

    key = ("palimpsest_http_requests_total", "GET", "/healthz", "200")
    assert {scrape[key] for scrape in scrapes} == {float(sent)}
    assert all(scrape["palimpsest_up", "postgresql"] == 1 for scrape in scrapes)
