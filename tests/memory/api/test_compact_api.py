"""Compaction over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from rest_framework.test import APIClient

from memory.models import Compaction, Memory
from memory.understanding.tools import Tools
from memory.writing.pipeline import run_job
from teams.models import Message
from tests.support.cast import Cast, Clients
from tests.support.memories_api import TALK, post, shown, talk

__all__ = ["talk"]


def test_a_compaction_answers_with_what_the_context_may_now_hold(api: APIClient, talk: str) -> None:
    response = post(api, f"{talk}/compact", keep_last=1)

    assert response.status_code == 200
    told = response.json()
    assert set(told) == {"summary", "kept", "compacted", "extraction"}
    assert told["compacted"] == {"from": 1, "to": 3, "count": 3}
    assert [each["content"] for each in told["kept"]] == TALK[3:]
    assert "peanuts" in told["summary"]
    assert told["extraction"]["created"] == len(told["extraction"]["memories"]) > 0
    for memory_id in told["extraction"]["memories"]:
        assert shown(api, memory_id)["provenance"]["message_ids"]


def test_a_compaction_by_tokens_keeps_what_fits(api: APIClient, talk: str) -> None:
    told = post(api, f"{talk}/compact", max_tokens=8).json()

    assert [each["content"] for each in told["kept"]] == TALK[3:]


def test_compacting_again_answers_the_same_and_stores_nothing(api: APIClient, talk: str) -> None:
    first = post(api, f"{talk}/compact", keep_last=1).json()
    stored = Memory.objects.count()

    again = post(api, f"{talk}/compact", keep_last=1).json()

    assert (again["summary"], again["kept"]) == (first["summary"], first["kept"])
    assert again["compacted"]["count"] == 0
    assert again["extraction"]["created"] == 0
    assert Memory.objects.count() == stored


def test_keeping_more_than_there_is_compacts_nothing(api: APIClient, talk: str) -> None:
    told = post(api, f"{talk}/compact", keep_last=1_000).json()

    assert (told["summary"], told["compacted"]) == ("", {"from": 0, "to": 0, "count": 0})
    assert [each["content"] for each in told["kept"]] == TALK
    assert not Compaction.objects.exists()


def test_a_budget_below_one_message_keeps_none(api: APIClient, talk: str) -> None:
    told = post(api, f"{talk}/compact", max_tokens=1).json()

    assert (told["kept"], told["compacted"]["count"]) == ([], 4)


def test_an_empty_conversation_is_compacted_to_nothing(api: APIClient) -> None:
    path = f"conversations/{post(api, 'conversations', agent='kyra', user='sarah').json()['id']}"

    told = post(api, f"{path}/compact", keep_last=0).json()

    assert (told["summary"], told["kept"], told["compacted"]["count"]) == ("", [], 0)


def test_what_takes_too_long_is_followed_by_its_job_and_asked_for_again(
    api: APIClient, talk: str, tools: Tools, acme: Cast, settings: Any
) -> None:
    # Any: pytest-django's settings wrapper
    settings.EXTRACTION_WINDOW_MESSAGES = 2
    settings.COMPACT_WAIT_SECONDS = 0.0

    first = post(api, f"{talk}/compact", keep_last=0)

    assert first.status_code == 202
    assert not Compaction.objects.exists()
    job = first.json()["job"]
    assert first["Location"] == f"/v1/jobs/{job}"
    followed = api.get(first["Location"]).json()
    assert (followed["state"], followed["messages"], followed["messages_done"]) == ("queued", 4, 2)
    assert followed["result"] is None
    run_job(team_id=acme.team.id, job_id=UUID(job), tools=tools)
    assert api.get(first["Location"]).json()["messages_done"] == 4
    again = post(api, f"{talk}/compact", keep_last=0)
    assert again.status_code == 200
    assert again.json()["compacted"] == {"from": 1, "to": 4, "count": 4}
    assert again.json()["extraction"]["created"] > 0


def test_every_message_is_still_read_after_a_compaction(api: APIClient, talk: str) -> None:
    post(api, f"{talk}/compact", keep_last=0)

    rows = api.get(f"/v1/{talk}/messages").json()["results"]

    assert [each["content"] for each in rows] == TALK
    assert Message.objects.count() == 4


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"keep_last": 1, "max_tokens": 1},
        {"keep_last": -1},
        {"max_tokens": -1},
        {"keep_last": "1"},
        {"keep_last": True},
        {"keep_last": 1.5},
        {"keep_last": None},
        {"keep": 1},
    ],
)
def test_what_to_keep_is_said_in_one_way(
    api: APIClient, talk: str, body: dict[str, object]
) -> None:
    response = post(api, f"{talk}/compact", **body)

    assert response.status_code == 422
    assert response.json()["errors"]
    assert not Compaction.objects.exists()


def test_no_stranger_compacts(
    api: APIClient, talk: str, acme: Cast, globex: Cast, client_of: Clients
) -> None:
    for stranger in (client_of(acme, acme.luke), client_of(globex)):
        assert post(stranger, f"{talk}/compact", keep_last=0).status_code == 404

    assert not Compaction.objects.exists()
    assert post(api, f"conversations/{uuid4()}/compact", keep_last=0).status_code == 404
