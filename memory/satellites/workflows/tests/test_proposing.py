"""A sequence that recurs in an agent's talk waits for a yes, and is no memory before."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Memory, MessageEntry
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.workflows.proposing import propose_workflows
from teams.models import Agent
from tests.support.cast import Cast, Clients
from tests.support.memories_api import post

DEPLOY = ["test", "build", "stage", "verify", "prod"]
HINT = "please deploy: test → build → stage → verify → prod"


def talk(
    api: APIClient,
    user: str = "sarah",
    tools: list[str] | None = None,
    audience: str | None = "person",
) -> UUID:
    """A conversation of Kyra in which somebody wants a deployment, of that audience."""
    made = post(api, "conversations", agent="kyra", user=user).json()
    said = [{"role": "user", "content": "Please deploy."}]
    said += [{"role": "tool", "name": each, "content": "ok"} for each in tools or DEPLOY]
    assert post(api, f"conversations/{made['id']}/messages", messages=said).status_code == 201
    MessageEntry.objects.filter(conversation_id=made["id"]).update(audience=audience)
    return UUID(made["id"])


def proposed(acme: Cast, conversation: UUID) -> list[ConsentRequest]:
    """Returns the requests that a search after this conversation proposes."""
    return propose_workflows(team_id=acme.team.id, conversation_id=conversation, now=timezone.now())


def test_a_sequence_said_twice_waits_and_a_yes_writes_it(api: APIClient, acme: Cast) -> None:
    assert proposed(acme, talk(api)) == []
    again = talk(api)

    (request,) = proposed(acme, again)

    assert (request.content, request.end_user_id) == (HINT, acme.sarah.pk)
    assert not Memory.objects.exists()
    (shown,) = api.get("/v1/consent-requests").json()["results"]
    assert (shown["kind"], shown["proposed"]) == ("workflow", HINT)

    assert post(api, f"consent-requests/{request.pk}/approve").status_code == 200

    (memory,) = Memory.objects.all()
    assert (memory.form, memory.memory_type) == ("workflow", "procedural")
    assert memory.payload == {"trigger": "please deploy", "steps": DEPLOY}
    assert (memory.agent_id, memory.end_user_id) == (acme.kyra.pk, acme.sarah.pk)


def test_what_was_asked_is_not_asked_again(api: APIClient, acme: Cast) -> None:
    talk(api)
    (request,) = proposed(acme, talk(api))
    assert proposed(acme, talk(api)) == []

    post(api, f"consent-requests/{request.pk}/reject")

    assert proposed(acme, talk(api)) == []
    assert proposed(acme, talk(api, tools=DEPLOY[1:])) == []
    assert ConsentRequest.objects.count() == 1
    assert not Memory.objects.exists()


def test_what_members_ask_for_the_team_is_the_teams_and_no_guests(
    api: APIClient, acme: Cast, client_of: Clients
) -> None:
    talk(api, user="sarah", audience="team")
    (request,) = proposed(acme, talk(api, user="dmitri", audience="team"))

    assert (request.end_user_id, request.agent_id) == (None, acme.kyra.pk)
    luke, kyra = client_of(acme, acme.luke), client_of(acme, acme.kyra)
    assert luke.get("/v1/consent-requests").json()["results"] == []
    assert post(luke, f"consent-requests/{request.pk}/approve").status_code == 404
    assert post(kyra, f"consent-requests/{request.pk}/approve").status_code == 200
    assert Memory.objects.get().audience == "team"
    asked = {"agent": "luke", "query": "please deploy", "memory_types": ["procedural"]}
    assert HINT not in post(api, "retrieve", user="sarah", **asked).content.decode()
    api.patch("/v1/users/sarah", {"role": "member"}, format="json")
    assert HINT in post(api, "retrieve", user="sarah", **asked).content.decode()


@pytest.mark.parametrize("audience", ["person", "agent", None])
def test_what_is_not_the_teams_is_counted_for_nobody_else(
    api: APIClient, acme: Cast, audience: str | None
) -> None:
    talk(api, user="sarah", audience=audience)

    assert proposed(acme, talk(api, user="dmitri", audience="team")) == []
    assert proposed(acme, talk(api, user="ada", audience=audience)) == []


@pytest.mark.parametrize("audience", ["agent", None])
def test_what_was_told_in_confidence_is_not_counted(
    api: APIClient, acme: Cast, audience: str | None
) -> None:
    talk(api, audience=audience)

    assert proposed(acme, talk(api, audience=audience)) == []


def test_an_agent_that_keeps_to_itself_learns_of_each_person(api: APIClient, acme: Cast) -> None:
    Agent.objects.filter(pk=acme.kyra.pk).update(keeps_to_itself=True)
    talk(api, user="dmitri", audience="agent")
    first = talk(api, audience="agent")

    assert proposed(acme, first) == []
    (request,) = proposed(acme, talk(api, audience="agent"))
    assert request.end_user_id == acme.sarah.pk


def test_nothing_is_proposed_of_another_agents_talk(api: APIClient, acme: Cast) -> None:
    first = talk(api)
    other = post(api, "conversations", agent="luke", user="sarah").json()["id"]
    said = [{"role": "tool", "name": each, "content": "ok"} for each in DEPLOY]
    post(api, f"conversations/{other}/messages", messages=said)

    assert proposed(acme, UUID(other)) == proposed(acme, first) == []
