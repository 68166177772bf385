"""What recurs in an agent's talk waits for a yes, and is no memory before."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.workflows.proposing import propose_workflows
from tests.support.cast import Cast, Clients
from tests.support.memories_api import post

DEPLOY = ["test", "build", "stage", "verify", "prod"]
HINT = "please deploy: test → build → stage → verify → prod"


def talk(api: APIClient, user: str = "sarah", tools: list[str] | None = None) -> UUID:
    """A conversation of Kyra in which somebody wants a deployment."""
    made = post(api, "conversations", agent="kyra", user=user).json()
    said = [{"role": "user", "content": "Please deploy."}]
    said += [{"role": "tool", "name": each, "content": "ok"} for each in tools or DEPLOY]
    assert post(api, f"conversations/{made['id']}/messages", messages=said).status_code == 201
    return UUID(made["id"])


def proposed(acme: Cast, conversation: UUID) -> list[ConsentRequest]:
    """What a search after this conversation proposes."""
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


def test_what_recurs_with_several_people_belongs_to_the_agent(
    api: APIClient, acme: Cast, client_of: Clients
) -> None:
    talk(api, user="sarah")
    (request,) = proposed(acme, talk(api, user="dmitri"))

    assert (request.end_user_id, request.agent_id) == (None, acme.kyra.pk)
    luke, kyra = client_of(acme, acme.luke), client_of(acme, acme.kyra)
    assert luke.get("/v1/consent-requests").json()["results"] == []
    assert post(luke, f"consent-requests/{request.pk}/approve").status_code == 404
    assert post(kyra, f"consent-requests/{request.pk}/approve").status_code == 200
    assert Memory.objects.get().agent_id == acme.kyra.pk


def test_nothing_is_proposed_of_another_agents_talk(api: APIClient, acme: Cast) -> None:
    first = talk(api)
    other = post(api, "conversations", agent="luke", user="sarah").json()["id"]
    said = [{"role": "tool", "name": each, "content": "ok"} for each in DEPLOY]
    post(api, f"conversations/{other}/messages", messages=said)

    assert proposed(acme, UUID(other)) == proposed(acme, first) == []
