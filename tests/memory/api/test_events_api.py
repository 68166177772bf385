"""Operational events that requests leave behind, and the ways an operator reads them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from audit.models import OperationalEvent
from audit.services.events import Event, add_events, flush_events
from tests.support.cast import Cast


def post(api: APIClient, url: str, body: object, **headers: str) -> Any:
    return api.post(url, body, format="json", headers=headers)


def events(api: APIClient, query: str = "") -> list[Any]:
    flush_events()
    answer = api.get(f"/v1/events?{query}")
    assert answer.status_code == 200, answer.content
    found: list[Any] = answer.json()["results"]
    return found


def brief(rows: list[Any]) -> list[tuple[str, str, str]]:
    return [(row["node"], row["op"], row["status"]) for row in reversed(rows)]


def test_each_request_leaves_its_event(api: APIClient) -> None:
    talk = post(api, "/v1/conversations", {"agent": "kyra", "user": "sarah"}).json()["id"]
    fact = {"content": "Sarah lives in Berlin.", "user": "sarah", "conversation": talk}
    memory = post(api, "/v1/memories", fact).json()["id"]
    post(api, "/v1/memories", fact)
    search = {"query": "Where does Sarah live?", "user": "sarah"}
    api.get("/v1/memories/search", search)
    asked = {"agent": "kyra", "query": "Where does Sarah live?", "conversation": talk}
    post(api, "/v1/retrieve", asked)
    post(api, "/v1/prompt", asked)
    post(api, "/v1/memory/query", {"agent": "kyra", **search})
    post(api, f"/v1/memories/{memory}/pin", {"pinned": True})
    correction = {"corrected_content": "Sarah lives in Paris."}
    post(api, f"/v1/memories/{memory}/correct", correction)
    api.delete(f"/v1/memories/{memory}")

    rows = events(api)

    assert brief(rows) == [
        ("hotpath", "create", "ok"),
        ("hotpath", "create", "skipped"),
        ("hotpath", "search", "ok"),
        ("context", "context", "ok"),
        ("context", "context", "ok"),
        ("hotpath", "search", "ok"),
        ("hotpath", "update", "ok"),
        ("hotpath", "update", "ok"),
        ("hotpath", "delete", "ok"),
    ]
    created, found = rows[-1], rows[-3]
    assert (created["memory"], created["user"], created["conversation"]) == (memory, "sarah", talk)
    assert found["meta"]["found"] == 1
    assert 0 < found["similarity"] <= 1
    assert rows[4]["user"] == "sarah"
    assert "Berlin" not in str(rows)


def test_contexts_of_every_kind_say_what_they_told_and_took(api: APIClient) -> None:
    fact = {"content": "The port of the billing service is 5433.", "project": "apollo"}
    post(api, "/v1/memories", fact)
    post(api, "/v1/tasks", {"id": "fix-17", "agent": "kyra", "project": "apollo"})
    asked = {"agent": "kyra", "project": "apollo"}
    for project in ("apollo", None):
        signals = {"query": "port of the billing service"}
        post(api, "/v1/context/assemble", {**asked, "project": project, "signals": signals})
    post(api, "/v1/context/package", {"task": "fix-17", **asked})
    post(api, "/v1/memory/select", {"user_request": "Fix the billing service's port.", **asked})

    rows = [row for row in reversed(events(api)) if row["op"] == "context"]

    assert [row["status"] for row in rows] == ["ok", "skipped", "ok", "ok"]
    assert [row["meta"]["found"] for row in rows] == [1, 0, 1, 1]
    units = [row["meta"].keys() & {"tokens", "chars"} for row in rows]
    assert units == [{"tokens"}, {"tokens"}, {"tokens"}, {"chars"}]
    assert all(row["meta"].keys() >= {"ms", "cache_hit"} for row in rows)
    assert rows[0]["meta"]["tokens"] > 0


def test_reads_about_a_person_are_found_under_the_name(api: APIClient) -> None:
    post(api, "/v1/memories", {"content": "Sarah lives in Berlin.", "user": "sarah"})
    for user in ("sarah", "stranger"):
        asked = {"agent": "kyra", "query": "Where does Sarah live?", "user": user}
        api.get(f"/v1/memories/search?query=Where does Sarah live&user={user}")
        post(api, "/v1/memory/query", asked)
        post(api, "/v1/route", asked)

    told = [(row["op"], row["user"]) for row in reversed(events(api)) if row["op"] != "create"]

    assert told == [
        *((op, "sarah") for op in ("search", "search", "route")),
        *((op, None) for op in ("search", "search", "route")),
    ]


def test_a_write_names_its_nearest_neighbour(api: APIClient) -> None:
    post(api, "/v1/memories", {"content": "The API limit is 100 requests per minute."})
    post(api, "/v1/memories", {"content": "The API limit is 500 requests per minute."})

    second, first = events(api, "op=create")

    assert first["similarity"] is None
    assert second["similarity"] > 0.5


def test_a_merge_and_the_worker_leave_theirs(api: APIClient) -> None:
    for limit in (100, 500):
        body = {"content": f"The API limit is {limit} requests per minute."}
        post(api, "/v1/memories", body)
    (dispute,) = api.get("/v1/contradictions").json()["results"]
    settled = {"resolution": "merged", "merged_content": "The API limit is 100, then 500."}
    post(api, f"/v1/contradictions/{dispute['id']}/resolve", settled)
    talk = post(api, "/v1/conversations", {"agent": "kyra", "user": "sarah"}).json()["id"]
    said = {"messages": [{"role": "user", "content": "My name is Sarah. I live in Berlin."}]}
    post(api, f"/v1/conversations/{talk}/messages", said)
    post(api, f"/v1/conversations/{talk}/extract", {"wait": True})

    assert brief(events(api, "op=merge")) == [("hotpath", "merge", "ok")]
    (job,) = events(api, "node=worker")
    assert (job["op"], job["status"], job["conversation"]) == ("extract", "ok", talk)
    assert job["meta"]["messages"] == 1


def test_what_is_refused_or_repeated_is_told_apart(api: APIClient) -> None:
    post(api, "/v1/memories", {"content": ""})
    for _ in range(2):
        post(api, "/v1/memories", {"content": "One fact."}, **{"Idempotency-Key": "k"})
    api.get("/v1/memories/search?query=nothing of the kind&memory_types=procedural")
    APIClient().post("/v1/memories", {"content": "No key."}, format="json")

    assert brief(events(api)) == [
        ("hotpath", "create", "skipped"),
        ("hotpath", "create", "ok"),
        ("hotpath", "search", "skipped"),
    ]


@pytest.fixture
def days(acme: Cast) -> list[datetime]:
    """Three days with events: one search today, two yesterday and a create before."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=1, microsecond=0)
    noted = [
        (today, "search", "ok", 0.5),
        (today - timedelta(days=1), "search", "ok", 0.25),
        (today - timedelta(days=1), "search", "ok", 0.75),
        (today - timedelta(days=2), "create", "error", None),
        (today - timedelta(days=30), "create", "ok", None),
    ]
    with get_redis_connection("default").pipeline() as pipe:
        for at, op, status, similarity in noted:
            event = Event("hotpath", op, status, acme.sarah.pk, acme.sarah.pk, None, similarity)
            add_events(pipe=pipe, team_id=acme.team.id, events=[event], now=at)
        pipe.execute()
    flush_events()
    return [today, today - timedelta(days=1), today - timedelta(days=2)]


def test_events_are_counted_by_op_and_day(api: APIClient, days: list[datetime]) -> None:
    found = api.get("/v1/events/counts").json()["results"]

    today, yesterday, before = (day.date().isoformat() for day in days)
    assert [(row["day"], row["op"], row["status"], row["count"]) for row in found] == [
        (today, "search", "ok", 1),
        (yesterday, "search", "ok", 2),
        (before, "create", "error", 1),
    ]
    assert (found[1]["mean_similarity"], found[1]["best_similarity"]) == (0.5, 0.75)
    start = (days[1] - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    narrowed = api.get(f"/v1/events/counts?from={start}&op=search&user=sarah").json()["results"]
    assert [row["count"] for row in narrowed] == [1, 2]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 5),
        ("op=create", 2),
        ("op=create&op=search", 5),
        ("status=error", 1),
        ("node=worker", 0),
        ("user=sarah", 5),
        ("user=dmitri", 0),
    ],
)
def test_events_are_narrowed(api: APIClient, days: list[datetime], query: str, count: int) -> None:
    assert len(events(api, query)) == count


def test_events_come_in_pages(api: APIClient, days: list[datetime]) -> None:
    found, url = [], "/v1/events?limit=2"
    while url:
        page = api.get(url).json()
        found += [row["id"] for row in page["results"]]
        url = page["next"]

    expected = OperationalEvent.objects.order_by("-id").values_list("id", flat=True)
    assert found == [str(each) for each in expected]


@pytest.mark.parametrize(
    "url",
    [
        "/v1/events?status=fine",
        "/v1/events?from=2026-01-01",
        "/v1/events?limit=0",
        "/v1/events/counts?memory=x",
        "/v1/events?users=sarah",
        "/v1/events/counts?users=sarah",
        "/v1/events/counts?from=2020-01-01T00:00:00Z",
    ],
)
def test_a_wrong_question_is_refused(api: APIClient, url: str) -> None:
    assert api.get(url).status_code == 422


def test_events_are_for_keys_of_the_team(
    acme: Cast, globex: Cast, days: list[datetime], client_of: Callable[..., APIClient]
) -> None:
    for url in ("/v1/events", "/v1/events/counts"):
        assert client_of(acme, acme.kyra).get(url).status_code == 403
        assert client_of(globex).get(url).json()["results"] == []
