"""A memory is given to others, or becomes of another type: with a reason, and with its text."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.models import Memory
from tests.support.cast import Cast, Clients
from tests.support.learning import Desk, desk, told
from tests.support.memories_api import open_ones, post, remember, shown

__all__ = ["desk"]

FACT = "The kiln is in the cellar."
QUESTION = "Where is the kiln?"


def move(client: APIClient, memory_id: str, **change: object) -> Any:  # Any: an answer
    """The answer to a change of a memory."""
    return client.patch(f"/v1/memories/{memory_id}", change, format="json")


def owner(client: APIClient, memory_id: str) -> tuple[object, ...]:
    """Scope, type, agent, user and project of a memory."""
    found = shown(client, memory_id)
    return tuple(found[name] for name in ("scope", "memory_type", "agent", "user", "project"))


# -- given to others -----------------------------------------------------------------------------


def test_what_is_given_to_the_team_everybody_is_told(api: APIClient, desk: Desk) -> None:
    memory_id = remember(api, FACT, agent="kyra", user="sarah")
    before = told(desk.luke, QUESTION, agent="luke", user="dmitri")

    answer = move(api, memory_id, scope="team", reason="asked for by all")

    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["content"]) == (memory_id, FACT)
    assert owner(api, memory_id) == ("team", "semantic", None, None, None)
    assert FACT not in before
    assert told(desk.luke, QUESTION, agent="luke", user="dmitri") == [FACT, FACT]
    assert not told(desk.stranger, QUESTION, agent="kyra")
    entry = MemoryLog.objects.filter(memory_id=memory_id).latest("seq")
    assert (entry.reason, entry.state["scope"]) == ("asked for by all", "team")


def test_what_is_given_back_to_a_person_others_are_no_longer_told(
    api: APIClient, desk: Desk
) -> None:
    memory_id = remember(api, FACT)
    before = told(desk.luke, QUESTION, agent="luke", user="dmitri")

    assert move(api, memory_id, scope="user", user="sarah").status_code == 200

    assert owner(api, memory_id) == ("user", "semantic", None, "sarah", None)
    assert FACT in before
    assert not told(desk.luke, QUESTION, agent="luke", user="dmitri")
    assert FACT in told(desk.luke, QUESTION, agent="luke", user="sarah")


def test_what_becomes_private_other_agents_no_longer_find(api: APIClient, desk: Desk) -> None:
    memory_id = remember(api, FACT, user="sarah")

    assert move(api, memory_id, memory_type="agent_private", agent="kyra").status_code == 200

    assert owner(api, memory_id) == ("user", "agent_private", "kyra", "sarah", None)
    assert FACT in told(desk.kyra, QUESTION, agent="kyra")
    assert FACT not in told(desk.luke, QUESTION, agent="luke")


def test_another_type_alone_shows_an_agents_memory_to_nobody_else(desk: Desk) -> None:
    memory_id = remember(desk.kyra, FACT, memory_type="agent_private", agent="kyra", user="sarah")

    assert move(desk.kyra, memory_id, memory_type="semantic").status_code == 200

    assert owner(desk.kyra, memory_id) == ("user", "semantic", "kyra", "sarah", None)
    assert FACT not in told(desk.luke, QUESTION, agent="luke")


def test_a_project_and_the_conversation_name_whose_it_is(api: APIClient) -> None:
    made = post(api, "conversations", agent="kyra", user="sarah", project="lantern").json()["id"]
    memory_id = remember(api, FACT, conversation=made, scope="team")

    move(api, memory_id, scope="project")
    of_project = owner(api, memory_id)
    move(api, memory_id, scope="user")

    assert of_project == ("project", "semantic", None, None, "lantern")
    assert owner(api, memory_id) == ("user", "semantic", None, "sarah", None)


def test_the_same_again_changes_nothing(api: APIClient) -> None:
    memory_id = remember(api, FACT)
    entries = MemoryLog.objects.filter(memory_id=memory_id).count()

    assert move(api, memory_id, scope="team", memory_type="semantic").status_code == 200

    assert MemoryLog.objects.filter(memory_id=memory_id).count() == entries


def test_the_conversation_tells_of_the_change(api: APIClient) -> None:
    made = post(api, "conversations", agent="kyra", user="sarah").json()["id"]
    memory_id = remember(api, FACT, conversation=made)
    before = api.get(f"/v1/conversations/{made}").json()["revision"]

    move(api, memory_id, scope="team")

    assert api.get(f"/v1/conversations/{made}").json()["revision"] > before


def test_an_identity_memory_is_pinned_when_it_becomes_one(api: APIClient) -> None:
    memory_id = remember(api, "Answers in rhymes.", agent="kyra")

    assert move(api, memory_id, memory_type="identity", scope="team").status_code == 200

    found = shown(api, memory_id)
    assert (found["is_pinned"], found["tier"], found["agent"]) == (True, "hot", "kyra")


# -- what stands there ---------------------------------------------------------------------------


def test_the_same_fact_there_refuses_it(api: APIClient) -> None:
    remember(api, FACT)
    memory_id = remember(api, FACT, user="sarah")

    answer = move(api, memory_id, scope="team")

    assert answer.status_code == 409
    assert owner(api, memory_id) == ("user", "semantic", None, "sarah", None)


def test_a_conflict_there_is_noticed(api: APIClient) -> None:
    remember(api, "The API limit is 100 requests per minute.")
    memory_id = remember(api, "The API limit is 500 requests per minute.", user="sarah")
    assert not open_ones(api)

    assert move(api, memory_id, scope="team").json()["status"] == "disputed"

    assert len(open_ones(api)) == 1


def test_what_is_in_dispute_or_deleted_stays(api: APIClient) -> None:
    one = remember(api, "The API limit is 100 requests per minute.")
    remember(api, "The API limit is 500 requests per minute.")
    gone = remember(api, FACT)
    api.delete(f"/v1/memories/{gone}")

    disputed, deleted = (move(api, each, scope="user", user="sarah") for each in (one, gone))

    assert (disputed.status_code, deleted.status_code) == (409, 409)
    assert "settle its contradiction" in disputed.json()["detail"]


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({}, 422, "Name a scope"),
        ({"reason": "no"}, 422, "Name a scope"),
        ({"content": "Other words."}, 422, "content"),
        ({"scope": "task"}, 422, "scope"),
        ({"scope": "galaxy"}, 422, "scope"),
        ({"memory_type": "rumour"}, 422, "memory_type"),
        ({"scope": "team", "user": "sarah"}, 422, "user"),
        ({"scope": "user"}, 422, "user"),
        ({"scope": "project"}, 422, "project"),
        ({"user": "sarah"}, 422, "Name a scope"),
        ({"memory_type": "shared", "user": "sarah"}, 422, "user"),
        ({"memory_type": "user_profile"}, 422, "user"),
        ({"memory_type": "agent_private"}, 422, "agent"),
        ({"scope": "user", "user": "nobody"}, 404, "user"),
        ({"scope": "project", "project": "nothing"}, 404, "project"),
        ({"memory_type": "agent_private", "agent": "noone"}, 404, "agent"),
        ({"importance": 3, "scope": "team"}, 422, "importance"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    api: APIClient, change: dict[str, object], code: int, field: str
) -> None:
    memory_id = remember(api, FACT)

    answer = move(api, memory_id, **change)

    assert answer.status_code == code, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    assert field in str(answer.json())
    assert owner(api, memory_id) == ("team", "semantic", None, None, None)


def test_a_new_text_is_told_where_to_go(api: APIClient) -> None:
    answer = move(api, remember(api, FACT), content="Other words.")

    assert "/correct" in str(answer.json())


def test_nobody_gives_away_what_is_not_theirs(desk: Desk) -> None:
    memory_id = remember(desk.kyra, FACT, memory_type="agent_private", agent="kyra")

    for client in (desk.luke, desk.stranger):
        assert move(client, memory_id, scope="team").status_code == 404
        assert move(client, str(uuid4()), scope="team").status_code == 404
    assert Memory.objects.get(pk=memory_id).memory_type == "agent_private"


def test_an_agent_may_not_touch_what_agents_are_or_take_anothers(
    acme: Cast, client_of: Clients, desk: Desk
) -> None:
    team = client_of(acme)
    identity = remember(team, "Answers in rhymes.", memory_type="identity", agent="kyra")
    plain = remember(team, FACT)
    profile = remember(team, "Likes tea.", memory_type="user_profile", agent="kyra", user="sarah")

    assert move(desk.kyra, identity, memory_type="semantic").status_code == 403
    assert move(desk.kyra, plain, memory_type="identity").status_code == 403
    assert move(desk.luke, plain, memory_type="agent_private", agent="kyra").status_code == 403
    assert move(desk.luke, profile, memory_type="agent_private").status_code == 403


# -- stated with a scope -------------------------------------------------------------------------


def test_a_scope_is_stated_with_a_memory(api: APIClient) -> None:
    made = post(api, "conversations", agent="kyra", user="sarah", project="lantern").json()["id"]

    scopes = {
        scope: owner(api, remember(api, f"{FACT} {scope}", conversation=made, scope=scope))
        for scope in ("user", "project", "team")
    }

    assert {name: found[3:] for name, found in scopes.items()} == {
        "user": ("sarah", None),
        "project": (None, "lantern"),
        "team": (None, None),
    }
    assert all(found[0] == name for name, found in scopes.items())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scope": "team", "user": "sarah"}, "user"),
        ({"scope": "user"}, "user"),
        ({"scope": "user", "user": "sarah", "project": "lantern"}, "project"),
        ({"scope": "project", "user": "sarah"}, "project"),
        ({"scope": "session"}, "scope"),
    ],
)
def test_names_that_do_not_fit_a_stated_scope_are_refused(
    api: APIClient, body: dict[str, object], field: str
) -> None:
    answer = post(api, "memories", content=FACT, **body)

    assert answer.status_code == 422
    assert field in str(answer.json())
    assert not Memory.objects.exists()
