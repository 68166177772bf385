"""Workflows are no part of talk: they are included where asked for (seed 004, §12)."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from teams.models import Team
from tests.support.cast import Cast
from tests.support.memories_api import post

TALK = "When does the office open on Monday?"
CODING = "Implement the function that opens the office door: which steps does the code take?"
HINT = "open the office: unlock the door → switch on the lights"
WORKFLOW = {"trigger": "open the office", "steps": ["unlock the door", "switch on the lights"]}
FACT = "The office opens at nine on Monday."


@pytest.fixture
def known(api: APIClient) -> None:
    """A workflow and a fact about the same."""
    assert post(api, "workflows", **WORKFLOW).status_code == 201
    assert post(api, "memories", content=FACT).status_code == 201


def context(api: APIClient, request: str) -> Any:
    """The read-only block for a request."""
    return api.get("/v1/memory/context", {"user_request": request, "agent": "kyra"}).json()


@pytest.mark.usefixtures("known")
def test_prompts_are_told_it_on_request_alone(api: APIClient) -> None:
    for path in ("prompt", "retrieve"):
        answer = post(api, path, agent="kyra", query=TALK)
        assert FACT in answer.content.decode()
        assert HINT not in [each["content"] for each in answer.json()["memories"]]
    asked = post(api, "retrieve", agent="kyra", query=TALK, memory_types=["procedural"])
    assert [each["content"] for each in asked.json()["memories"]] == [HINT]


@pytest.mark.usefixtures("known")
def test_context_tells_it_to_who_codes_and_not_in_talk(api: APIClient, acme: Cast) -> None:
    talk, coding = context(api, TALK), context(api, CODING)

    assert HINT not in talk["context"]
    assert HINT in coding["context"]
    every = {"categories": {"coding": ["*"], "general": ["*"]}}
    Team.objects.filter(pk=acme.team.pk).update(context_settings=every)
    for request in (TALK, CODING):
        answer = context(api, request)
        assert FACT in answer["context"]
        assert HINT not in answer["context"]
        assert "category" in {each["cause"] for each in answer["left_out"]}


@pytest.mark.usefixtures("known")
def test_what_is_pinned_is_told_to_all(api: APIClient, acme: Cast) -> None:
    (row,) = api.get("/v1/memories?form=workflow").json()["results"]
    post(api, f"memories/{row['id']}/pin", pinned=True)
    Team.objects.filter(pk=acme.team.pk).update(
        context_settings={"categories": {"general": ["*"], "coding": ["*"]}}
    )

    assert HINT in context(api, CODING)["context"]
    assert HINT in post(api, "prompt", agent="kyra", query=TALK).json()["prompt"]
