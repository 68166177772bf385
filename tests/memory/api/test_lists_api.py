"""Lists of conversations, people and projects: filters, pages, and who sees what."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from teams.models import EndUser
from tests.support.cast import Cast, Clients

LISTS = ["conversations", "users", "projects"]


@pytest.fixture
def office(api: APIClient, acme: Cast) -> APIClient:
    """Kyra talks with Sarah about Apollo, Luke with Dmitri twice; Ada talks with nobody."""
    for names in (
        {"agent": "kyra", "user": "sarah", "project": "apollo", "thread_id": "launch"},
        {"agent": "luke", "user": "dmitri", "thread_id": "lunch"},
        {"agent": "luke", "user": "dmitri", "project": "hermes", "thread_id": "post"},
    ):
        assert api.post("/v1/conversations", names, format="json").status_code == 201
    EndUser.objects.create(team=acme.team, external_id="ada")
    return api


def listed(client: APIClient, name: str, query: str = "") -> list[str]:
    """The names in the answer, in its order."""
    response = client.get(f"/v1/{name}?{query}")
    assert response.status_code == 200, response.content
    key = {"conversations": "thread_id", "users": "external_id", "projects": "slug"}[name]
    return [each[key] for each in response.json()["results"]]


@pytest.mark.parametrize(
    ("name", "query", "expected"),
    [
        ("conversations", "", ["post", "lunch", "launch"]),
        ("conversations", "agent=luke", ["post", "lunch"]),
        ("conversations", "user=sarah", ["launch"]),
        ("conversations", "user=nobody", []),
        ("conversations", "project=hermes", ["post"]),
        ("conversations", "thread_id=lunch", ["lunch"]),
        ("conversations", "agent=luke&user=sarah", []),
        ("conversations", "created_after=2100-01-01T00:00:00Z", []),
        ("conversations", "created_before=2100-01-01T00:00:00Z&user=sarah", ["launch"]),
        ("users", "", ["ada", "dmitri", "sarah"]),
        ("users", "agent=kyra", ["sarah"]),
        ("users", "project=hermes", ["dmitri"]),
        ("users", "agent=kyra&project=hermes", []),
        ("users", "created_after=2100-01-01T00:00:00Z", []),
        ("projects", "", ["apollo", "hermes"]),
        ("projects", "user=sarah", ["apollo"]),
        ("projects", "agent=luke", ["hermes"]),
        ("projects", "created_before=2000-01-01T00:00:00Z", []),
    ],
)
def test_all_filters_must_match(
    office: APIClient, name: str, query: str, expected: list[str]
) -> None:
    assert listed(office, name, query) == expected


@pytest.mark.parametrize("name", LISTS)
def test_pages_hold_each_row_once(office: APIClient, name: str) -> None:
    whole = listed(office, name)
    found, address = [], f"/v1/{name}?limit=1"
    while address:
        page = office.get(address).json()
        assert len(page["results"]) == 1
        found += page["results"]
        address = page["next"]

    assert found == office.get(f"/v1/{name}").json()["results"]
    assert len(found) == len(whole) > 1


def test_a_key_of_one_agent_sees_where_and_with_whom_it_talks(
    office: APIClient, acme: Cast, client_of: Clients
) -> None:
    kyra = client_of(acme, acme.kyra)

    assert [listed(kyra, name) for name in LISTS] == [[], ["sarah"], ["apollo"]]
    assert listed(kyra, "conversations", "user=sarah") == ["launch"]
    assert listed(kyra, "conversations", "user=dmitri") == []


def test_a_key_of_one_agent_sees_whom_and_what_its_memories_are_of(
    office: APIClient, acme: Cast, client_of: Clients
) -> None:
    known = {"content": "Dmitri sails.", "user": "dmitri", "project": "hermes"}
    secret = {"content": "Ada is to be promoted.", "user": "ada", "agent": "luke"}
    for body in (known, {**secret, "memory_type": "agent_private"}):
        assert office.post("/v1/memories", body, format="json").status_code == 201
    kyra = client_of(acme, acme.kyra)

    assert listed(kyra, "users") == ["dmitri", "sarah"]
    assert listed(kyra, "projects") == ["apollo", "hermes"]


@pytest.mark.parametrize("name", LISTS)
def test_another_agent_and_a_stranger_learn_nothing(
    office: APIClient, acme: Cast, globex: Cast, client_of: Clients, name: str
) -> None:
    assert client_of(acme, acme.kyra).get(f"/v1/{name}?agent=luke").status_code == 403
    strangers = listed(client_of(globex), name)

    assert strangers == (["dmitri", "sarah"] if name == "users" else [])


def test_who_was_erased_is_not_listed(office: APIClient, acme: Cast) -> None:
    EndUser.objects.filter(pk=acme.sarah.pk).update(external_id=f"erased-{acme.sarah.pk}")

    assert listed(office, "users") == ["ada", "dmitri"]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("cursor=x", "cursor"),
        ("name=x", "name"),
        ("created_after=2026-01-01", "created_after"),
    ],
)
def test_a_wrong_parameter_is_named(office: APIClient, name: str, query: str, field: str) -> None:
    answer = office.get(f"/v1/{name}?{query}")

    assert answer.status_code == 422
    assert answer.json()["errors"].keys() == {field}
