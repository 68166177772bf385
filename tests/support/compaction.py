"""Conversations to compact, and tools that say what a compaction did with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.talk import WrittenSummary
from memory.domain.types import Asker, Candidate, Participants, Point, SourceMessage
from memory.models import Memory
from memory.understanding.tools import Tools
from memory.writing.compaction import Compacted, compact_conversation
from memory.writing.posting import post_messages
from memory.writing.summaries import running_summary
from teams.errors import UnavailableError
from teams.models import Conversation, Message
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.embedders import OrthogonalEmbedder
from tests.support.extraction import CountingExtractor

# Facts of different matters, so that no judge has anything to say of a pair.
FACTS = [
    "I live in Berlin.",
    "My dog is called Rex.",
    "I work as a nurse.",
    "I am allergic to peanuts.",
    "My favourite colour is green.",
    "I play the violin.",
    "My car is a red Volvo.",
    "I have two sisters.",
]


class Recorder:
    """A summariser that tells all its points, says what it was given, and fails when told to."""

    name = "recorder"

    def __init__(self, *, failures: int = 0, text: str | None = None) -> None:
        self.failures = failures
        self.text = text
        self.given: list[list[Point]] = []

    def summarise(
        self, *, points: Sequence[Point], since: datetime, until: datetime, asker: Asker
    ) -> WrittenSummary:
        """Every point, in the order given."""
        self.given.append(list(points))
        if self.failures:
            self.failures -= 1
            raise ValueError("the summariser is broken")
        if self.text is not None:
            return WrittenSummary(self.text, self.name)
        return WrittenSummary(told(*[point.text for point in points]), self.name)


def told(*texts: str) -> str:
    """The recorder's summary of statements."""
    return " ".join(["Summary:", *texts])


def noted(*facts: str) -> list[str]:
    """Returns the facts as the extractor words them from messages."""
    return [f"Sarah said that {fact}" for fact in facts]


class LateFailure(CountingExtractor):
    """An extractor whose second pass fails."""

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Fails."""
        raise TimeoutError("the second pass took too long")


class LateEmbedder(OrthogonalEmbedder):
    """An embedder that is away after so many calls."""

    def __init__(self, *, calls: int) -> None:
        super().__init__()
        self.calls = calls

    def embed(self, texts: Sequence[str]) -> Any:
        """Vectors, while it lasts."""
        if self.calls == 0:
            raise UnavailableError("The embedder does not answer.")
        self.calls -= 1
        return super().embed(texts)


class FactExtractor(CountingExtractor):
    """Makes one memory of each message, in the words of the message."""

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """A statement in the third person for each message."""
        found = super().extract(messages=messages, context=context, participants=participants)
        return [
            replace(each, content=f"Sarah said that {message.content}")
            for each, message in zip(found, messages, strict=True)
        ]


@pytest.fixture
def plain(tools: Tools) -> Tools:
    """Tools under which every message becomes exactly one memory of its own."""
    return replace(
        tools, embedder=OrthogonalEmbedder(), extractor=FactExtractor(), summariser=Recorder()
    )


@pytest.fixture
def talk(acme: Cast) -> Conversation:
    """A conversation of Kyra with Sarah."""
    return factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )


@pytest.fixture
def town_talk(committed_db: None) -> Conversation:
    """A conversation that several connections may work on."""
    town = make_cast(f"town-{uuid4().hex}")
    with team_scope(team_ids=[town.team.id], actor="test"):
        return factories.ConversationFactory.create(
            team=town.team, agent=town.kyra, end_user=town.sarah
        )


def viewer_of(talk: Conversation) -> Viewer:
    """The conversation's team."""
    return Viewer(team_id=talk.team_id, actor="test")


def say(talk: Conversation, *texts: str) -> list[Message]:
    """Post these messages."""
    return post_messages(
        viewer=viewer_of(talk),
        conversation_id=talk.pk,
        messages=[NewMessage("user", text) for text in texts],
        now=timezone.now(),
    )


def compact(talk: Conversation, tools: Tools, **how: int) -> Compacted:
    """Compact as the team; everything goes unless told."""
    return compact_conversation(
        viewer=viewer_of(talk), conversation_id=talk.pk, tools=tools, **(how or {"keep_last": 0})
    )


def facts_of(talk: Conversation) -> list[Memory]:
    """Returns the memories extracted from the conversation, in any status, oldest first."""
    rows = Memory.objects.filter(team_id=talk.team_id, conversation=talk)
    return [row for row in rows.order_by("id") if "summary" not in row.tags]


def summaries_of(talk: Conversation) -> list[Memory]:
    """The memories that hold summaries, oldest first."""
    rows = Memory.objects.filter(team_id=talk.team_id, conversation=talk)
    return [row for row in rows.order_by("id") if "summary" in row.tags]


def read_by(tools: Tools) -> list[int]:
    """The positions of the messages that the extractor read as sources, in that order."""
    assert isinstance(tools.extractor, CountingExtractor)
    rows = Message.objects.filter(pk__in=tools.extractor.read)
    positions = dict(rows.values_list("pk", "position"))
    return [positions[each] for each in tools.extractor.read]


def recorder(tools: Tools) -> Recorder:
    """The summariser of these tools."""
    assert isinstance(tools.summariser, Recorder)
    return tools.summariser


def running(talk: Conversation) -> str:
    """The running summary, as a request that has just read the conversation gets it."""
    return running_summary(conversation=Conversation.objects.get(pk=talk.pk))
