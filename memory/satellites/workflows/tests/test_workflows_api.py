"""Workflows by the API: stated whole, or recorded; who sees a recording, and what is refused."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from memory.models import Memory
from memory.satellites.workflows.models import WorkflowRecording
from memory.satellites.workflows.recording import MOST_OPEN, MOST_STEPS
from tests.support.cast import Cast, Clients, switch
from tests.support.memories_api import post

DEPLOY = {
    "trigger": "deploy",
    "steps": ["test", "build", "prod"],
    "details": {"test": "pnpm test"},
}
RECORDINGS = "workflows/recordings"


def begin(api: APIClient, **fields: object) -> str:
    """The path of a new recording."""
    answer = post(api, RECORDINGS, **{"trigger": "deploy", **fields})
    assert answer.status_code == 201, answer.content
    return f"{RECORDINGS}/{answer.json()['id']}"


def refusal(answer: Any) -> tuple[int, list[str]]:
    """The status of a refusal, and the fields that it names."""
    return answer.status_code, list(answer.json().get("errors") or {})


def test_a_workflow_is_a_memory_of_its_form(api: APIClient) -> None:
    made = post(api, "workflows", **DEPLOY, project="apollo", reason="agreed on Monday")
    again = post(api, "workflows", **DEPLOY, project="apollo")

    assert (made.status_code, again.status_code) == (201, 200)
    told = made.json()
    assert (told["memory_type"], told["form"]) == ("procedural", "workflow")
    assert told["content"] == "deploy: test → build → prod"
    assert (told["payload"], told["project"]) == (DEPLOY, "apollo")
    assert again.json()["id"] == told["id"]
    history = api.get(f"/v1/memories/{told['id']}/history")
    assert "agreed on Monday" in history.content.decode()


def test_a_workflow_is_recorded_step_by_step(api: APIClient) -> None:
    path = begin(api, agent="kyra", project="apollo")
    post(api, f"{path}/steps", name="test", detail="pnpm test")
    noted = post(api, f"{path}/steps", name="prod")

    under_way = api.get(f"/v1/{RECORDINGS}").json()["results"]
    finished = post(api, f"{path}/finish")

    assert noted.status_code == 201
    assert noted.json()["steps"] == [
        {"name": "test", "detail": "pnpm test"},
        {"name": "prod", "detail": ""},
    ]
    assert under_way == [noted.json()]
    assert finished.status_code == 201
    assert finished.json()["content"] == "deploy: test → prod"
    assert (finished.json()["agent"], finished.json()["project"]) == ("kyra", "apollo")
    read = api.get(f"/v1/{path}").json()
    assert (read["status"], read["memory"]) == ("finished", finished.json()["id"])
    assert api.get(f"/v1/{RECORDINGS}").json()["results"] == []
    assert len(api.get(f"/v1/{RECORDINGS}?status=all").json()["results"]) == 1


def test_one_that_is_discarded_makes_no_memory(api: APIClient) -> None:
    path = begin(api)
    post(api, f"{path}/steps", name="test")

    dropped = post(api, f"{path}/discard")

    assert (dropped.status_code, dropped.json()["status"]) == (200, "discarded")
    assert dropped.json()["steps"] == []
    assert Memory.objects.count() == 0


@pytest.mark.parametrize("end", ["finish", "discard"])
def test_one_that_ended_takes_nothing_more(api: APIClient, end: str) -> None:
    path = begin(api)
    post(api, f"{path}/steps", name="test")
    post(api, f"{path}/{end}")

    refused = [
        post(api, f"{path}/steps", name="late"),
        post(api, f"{path}/finish"),
        post(api, f"{path}/discard"),
    ]

    assert [each.status_code for each in refused] == [409, 409, 409]
    assert Memory.objects.count() == (1 if end == "finish" else 0)


def test_one_without_a_step_is_not_finished(api: APIClient) -> None:
    path = begin(api)

    assert post(api, f"{path}/finish").status_code == 409
    assert post(api, f"{path}/steps", name="test").status_code == 201


def test_nobody_else_finds_a_recording(acme: Cast, globex: Cast, client_of: Clients) -> None:
    path = begin(client_of(acme, acme.kyra))
    team = client_of(acme)

    for stranger in (client_of(acme, acme.luke), client_of(globex)):
        for target in (path, f"{RECORDINGS}/{uuid4()}"):
            answers = [
                stranger.get(f"/v1/{target}"),
                post(stranger, f"{target}/steps", name="test"),
                post(stranger, f"{target}/finish"),
                post(stranger, f"{target}/discard"),
            ]
            assert [each.status_code for each in answers] == [404] * 4
        assert stranger.get(f"/v1/{RECORDINGS}?status=all").json()["results"] == []
    assert team.get(f"/v1/{path}").json()["steps"] == []
    assert post(team, f"{path}/steps", name="test").status_code == 201


def test_a_key_of_one_agent_acts_as_no_other(acme: Cast, client_of: Clients) -> None:
    luke = client_of(acme, acme.luke)

    assert refusal(post(luke, "workflows", **DEPLOY, agent="kyra")) == (403, ["agent"])
    assert refusal(post(luke, RECORDINGS, trigger="deploy", agent="kyra")) == (403, ["agent"])
    assert WorkflowRecording.objects.count() == Memory.objects.count() == 0


def test_workflows_are_off_where_memory_is(acme: Cast, client_of: Clients) -> None:
    api = client_of(acme)
    path = begin(api)
    switch(acme, memory=False)

    assert post(api, "workflows", **DEPLOY).status_code == 403
    assert post(api, RECORDINGS, trigger="deploy").status_code == 403
    assert post(api, f"{path}/steps", name="test").status_code == 403


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"trigger": " "}, "trigger"),
        ({"trigger": "x" * 201}, "trigger"),
        ({"steps": []}, "steps"),
        ({"steps": ["s"] * 201}, "steps"),
        ({"steps": "test"}, "steps"),
        ({"details": {"fly": "up"}}, "details.fly"),
        ({"details": {"test": "x" * 32_001}}, "details.test"),
        ({"steps": ["a", "b"], "details": {"a": "x" * 20_000, "b": "y" * 20_000}}, "steps"),
        ({"agent": "two words"}, "agent"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_workflow_is_refused_by_its_field(
    api: APIClient, changes: dict[str, object], field: str
) -> None:
    assert refusal(post(api, "workflows", **{**DEPLOY, **changes})) == (422, [field])
    assert Memory.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "test", "detail": "x" * 32_001}, "detail"),
        ({"name": "test", "detail": ["x"]}, "detail"),
        ({"name": "test", "step": 1}, "step"),
    ],
)
def test_a_wrong_step_is_refused_by_its_field(
    api: APIClient, body: dict[str, object], field: str
) -> None:
    path = begin(api)

    assert refusal(post(api, f"{path}/steps", **body)) == (422, [field])
    assert api.get(f"/v1/{path}").json()["steps"] == []


def test_what_is_too_much_is_refused_and_the_rest_stays(api: APIClient, acme: Cast) -> None:
    path = begin(api)
    under_way = WorkflowRecording.objects.filter(team=acme.team)
    noted = [{"name": f"step {number}", "detail": ""} for number in range(MOST_STEPS - 2)]
    under_way.update(steps=noted)
    post(api, f"{path}/steps", name="one", detail="x" * 20_000)
    others = (WorkflowRecording(team=acme.team, trigger="x") for _ in range(MOST_OPEN - 1))
    WorkflowRecording.objects.bulk_create(others)

    long = post(api, f"{path}/steps", name="two", detail="y" * 20_000)
    fits = post(api, f"{path}/steps", name="two")
    many = post(api, f"{path}/steps", name="three")
    other = post(api, RECORDINGS, trigger="deploy")

    assert [each.status_code for each in (long, fits, many, other)] == [413, 201, 413, 409]
    assert "finish or discard" in other.json()["detail"]
    kept = api.get(f"/v1/{path}").json()["steps"]
    assert [each["name"] for each in kept[-2:]] == ["one", "two"]
    assert len(kept) == MOST_STEPS


def test_a_step_sent_twice_under_a_key_is_noted_once(api: APIClient) -> None:
    path = begin(api)
    headers = {"Idempotency-Key": "once"}
    for _ in range(2):
        api.post(f"/v1/{path}/steps", {"name": "test"}, format="json", headers=headers)

    assert len(api.get(f"/v1/{path}").json()["steps"]) == 1
