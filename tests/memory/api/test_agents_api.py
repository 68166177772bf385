"""Agents as documents: loaded, changed without lost updates, kept in versions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from rest_framework.test import APIClient

from memory.models import Memory
from teams.models import Agent
from teams.services.people import ensure_agent
from tests.support.agent_documents import WHOLE
from tests.support.cast import Cast, Clients, make_cast

URL = "/v1/agents/kyra"


def put(api: APIClient, body: object, url: str = URL, **headers: str) -> Any:
    return api.put(url, body, format="json", headers=headers)


def test_a_document_comes_back_as_it_was_put(api: APIClient) -> None:
    answer = put(api, {**WHOLE, "reason": "first words"})

    assert answer.status_code == 200
    assert answer["ETag"] == '"2"'
    shown = api.get(URL)
    assert shown["ETag"] == '"2"'
    assert shown.json() == answer.json()
    assert {name: shown.json()[name] for name in WHOLE} == WHOLE
    assert shown.json()["slug"] == "kyra"
    assert shown.json()["changed_by"].startswith("key:")


def test_an_agent_shows_the_weights_that_hold_beside_those_it_names(api: APIClient) -> None:
    plain = api.get(URL).json()
    named = put(api, {"name": "Kyra", "memory_config": {"retrieval_weights": {"recency": 0.7}}})
    back = put(api, named.json())

    defaults = {
        "semantic": 0.6,
        "recency": 0.1,
        "importance": 0.15,
        "continuity": 0.1,
        "relation": 0.05,
    }
    assert (plain["memory_config"]["retrieval_weights"], plain["effective_weights"]) == (
        {},
        defaults,
    )
    assert named.json()["memory_config"]["retrieval_weights"] == {"recency": 0.7}
    assert named.json()["effective_weights"] == {**defaults, "recency": 0.7}
    assert back.json() == named.json()


def test_weights_that_raw_sql_spoilt_are_shown_as_none(api: APIClient, kyra: Agent) -> None:
    for spoilt in ({"recency": -1}, {"recent": 1}, [1], 3):
        Agent.objects.filter(pk=kyra.pk).update(retrieval_weights=spoilt)

        assert api.get(URL).json()["effective_weights"] is None


def test_an_agent_that_is_not_there_is_missed_under_one_name(api: APIClient) -> None:
    missed = [api.get(f"/v1/agents/nobody{each}") for each in ("", "/versions")]

    assert [each.status_code for each in missed] == [404, 404]
    assert [list(each.json()["errors"]) for each in missed] == [["slug"], ["slug"]]


def test_the_prompt_speaks_as_the_document_says(api: APIClient) -> None:
    put(api, WHOLE)

    prompt = api.post("/v1/prompt", {"agent": "kyra", "query": "Hi"}, format="json").json()

    assert prompt["prompt"].startswith("You are Kyra, a research assistant.\n\n## Who You Are")
    assert "- charts: draws" in prompt["prompt"]
    assert "code-review" not in prompt["prompt"]
    assert prompt["stats"]["token_budget"] == 1500


def test_a_new_name_makes_an_agent(api: APIClient) -> None:
    made = put(api, {"name": "Mira"}, "/v1/agents/mira", **{"If-None-Match": "*"})
    again = put(api, {"name": "Mira II"}, "/v1/agents/mira", **{"If-None-Match": "*"})

    assert (made.status_code, made["ETag"]) == (201, '"1"')
    assert again.status_code == 412
    assert "version 1" in again.json()["detail"]
    assert api.get("/v1/agents/mira").json()["name"] == "Mira"


def test_what_was_loaded_can_be_put_back_and_changes_nothing(api: APIClient) -> None:
    put(api, WHOLE)
    loaded = api.get(URL)

    answer = put(api, loaded.json(), **{"If-Match": loaded["ETag"]})

    assert answer.status_code == 200
    assert answer["ETag"] == loaded["ETag"]
    assert answer.json() == loaded.json()


def test_an_update_of_what_somebody_changed_meanwhile_is_refused(api: APIClient) -> None:
    tag = api.get(URL)["ETag"]
    put(api, {"name": "Kyra", "tagline": "theirs"}, **{"If-Match": tag})

    late = put(api, {"name": "Kyra", "tagline": "mine"}, **{"If-Match": tag})

    assert late.status_code == 412
    assert late["Content-Type"] == "application/problem+json"
    assert 'If-Match: "2"' in late.json()["detail"]
    assert api.get(URL).json()["tagline"] == "theirs"


def test_of_writers_who_loaded_the_same_one_wins(committed_db: None, client_of: Clients) -> None:
    cast = make_cast(f"race-{uuid4().hex[:12]}")
    clients = [client_of(cast) for _ in range(5)]

    def write(number: int) -> int:
        try:
            body = {"name": "Kyra", "tagline": f"of {number}"}
            status: int = put(clients[number], body, **{"If-Match": '"1"'}).status_code
            return status
        finally:
            connections.close_all()

    with ThreadPoolExecutor(5) as pool:
        statuses = sorted(pool.map(write, range(5)))

    assert statuses == [200, 412, 412, 412, 412]
    assert clients[0].get(URL).json()["version"] == 2


def test_of_makers_of_one_agent_one_makes_it(committed_db: None, client_of: Clients) -> None:
    cast = make_cast(f"race-{uuid4().hex[:12]}")
    clients = [client_of(cast) for _ in range(4)]

    def write(number: int) -> int:
        try:
            body = {"name": "Mira", "tagline": f"of {number}"}
            status: int = put(clients[number], body, "/v1/agents/mira").status_code
            return status
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(write, range(4)))

    assert statuses == [200, 200, 200, 201]
    versions = clients[0].get("/v1/agents/mira/versions").json()["results"]
    assert [each["version"] for each in versions] == [4, 3, 2, 1]


def test_what_is_wrong_is_said_with_its_place_and_changes_nothing(api: APIClient) -> None:
    before = api.get(URL).json()

    answer = put(
        api,
        {
            "name": "Kyra",
            "slug": "luke",
            "reason": 5,
            "skills": {"shared": ["a", 7]},
            "model_config": {"force_tier": "ultra"},
        },
    )

    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == {
        "slug",
        "reason",
        "skills.shared[1]",
        "model_config.force_tier",
    }
    assert api.get(URL).json() == before


@pytest.mark.parametrize(
    "body", [[], "Kyra", 5, {}, {"name": "\u0000"}, {"name": "Kyra", "reason": {}}]
)
def test_what_is_no_document_is_refused(api: APIClient, body: object) -> None:
    assert put(api, body).status_code == 422
    assert put(api, body, "/v1/agents/mira").status_code == 422
    assert not Agent.objects.filter(slug="mira").exists()


def test_a_malformed_tag_is_refused(api: APIClient) -> None:
    answer = put(api, WHOLE, **{"If-Match": "2"})

    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == ["If-Match"]


def test_an_agent_reads_its_document_and_writes_none(acme: Cast, client_of: Clients) -> None:
    kyra = client_of(acme, acme.kyra)

    assert kyra.get(URL).json()["slug"] == "kyra"
    assert kyra.get(f"{URL}/versions").status_code == 200
    own = put(kyra, {**WHOLE, "model_config": {"daily_budget_usd": 1000}})
    assert own.status_code == 403
    assert "bound to no agent" in own.json()["detail"]
    for url in ("/v1/agents/luke", "/v1/agents/luke/versions", "/v1/agents/nobody"):
        assert kyra.get(url).status_code == 403
    assert [each["slug"] for each in kyra.get("/v1/agents").json()["results"]] == ["kyra"]
    assert Agent.objects.get(slug="kyra").version == 1


def test_another_teams_agents_are_not_there(
    api: APIClient, acme: Cast, globex: Cast, client_of: Clients
) -> None:
    ensure_agent(team_id=acme.team.id, slug="mira")
    stranger = client_of(globex)

    assert stranger.get("/v1/agents/mira").status_code == 404
    assert stranger.get("/v1/agents/mira/versions").status_code == 404
    assert put(stranger, WHOLE).status_code == 200
    assert api.get(URL).json()["tagline"] == ""


def test_agents_are_listed_by_name_a_page_at_a_time(api: APIClient, acme: Cast) -> None:
    for slug in ("b", "a", "c"):
        ensure_agent(team_id=acme.team.id, slug=slug)

    first = api.get("/v1/agents?limit=3").json()
    rest = api.get(first["next"]).json()

    found = [each["slug"] for page in (first, rest) for each in page["results"]]
    assert found == ["a", "b", "c", "kyra", "luke"]
    assert rest["next"] is None
    assert api.get("/v1/agents?limit=0").status_code == 422
    assert api.get("/v1/agents?cursor=nonsense").status_code == 422


def test_versions_say_what_was_when_by_whom_and_why(api: APIClient) -> None:
    put(api, {"name": "Kyra", "tagline": "calm", "reason": "complaints"})
    put(api, {"name": "Kyra", "tagline": "calmer"})

    page = api.get(f"{URL}/versions?limit=2").json()
    last = api.get(page["next"]).json()

    latest, before = page["results"]
    assert (latest["version"], before["version"]) == (3, 2)
    assert before["document"]["tagline"] == "calm"
    assert before["reason"] == "complaints"
    assert before["changed_by"].startswith("key:")
    assert [each["version"] for each in last["results"]] == [1]


def test_who_has_the_version_that_stands_is_told_so(api: APIClient) -> None:
    tag = api.get(URL)["ETag"]

    same = api.get(URL, headers={"If-None-Match": tag})
    put(api, WHOLE)
    other = api.get(URL, headers={"If-None-Match": tag})

    assert (same.status_code, same.content, same["ETag"]) == (304, b"", tag)
    assert other.status_code == 200


def test_names_with_slashes_and_odd_rows_are_shown(api: APIClient, acme: Cast) -> None:
    ensure_agent(team_id=acme.team.id, slug="sales/eu")
    Agent.objects.filter(slug="sales/eu").update(personality=["odd"], model_config="odd")

    shown = api.get("/v1/agents/sales/eu").json()

    assert (shown["personality"], shown["model_config"]) == (["odd"], "odd")
    assert api.get("/v1/agents/sales/eu/versions").json()["results"][0]["version"] == 2
    assert put(api, {"name": "Sales"}, "/v1/agents/sales/eu").json()["model_config"] == {}


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("put", "/v1/agents/Support Bot", {"name": "Support Bot"}, "slug"),
        ("post", "/v1/conversations", {"agent": "Support Bot", "user": "sarah"}, "agent"),
        ("post", "/v1/memories", {"agent": "Support Bot", "content": "Tea."}, "agent"),
        ("post", "/v1/memories", [{"agent": "Support Bot", "content": "Tea."}], "agent"),
        (
            "put",
            "/v1/threads/t/checkpoint",
            {"agent": "Support Bot", "user": "sarah", "data": {}},
            "agent",
        ),
        (
            "post",
            "/v1/chat/completions",
            {"model": "Support Bot", "messages": [{"role": "user", "content": "Hi."}]},
            "model",
        ),
    ],
)
def test_no_new_agent_is_called_by_several_words(
    api: APIClient, method: str, path: str, body: object, field: str
) -> None:
    agents, memories = Agent.objects.count(), Memory.objects.count()

    answer = getattr(api, method)(path, body, format="json")

    assert answer.status_code == 422
    assert "such as 'support-bot'" in answer.json()["errors"][field][0]
    assert (Agent.objects.count(), Memory.objects.count()) == (agents, memories)


def test_an_agent_that_is_called_so_already_goes_on(api: APIClient, acme: Cast) -> None:
    Agent.objects.create(team=acme.team, slug="Support Bot", name="Support")

    said = api.post("/v1/memories", {"agent": "Support Bot", "content": "Tea."}, format="json")

    assert said.status_code == 201
    assert said.json()["agent"] == "Support Bot"
    assert put(api, {"name": "Support"}, "/v1/agents/Support Bot").status_code == 200
