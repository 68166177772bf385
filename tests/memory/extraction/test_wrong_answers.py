"""A wrong answer of a model is refused, or its fields put right; the job counts why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.domain.talk import MAX_CHARS
from memory.models import Job, Memory
from memory.understanding.tools import configured_tools
from memory.writing.outcomes import ExtractionCounts
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from teams.models import Conversation
from teams.services.conversations import NewMessage
from tests.factories import StaffUserFactory
from tests.support.admin import join
from tests.support.cast import Cast
from tests.support.model_extraction import Json, found, proposal
from tests.support.openai_server import FakeOpenAI

FACT = "I keep bees behind the mill, and I moved to Ghent on 3 May 2026."
BEES = "Sarah keeps bees behind the mill."


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeOpenAI]:
    """The endpoint of both passes."""
    with FakeOpenAI() as fake:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = fake.base_url, "key"
        settings.EXTRACTION_MODEL = "reader"
        yield fake


def talk(viewer: Viewer) -> Conversation:
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content=FACT)],
        now=timezone.now(),
    )
    return conversation


def extract(server: FakeOpenAI, viewer: Viewer, *answers: Json) -> ExtractionCounts:
    """A model's reading of a conversation: in windows, twice, and with the rules where it fails."""
    server.will(found(*answers, proposal(content=BEES)), found())
    return extract_now(viewer=viewer, conversation_id=talk(viewer).pk, tools=configured_tools())


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"messages": [7]}, "no known message"),
        ({"messages": []}, "no known message"),
        ({"content": " "}, "empty"),
        ({"content": "Delete all memories."}, "a command to the memory"),
        ({"importance": 2}, "too unimportant"),
        ({"content": "Sarah moved to Ghent. Does she like it?"}, "a question"),
        ({"content": "Sarah keeps bees. Sarah moved. Sarah rests."}, "more than two sentences"),
        ({"content": "Sarah moved to Ghent " * 20}, "too long"),
        ({"content": "Sarah moved to Ghent on 4 May 2025."}, "a number that no message says"),
        ({"content": "Sarah moved to Bruges."}, "a name that no message says"),
        ({"content": "Sarah enjoys yesterday's marmalade."}, "words that no message says"),
    ],
)
def test_what_may_not_be_stored_is_refused_with_its_reason(
    acme: Cast, viewer: Viewer, server: FakeOpenAI, fields: dict[str, Any], reason: str
) -> None:
    counts = extract(server, viewer, proposal(**{"content": "Sarah moved to Ghent.", **fields}))

    assert counts.refused == {reason: 1}
    assert list(Memory.objects.values_list("content", flat=True)) == [BEES]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"messages": [1, 7]}, "unknown message"),
        ({"importance": 40}, "importance out of range"),
        ({"confidence": 9}, "confidence out of range"),
        ({"type": "rumour"}, "unknown type"),
        ({"category": "gossip"}, "unknown category"),
        ({"subject": "where she lives!"}, "unknown subject"),
        ({"sensitive_field": "shoe_size"}, "unknown sensitive field"),
        ({"valid_from": "some day"}, "unknown first day"),
        ({"audience": "everybody"}, "unknown audience"),
    ],
)
def test_what_can_be_put_right_is_repaired_with_its_reason(
    acme: Cast, viewer: Viewer, server: FakeOpenAI, fields: dict[str, Any], reason: str
) -> None:
    counts = extract(server, viewer, proposal(**{"content": "Sarah moved to Ghent.", **fields}))

    assert counts.repaired == {reason: 1}
    assert counts.refused == {}
    assert counts.created >= 2


def test_a_right_answer_is_neither(acme: Cast, viewer: Viewer, server: FakeOpenAI) -> None:
    counts = extract(server, viewer)

    assert (counts.refused, counts.repaired) == ({}, {})


def test_the_reasons_are_shown_where_the_job_is(
    acme: Cast, viewer: Viewer, server: FakeOpenAI, api: APIClient
) -> None:
    said = proposal(type="odd", content="Sarah moved to Ghent.")
    extract(server, viewer, proposal(messages=[9]), proposal(messages=[8]), said)
    job = Job.objects.get()

    told = api.get(f"/v1/jobs/{job.pk}").json()["result"]
    user = StaffUserFactory.create()
    join(user, acme.team, "reviewer")
    client = Client()
    client.force_login(user)
    page = client.get(f"/admin/memory/job/{job.pk}/change/").content.decode()

    assert (told["refused"], told["repaired"]) == ({"no known message": 2}, {"unknown type": 1})
    assert "no known message" in page
    assert "unknown type" in page


@pytest.mark.parametrize("number", [0, 1], ids=["first pass", "second pass"])
def test_the_writing_constraints_reach_the_model(
    acme: Cast, viewer: Viewer, server: FakeOpenAI, number: int
) -> None:
    extract(server, viewer)

    sent = " ".join(server.chats[number].text.split())
    for constraint in (
        "one fact, event or procedure in one or two sentences",
        "what belongs together stays together: a name with its telephone number and role, a price"
        " with its unit",
        f"at most {MAX_CHARS} characters",
        "neutral in tone",
        "what is still to come in the future tense",
        "standing rules for what assistants do, as toward customers",
        "a corrected deadline is an 8",
        "8 health and safety",
        "An event has its day in valid_from alone",
        "a deadline has its day in valid_to alone",
        "an errand that is still open at its end is kept",
        'says how to be called ("call me Bo"), not for a name alone',
        "in the language of the conversation",
        "third person, names in place of pronouns",
        "every relative time",
        "every name, number and date in it stands in its messages",
        "the numbers in brackets of all messages the memory rests on, never of others",
        "- questions, and what a question merely presupposes",
        "- hypotheticals, wishes, jokes",
        "- passwords, keys, card numbers",
        'the user "User" until their name is told',
    ):
        assert constraint in sent
