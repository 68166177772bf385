"""Items of a store over REST: whose they are, their memories, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.langgraph.models import StoreItem
from memory.satellites.langgraph.tasks import expire_items
from teams.models import Project, Team
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.test_schema import Schema, check
from tests.test_schema import schema as schema


def put(api: APIClient, *namespace: str, key: str = "k", **given: Any) -> Any:
    item = {"namespace": namespace, "key": key, "value": {"n": 1}, **given}
    return api.post("/v1/items", {"items": [item]}, format="json")


def ask(api: APIClient, **reads: Any) -> Any:
    return api.post("/v1/items/query", reads, format="json")


def found(api: APIClient, **search: Any) -> list[str]:
    (items,) = ask(api, search=[{"namespace": [], **search}]).json()["search"]
    return [each["key"] for each in items]


def test_answers_are_as_the_schema_says(api: APIClient, schema: Schema) -> None:
    written = put(api, "users", "sarah", text="Sarah sails.")
    answer = ask(
        api,
        get=[{"namespace": ["users", "sarah"], "key": "k"}, {"namespace": ["x"], "key": "k"}],
        search=[{"namespace": ["users"], "query": "Who sails?"}],
        namespaces=[{}],
    )

    check(schema, "/v1/items", "post", written)
    check(schema, "/v1/items/query", "post", answer)
    told = answer.json()
    assert [each["key"] for each in told["get"]] == ["k"]
    assert told["search"][0][0]["memory"] == str(Memory.objects.get().pk)
    assert told["namespaces"] == [[["users", "sarah"]]]


def test_a_memory_belongs_to_whom_the_namespace_names(api: APIClient) -> None:
    for number, place in enumerate(("users/zoe", "agents/kyra", "projects/shop", "notes")):
        put(api, *place.split("/"), text=f"Thing {number}.")

    rows = Memory.objects.order_by("content").values_list(
        "end_user__external_id", "agent__slug", "project__slug", "memory_type"
    )

    assert list(rows) == [
        ("zoe", None, None, "semantic"),
        (None, "kyra", None, "agent_private"),
        (None, None, "shop", "semantic"),
        (None, None, None, "semantic"),
    ]


def test_a_team_sees_nothing_of_anothers(
    api: APIClient, globex: Cast, client_of: Callable[..., APIClient]
) -> None:
    put(api, "notes", text="The oven is mended.")
    other = client_of(globex)

    assert found(other) == []
    assert found(other, query="oven") == []
    assert ask(other, get=[{"namespace": ["notes"], "key": "k"}]).json()["get"] == []
    assert put(other, "notes", value=None).json() == {"kept": 0, "deleted": 0}
    assert found(api) == ["k"]


def test_a_corrected_memory_still_finds_its_item(api: APIClient) -> None:
    put(api, "notes", text="The boat is red.")
    for colour in ("green", "yellow", "white"):
        api.post(
            f"/v1/memories/{Memory.objects.live().get().pk}/correct",
            {"corrected_content": f"The boat is {colour}."},
            format="json",
        )

        assert found(api, query="What colour is the boat?") == ["k"]
    put(api, "notes", text="The boat is blue.")

    assert [each.content for each in Memory.objects.live()] == ["The boat is blue."]
    put(api, "notes", value=None)
    assert list(Memory.objects.live()) == []


def test_what_waits_for_a_yes_is_kept_as_a_value(api: APIClient) -> None:
    api.post(
        "/v1/memories",
        {"content": "Sarah's email is a@example.com.", "user": "sarah", "category": "profile"},
        format="json",
    )
    written = put(api, "users", "sarah", text="Sarah's email is b@example.com.")

    assert written.json() == {"kept": 1, "deleted": 0}
    assert found(api) == ["k"]
    waiting = ConsentRequest.objects.count()
    assert Memory.objects.live().filter(extractor="store").count() == 1 - waiting


@pytest.mark.parametrize(
    "item",
    [
        {"namespace": []},
        {"namespace": ["a.b"]},
        {"namespace": ["a\n"]},
        {"namespace": ["users", " sarah"]},
        {"namespace": ["x" * 200] * 3},
        {"namespace": ["agents", "x" * 101]},
        {"namespace": ["users", "sarah"], "user": "dmitri"},
        {"key": ""},
        {"key": "x" * 201},
        {"value": []},
        {"value": {"x": "\x00"}},
        {"ttl_minutes": -1},
        {"unknown": 1},
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_and_changes_nothing(api: APIClient, item: dict[str, Any]) -> None:
    good = {"namespace": ["a"], "key": "k", "value": {"n": 1}, "text": "Good."}

    refused = api.post("/v1/items", {"items": [good, {**good, **item}]}, format="json")

    assert refused.status_code == 422
    assert any(name.startswith("items") for name in refused.json()["errors"])
    assert (StoreItem.objects.count(), Memory.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    "read",
    [
        {"get": [{"namespace": ["a"]}]},
        {"search": [{"namespace": [], "filter": {"a": {"$in": [1]}}}]},
        {"search": [{"namespace": [], "limit": 0}]},
        {"search": [{"namespace": []}] * 21},
        {"namespaces": [{"max_depth": 0}]},
        {"unknown": []},
    ],
    ids=str,
)
def test_a_wrong_read_is_refused(api: APIClient, read: dict[str, Any]) -> None:
    assert ask(api, **read).status_code == 422


def test_a_filter_by_an_infinite_number_is_refused(api: APIClient) -> None:
    put(api, "a")
    read = '{"search": [{"namespace": [], "filter": {"n": {"$lt": 1e400}}}]}'

    refused = api.post("/v1/items/query", read, content_type="application/json")

    assert refused.status_code == 422
    assert "finite" in refused.json()["detail"]


def test_a_value_may_not_be_larger_than_a_checkpoint(api: APIClient, settings: Any) -> None:
    settings.CHECKPOINT_MAX_BYTES = 1024

    assert put(api, "a", value={"x": "y" * 1024}).status_code == 413
    assert StoreItem.objects.count() == 0


@pytest.mark.parametrize("way", ["get", "search", "searches"])
def test_a_read_of_too_much_is_refused_and_refreshes_nothing(
    api: APIClient, settings: Any, way: str
) -> None:
    settings.CHECKPOINT_MAX_BYTES = 1024
    for number in range(9):
        put(api, "a", key=f"k{number}", value={"x": "é" * 490}, ttl_minutes=5)
    before = list(StoreItem.objects.order_by("key").values_list("expires_at", flat=True))
    gets = [{"namespace": ["a"], "key": f"k{number}"} for number in range(9)]
    search = {"namespace": ["a"]}
    reads: dict[str, dict[str, Any]] = {
        "get": {"get": gets},
        "search": {"search": [search]},
        "searches": {"search": [{**search, "limit": 4}] * 3},
    }

    refused = ask(api, **reads[way])

    assert refused.status_code == 422
    assert "fewer" in refused.json()["detail"]
    after = list(StoreItem.objects.order_by("key").values_list("expires_at", flat=True))
    assert before == after
    answer = ask(api, get=gets[:4], search=[{**search, "limit": 4}]).json()
    assert [len(answer["get"]), len(answer["search"][0])] == [4, 4]
    assert answer["get"][0]["value"] == {"x": "é" * 490}


def test_a_sweep_deletes_all_items_whose_time_is_over(acme: Cast) -> None:
    with team_scope(team_ids=[acme.team.id], actor="test"):
        StoreItem.objects.bulk_create(
            StoreItem(
                team_id=acme.team.id, path="a", key=f"k{n}", value={}, expires_at=timezone.now()
            )
            for n in range(1_001)
        )

    expire_items()

    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert StoreItem.objects.count() == 0


def test_items_of_a_team_that_is_moved_are_read_without_a_refresh(
    api: APIClient, acme: Cast
) -> None:
    put(api, "a", ttl_minutes=5)
    (before,) = StoreItem.objects.values_list("expires_at")
    Team.objects.filter(pk=acme.team.id).update(frozen_at=timezone.now())

    answer = ask(api, get=[{"namespace": ["a"], "key": "k"}], search=[{"namespace": []}])

    assert answer.status_code == 200
    assert len(answer.json()["get"]) == len(answer.json()["search"][0]) == 1
    assert StoreItem.objects.values_list("expires_at").get() == before


def test_writers_of_one_item_at_once_leave_one_memory(
    committed_db: None, client_of: Callable[..., APIClient]
) -> None:
    cast = make_cast(f"race-{uuid4().hex[:12]}")
    clients = [client_of(cast) for _ in range(4)]

    def write(number: int) -> int:
        try:
            return int(put(clients[number], "users", "sarah", text=f"Text {number}.").status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(write, range(4)))

    assert statuses == [200] * 4
    with team_scope(team_ids=[cast.team.id], actor="test"):
        item = StoreItem.objects.get()
        assert [each.pk for each in Memory.objects.live()] == [item.memory_id]


def test_a_key_of_a_project_deletes_nothing_of_another(api: APIClient, acme: Cast) -> None:
    for slug in ("p1", "p2"):
        put(api, "projects", slug, text=f"{slug} has a crane.")
    with team_scope(team_ids=[acme.team.id], actor="test"):
        own = Project.objects.get(slug="p1")
        key = issue_key(team_id=acme.team.id, project_ids=[own.pk])
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key.token}")

    assert put(client, "projects", "p2", value=None).status_code == 404
    assert put(client, "projects", "p1", value=None).json()["deleted"] == 1
    assert [row.path for row in StoreItem.objects.all()] == ["projects.p2"]
