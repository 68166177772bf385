"""The two passes may ask two models: each pass its own, and each memory names its finder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.test import override_settings
from django.utils import timezone

from config.embedded import PROJECT_ROOT
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.understanding.tools import configured_tools
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from teams.services.conversations import NewMessage
from tests.support.cast import Cast
from tests.support.model_extraction import found, proposal
from tests.support.openai_server import FakeOpenAI

FOUND_FIRST = "Sarah keeps bees."
FOUND_SECOND = "The greenhouse stands in Lisbon."


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """An endpoint on this machine that the settings name."""
    with FakeOpenAI() as running:
        yield running


def extract(server: FakeOpenAI, viewer: Viewer, *, review_model: str) -> dict[str, tuple[str, int]]:
    """Both passes over one message; extractor and pass of each stored memory by its text."""
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content="I keep bees. The greenhouse is in Lisbon.")],
        now=timezone.now(),
    )
    server.will(found(proposal(content=FOUND_FIRST)), found(proposal(content=FOUND_SECOND)))
    with override_settings(
        OPENAI_BASE_URL=server.base_url,
        OPENAI_API_KEY="key",
        EXTRACTION_MODEL="first-reader",
        REVIEW_MODEL=review_model,
    ):
        tools = configured_tools()
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=tools)
    rows = Memory.objects.filter(conversation=conversation)
    return {row.content: (row.extractor, row.extraction_pass or 0) for row in rows}


def test_each_pass_asks_its_own_model_and_its_memories_say_so(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    stored = extract(server, viewer, review_model="second-reader")

    assert [chat.body["model"] for chat in server.chats] == ["first-reader", "second-reader"]
    assert stored == {
        FOUND_FIRST: ("openai:first-reader", 1),
        FOUND_SECOND: ("openai:second-reader", 2),
    }


def test_without_a_second_model_the_first_reviews_itself(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    stored = extract(server, viewer, review_model="")

    assert [chat.body["model"] for chat in server.chats] == ["first-reader", "first-reader"]
    assert stored[FOUND_SECOND] == ("openai:first-reader", 2)


def test_a_reviewer_without_anything_to_review_stops_the_start() -> None:
    started = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        cwd=PROJECT_ROOT,
        env={**os.environ, "REVIEW_MODEL": "second-reader", "EXTRACTION_MODEL": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert started.returncode != 0
    assert "REVIEW_MODEL needs an EXTRACTION_MODEL" in started.stderr.splitlines()[-1]
