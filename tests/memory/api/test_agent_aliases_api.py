"""Requests that name an agent by an alias mean the agent, wherever they name it."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import Category, Memory
from teams.models import Agent, Conversation
from teams.services.people import set_aliases
from tests.support.cast import Cast, Clients


@pytest.fixture(autouse=True)
def renamed(acme: Cast) -> None:
    """Kyra was called "nova" once."""
    set_aliases(agent=acme.kyra, names=["nova"], actor="test")


def sent(api: APIClient, path: str, **body: object) -> Any:
    answer = api.post(path, body, format="json")
    assert answer.status_code in (200, 201), answer.content
    return answer.json()


def test_talk_under_the_old_name_is_the_same_agents(api: APIClient, acme: Cast) -> None:
    names = {"user": "sarah", "thread_id": "t"}
    first = sent(api, "/v1/conversations", agent="kyra", **names)
    again = sent(api, "/v1/conversations", agent="nova", **names)

    assert again["id"] == first["id"]
    assert again["agent"] == "kyra"
    assert Agent.objects.count() == 2
    assert Conversation.objects.count() == 1


def test_memories_are_stored_found_and_listed_by_it(api: APIClient) -> None:
    stated = {"content": "I keep notes in Oslo.", "memory_type": "agent_private"}
    sent(api, "/v1/memories", agent="nova", **stated)

    found = sent(api, "/v1/retrieve", agent="nova", query="Where are the notes kept?")
    listed = api.get("/v1/memories?agent=nova").json()["results"]
    filtered = sent(
        api,
        "/v1/memory/query",
        agent="nova",
        query="notes",
        filters={"agent": "nova"},
        **{"return": "full"},
    )

    assert Memory.objects.get().agent.slug == "kyra"  # type: ignore[union-attr]
    assert [each["content"] for each in found["memories"]] == [stated["content"]]
    assert [each["agent"] for each in listed] == ["kyra"]
    assert len(filtered["results"]) == 1


def test_a_key_of_the_agent_may_use_it_and_no_other_name(client_of: Clients, acme: Cast) -> None:
    kyra = client_of(acme, acme.kyra)

    assert kyra.get("/v1/agents/nova").json()["slug"] == "kyra"
    refused = kyra.post("/v1/retrieve", {"agent": "luke", "query": "x"}, format="json")
    assert refused.status_code == 403


def test_the_document_is_read_and_written_by_it(api: APIClient) -> None:
    loaded = api.get("/v1/agents/nova")
    document = {**loaded.json(), "tagline": "written by the old name"}
    assert document["aliases"] == ["nova"]

    saved = api.put(
        "/v1/agents/nova", document, format="json", headers={"If-Match": loaded["ETag"]}
    )
    versions = api.get("/v1/agents/nova/versions").json()["results"]

    assert saved.status_code == 200
    assert (saved.json()["slug"], saved.json()["version"]) == ("kyra", 2)
    assert [each["version"] for each in versions] == [2, 1]
    assert Agent.objects.count() == 2


def test_a_document_of_another_agent_is_still_refused(api: APIClient) -> None:
    answer = api.put("/v1/agents/nova", {"name": "L", "slug": "luke"}, format="json")

    assert answer.status_code == 422


def test_an_allowlist_names_categories_of_the_team(api: APIClient, acme: Cast) -> None:
    def put(*names: str) -> Any:
        document = {"name": "Kyra", "memory_config": {"allowed_categories": list(names)}}
        return api.put("/v1/agents/kyra", document, format="json")

    assert put("anything").status_code == 200
    for name in ("goals", "profile"):
        Category.objects.create(team=acme.team, name=name)

    kept, refused = put("anything", "profile"), put("profle")

    assert kept.status_code == 200
    assert refused.status_code == 422
    assert refused.json()["errors"] == {
        "memory_config.allowed_categories": [
            "There is no category 'profle'; known are: goals, profile."
        ]
    }
