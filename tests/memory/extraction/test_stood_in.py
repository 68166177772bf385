"""Where the small reader stands in for a model, the result of an extraction and an event say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from django.test import override_settings
from django.utils import timezone

from audit.models import OperationalEvent
from memory.domain.audience import Viewer
from memory.domain.types import QUOTING
from memory.understanding.tools import configured_tools
from memory.writing.outcomes import ExtractionCounts
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from teams.services.conversations import NewMessage
from tests.support.cast import Cast
from tests.support.model_extraction import found, proposal
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, error

FACT = "Please remember that I keep bees."
NOTHING = "Thanks, that was kind of you!"
BEES = proposal(content="Sarah keeps bees.")
NOWHERE = found(proposal(content="Sarah keeps bees.", messages=[999]))
BAD_KEY = [error(401)]
NO_JSON = [answer("oops"), answer("oops")]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """An endpoint on this machine that the settings name."""
    with FakeOpenAI() as running:
        yield running


def extract(
    server: FakeOpenAI, viewer: Viewer, *, told: str, behaviours: Sequence[Behaviour]
) -> ExtractionCounts:
    """Returns the counts of an extraction of one message; each pass asks its own model."""
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content=told)],
        now=timezone.now(),
    )
    server.will(*behaviours)
    with override_settings(
        OPENAI_BASE_URL=server.base_url,
        OPENAI_API_KEY="key",
        EXTRACTION_MODEL="first-reader",
        REVIEW_MODEL="second-reader",
    ):
        tools = configured_tools()
    return extract_now(viewer=viewer, conversation_id=conversation.pk, tools=tools)


def passes(counts: ExtractionCounts) -> tuple[str, str]:
    return counts.pass1_extractor, counts.pass2_extractor


def test_models_that_answered_are_named_though_they_found_nothing(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    counts = extract(server, viewer, told=NOTHING, behaviours=[found(), found()])

    assert counts.created == 0
    assert passes(counts) == ("openai:first-reader", "openai:second-reader")
    assert counts.extractor == "openai:first-reader+openai:second-reader"
    assert counts.warnings == ()
    assert not OperationalEvent.objects.filter(op="stand_in").exists()


@pytest.mark.parametrize("trouble", [BAD_KEY, NO_JSON], ids=["misconfigured", "malformed"])
@pytest.mark.parametrize("told", [FACT, NOTHING])
def test_the_small_reader_that_did_the_first_pass_is_named_and_no_model(
    acme: Cast, viewer: Viewer, server: FakeOpenAI, trouble: list[Behaviour], told: str
) -> None:
    counts = extract(server, viewer, told=told, behaviours=[*trouble, *trouble])

    assert passes(counts) == (QUOTING, "")
    assert counts.extractor == QUOTING
    assert [warning.split(" where ")[0] for warning in counts.warnings] == [
        f"{QUOTING} did pass 1",
        "Pass 2 was left out",
    ]


def test_a_second_pass_that_no_model_did_is_said_to_be_left_out(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    counts = extract(server, viewer, told=FACT, behaviours=[found(BEES), *BAD_KEY])

    assert passes(counts) == ("openai:first-reader", "")
    (warning,) = counts.warnings
    assert warning.startswith("Pass 2 was left out where the model did not do it (misconfigured: ")
    event = OperationalEvent.objects.get(op="stand_in")
    assert (event.status, event.meta["pass"], event.meta["extractor"]) == ("error", 2, "")


def test_a_model_whose_memories_name_no_message_is_told_so_once(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    counts = extract(server, viewer, told=FACT, behaviours=[NOWHERE, found(BEES), found()])

    assert counts.created == 1
    assert passes(counts) == ("openai:first-reader", "openai:second-reader")
    assert "from 1 to 1" in server.chats[1].text


def test_the_small_reader_reads_what_a_model_twice_gave_no_sources_for(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    counts = extract(server, viewer, told=FACT, behaviours=[NOWHERE, NOWHERE, found()])

    assert counts.created == 1
    assert passes(counts) == (QUOTING, "openai:second-reader")
    (warning,) = counts.warnings
    assert "No memory names a message" in warning
    event = OperationalEvent.objects.get(op="stand_in")
    assert "No memory names a message" in event.meta["problem"]
