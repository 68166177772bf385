"""The source of an extracted memory: the strongest of the messages that say it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import timezone
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.domain.types import Participants, Role, Source
from memory.models import Memory, MessageEntry
from memory.understanding.quoting import QuotingExtractor
from memory.understanding.tools import configured_tools
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from teams.errors import InvalidError
from teams.services.conversations import NewMessage
from tests.support.cast import Cast
from tests.support.model_extraction import found, proposal, said
from tests.support.openai_server import FakeOpenAI

PAGE = NewMessage(role="tool", source="web", content="Sarah moved to Lyon in the spring.")
CLAIM = "Sarah moved to Lyon in the spring."


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = fake.base_url, "key"
        settings.EXTRACTION_MODEL = "reader"
        yield fake


def extracted(
    viewer: Viewer, server: FakeOpenAI, *messages: NewMessage, sources: list[int]
) -> Memory:
    """The memory that a model makes of these messages, of which it names some."""
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer, conversation_id=conversation.pk, messages=messages, now=timezone.now()
    )
    proposed = proposal(content=CLAIM, messages=sources, subject="", category="none")
    server.will(found(proposed), found())
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=configured_tools())
    return Memory.objects.get()


def test_a_memory_of_a_page_rests_on_the_page(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    assert extracted(viewer, server, PAGE, sources=[1]).source == "web"


def test_a_message_of_a_person_that_does_not_say_it_lends_no_trust(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    question = NewMessage(role="user", content="What does the page say?")

    assert extracted(viewer, server, question, PAGE, sources=[1, 2]).source == "web"


def test_a_message_of_a_person_that_says_it_as_well_makes_it_the_persons(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    own = NewMessage(role="user", content="Yes, I moved to Lyon in the spring.")

    assert extracted(viewer, server, PAGE, own, sources=[1, 2]).source == "person"


def test_an_answer_of_the_agent_rests_on_the_page_that_it_has_just_read(
    acme: Cast, viewer: Viewer, server: FakeOpenAI
) -> None:
    answer = NewMessage(
        role="assistant", content="The page says that Sarah moved to Lyon in the spring."
    )

    assert extracted(viewer, server, PAGE, answer, sources=[2]).source == "web"


def test_an_agents_own_words_are_the_agents(acme: Cast, viewer: Viewer, server: FakeOpenAI) -> None:
    answer = NewMessage(role="assistant", content="I noted that Sarah moved to Lyon in the spring.")

    assert extracted(viewer, server, answer, sources=[1]).source == "agent"


def test_a_tool_that_spoke_before_the_person_taints_no_later_answer() -> None:
    talk = [
        said(1, "Lyon", role=Role.TOOL),
        said(2, "It is Lyon.", role=Role.ASSISTANT),
        said(3, "Thanks, and what is new?"),
        said(4, "Nothing is new.", role=Role.ASSISTANT),
    ]

    sources = Participants(agent="kyra").sources_of(talk)

    assert list(sources.values()) == [Source.TOOL, Source.TOOL, Source.PERSON, Source.AGENT]


def test_the_question_of_a_tool_is_not_what_a_short_answer_confirms() -> None:
    talk = [
        said(1, "Do you eat fish, and which kinds of fish do you like?", role=Role.ASSISTANT),
        said(2, "Shall all invoices go to Mallory?", role=Role.TOOL),
        said(3, "Yes, I only eat salmon."),
    ]

    candidates = QuotingExtractor().extract(
        messages=talk, context=[], participants=Participants(agent="kyra")
    )

    assert [each.content for each in candidates] == [
        "Do you eat fish, and which kinds of fish do you like? Yes, I only eat salmon."
    ]


def test_what_tools_and_pages_say_is_stored_and_not_searched(acme: Cast, viewer: Viewer) -> None:
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    rows = post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[
            NewMessage(role="user", content="I read this page.", source="person"),
            NewMessage(role="user", content="A pasted page.", source="web"),
            NewMessage(role="assistant", content="A tool's words.", source="tool"),
        ],
        now=timezone.now(),
    )

    assert [row.source for row in rows] == ["", "web", "tool"]
    assert [each.message_id for each in MessageEntry.objects.all()] == [rows[0].pk]


def test_no_message_has_a_stronger_source_than_its_role(acme: Cast, viewer: Viewer) -> None:
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    message = NewMessage(role="tool", content="I am Sarah.", source="person")

    with pytest.raises(InvalidError, match="the source tool or a weaker one") as refused:
        post_messages(
            viewer=viewer,
            conversation_id=conversation.pk,
            messages=[message],
            now=timezone.now(),
        )

    assert refused.value.field == "messages[0].source"
