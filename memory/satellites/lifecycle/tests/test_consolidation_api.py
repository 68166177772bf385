"""Consolidation over HTTP: started, listed and taken back with a key of the team."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory
from teams.models import Agent
from tests.support.cast import Cast
from tests.support.writing import live, store

ClientOf = Callable[..., APIClient]
TEA = "Sarah drinks her green tea in the morning."
TEA_AGAIN = "Sarah drinks green tea in the morning."


def test_a_dry_run_answers_with_what_would_change(
    acme: Cast, tools: Tools, client_of: ClientOf
) -> None:
    kept, gone = store(acme, tools, TEA, TEA_AGAIN)

    answer = client_of(acme).post(
        "/v1/consolidate",
        {"dry_run": True, "steps": ["deduplicate"], "wait": True},
        format="json",
    )

    assert answer.status_code == 200
    (change,) = answer.json()["changes"]
    assert answer.json()["counts"]["deduplicate"]["planned"] == 1
    assert (change["memory"], change["other"]) == (str(gone.pk), str(kept.pk))
    assert (change["before"], change["after"]["status"]) == ({"status": "active"}, "superseded")
    assert len(live(acme)) == 2


def test_a_run_is_listed_with_its_changes_and_taken_back(
    acme: Cast, tools: Tools, client_of: ClientOf
) -> None:
    store(acme, tools, TEA, TEA_AGAIN)
    client = client_of(acme)
    run = client.post("/v1/consolidate", {"wait": True}, format="json").json()
    page = f"/v1/consolidate/runs/{run['id']}"

    assert live(acme) == [TEA]
    assert client.get("/v1/consolidate/runs").json()["results"][0]["id"] == run["id"]
    assert client.get(page).json()["state"] == "done"
    (change,) = client.get(f"{page}/changes?step=deduplicate").json()["results"]
    assert change["state"] == "made"
    assert client.get(f"{page}/changes?state=left_out").json()["results"] == []
    assert client.post(f"{page}/undo").json()["state"] == "undone"
    assert sorted(live(acme)) == sorted([TEA, TEA_AGAIN])
    assert client.post(f"{page}/undo").status_code == 409


def test_undo_names_the_memories_that_changed_since(
    acme: Cast, tools: Tools, client_of: ClientOf
) -> None:
    kept, _ = store(acme, tools, TEA, TEA_AGAIN)
    client = client_of(acme)
    run = client.post("/v1/consolidate", {"wait": True}, format="json").json()
    delete_memory(viewer=Viewer(team_id=acme.team.id, actor="test"), memory_id=kept.pk)

    refused = client.post(f"/v1/consolidate/runs/{run['id']}/undo")

    assert refused.status_code == 409
    assert refused.json()["memories"] == [str(kept.pk)]


def test_a_run_of_one_person_leaves_the_others_alone(
    acme: Cast, tools: Tools, client_of: ClientOf
) -> None:
    for person in (acme.sarah, acme.dmitri):
        store(acme, tools, TEA, TEA_AGAIN, end_user_id=person.pk)

    run = client_of(acme).post("/v1/consolidate", {"user": "sarah", "wait": True}, format="json")

    assert run.json()["user"] == "sarah"
    assert sorted(live(acme)) == sorted([TEA, TEA, TEA_AGAIN])


def test_bad_input_starts_nothing(acme: Cast, globex: Cast, client_of: ClientOf) -> None:
    client = client_of(acme)

    def send(**given: object) -> int:
        return client.post("/v1/consolidate", given, format="json").status_code

    assert send(steps=["polish"]) == 422
    assert send(steps=[]) == 422
    assert send(user="nobody-known") == 404
    assert send(project="nothing-known") == 404
    assert client.get("/v1/consolidate/runs").json()["results"] == []
    assert client.get(f"/v1/consolidate/runs/{uuid4()}").status_code == 404
    assert client.post(f"/v1/consolidate/runs/{uuid4()}/undo").status_code == 404
    other = client_of(globex).post("/v1/consolidate", {}, format="json").json()["id"]
    assert client.get(f"/v1/consolidate/runs/{other}").status_code == 404
    assert client.get(f"/v1/consolidate/runs/{other}/changes").status_code == 404


def test_an_agents_key_starts_and_sees_no_run(acme: Cast, kyra: Agent, client_of: ClientOf) -> None:
    client = client_of(acme, kyra)

    assert client.post("/v1/consolidate", {}, format="json").status_code == 403
    assert client.get("/v1/consolidate/runs").status_code == 403
