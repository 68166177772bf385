"""Owners of memories that a language model wrote: the model decides, and nothing overrules it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.understanding.tools import configured_tools
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from teams.models import Team
from teams.services.conversations import NewMessage
from tests.support.cast import Cast
from tests.support.model_extraction import found, proposal
from tests.support.openai_server import FakeOpenAI

SAID = "Between us, and don't tell the others: invoices always go to Ghent first."
WRITTEN = "Invoices always go to Ghent first."


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = fake.base_url, "key"
        settings.EXTRACTION_MODEL = "reader"
        yield fake


def stored(viewer: Viewer, server: FakeOpenAI, **fields: Any) -> Memory:  # Any: of a proposal
    """The memory of one proposal of the model's about what was said."""
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content=SAID)],
        now=timezone.now(),
    )
    fields = {"category": "none", **fields}
    server.will(found(proposal(content=WRITTEN, subject="", **fields)), found())
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=configured_tools())
    return Memory.objects.get()


def test_what_the_model_calls_a_confidence_stays_with_the_agent(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    memory = stored(viewer, server, audience="agent", importance=10)

    assert memory.memory_type == MemoryType.AGENT_PRIVATE
    assert (memory.agent_id, memory.is_pinned) == (acme.kyra.pk, False)


def test_no_words_of_the_message_make_it_one(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    memory = stored(viewer, server, audience="person")

    assert (memory.memory_type, memory.agent_id) == (MemoryType.SEMANTIC, None)
    assert memory.end_user_id == acme.sarah.pk


@pytest.mark.parametrize("memory_type", ["semantic", "procedural", "shared"])
def test_what_the_model_calls_the_teams_is_known_to_all_its_agents(
    acme: Cast, viewer: Viewer, server: FakeOpenAI, memory_type: str
) -> None:
    Team.objects.filter(pk=acme.team.pk).update(
        feature_flags={"team_facts": True}, person_role="member"
    )

    memory = stored(viewer, server, audience="team", type=memory_type)

    assert memory.memory_type == memory_type
    assert (memory.agent_id, memory.end_user_id) == (None, None)
    assert not ConsentRequest.objects.exists()


def test_what_a_guest_says_is_the_guests_whatever_the_model_calls_it(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    Team.objects.filter(pk=acme.team.pk).update(feature_flags={"team_facts": True})

    memory = stored(viewer, server, audience="team")

    assert memory.end_user_id == acme.sarah.pk


@pytest.mark.parametrize(("audience", "form"), [("team", "convention"), ("person", "")])
def test_a_category_of_the_teams_work_is_the_form(
    acme: Cast, viewer: Viewer, server: FakeOpenAI, audience: str, form: str
) -> None:
    Team.objects.filter(pk=acme.team.pk).update(person_role="member")

    memory = stored(viewer, server, audience=audience, category="convention")

    assert (memory.form, memory.payload) == (form, {"convention": WRITTEN} if form else {})
