"""Two agents who are told things, a stranger, and what each of them is told back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from memory.understanding.tools import Tools
from memory.writing.waiting import extract_now
from teams.models import Conversation
from tests.support.cast import Cast, Clients
from tests.support.extraction import viewer_of
from tests.support.extractors import OnePass
from tests.support.memories_api import post


@dataclass(frozen=True)
class Desk:
    """Acme's two agents and a stranger, each with a key of its own."""

    cast: Cast
    kyra: APIClient
    luke: APIClient
    stranger: APIClient


@pytest.fixture
def desk(acme: Cast, globex: Cast, client_of: Clients) -> Desk:
    """Acme's agents and a stranger."""
    return Desk(
        acme, client_of(acme, acme.kyra), client_of(acme, acme.luke), client_of(globex, globex.kyra)
    )


class Filing(OnePass):
    """Makes a memory of a type, audience and form of each message of a person, as it was said."""

    name = "filing"

    def __init__(self, memory_type: MemoryType, audience: str = "", form: str = "") -> None:
        self.memory_type = memory_type
        self.audience = audience
        self.form = form

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """One memory of each message of a person."""
        return [
            Candidate(
                content=each.content,
                memory_type=self.memory_type,
                importance=6,
                confidence=1.0,
                message_ids=(each.id,),
                subject=f"fact.number_{each.position}",
                audience=self.audience,
                form=self.form,
            )
            for each in messages
            if participants.is_person(each)
        ]


def tell(
    client: APIClient,
    *said: str,
    agent: str = "kyra",
    user: str = "sarah",
    project: str | None = None,
) -> str:
    """The id of a new conversation in which the user says so to the agent; nothing is extracted."""
    made = post(client, "conversations", agent=agent, user=user, project=project).json()["id"]
    messages = [{"role": "user", "content": each} for each in said]
    assert post(client, f"conversations/{made}/messages", messages=messages).status_code < 300
    return str(made)


def extract(client: APIClient, conversation: str) -> None:
    """Make memories of what the conversation holds."""
    assert post(client, f"conversations/{conversation}/extract", wait=True).status_code == 200


def told(client: APIClient, query: str, *, agent: str, user: str = "sarah") -> list[str]:
    """The memories that the agent finds, and what it finds in prompts, for a question."""
    asked: dict[str, Any] = {"query": query, "agent": agent, "user": user, "include_raw": False}
    found = post(client, "retrieve", **asked).json()["memories"]
    searched = client.get("/v1/memories/search", asked).json()["results"]
    return [each["content"] for each in (*found, *searched)]


def filed(
    client: APIClient,
    tools: Tools,
    *said: str,
    memory_type: MemoryType = MemoryType.SEMANTIC,
    agent: str = "kyra",
    user: str = "sarah",
    audience: str = "",
    form: str = "",
) -> None:
    """The user says so to the agent, and each message becomes a memory of the type."""
    conversation = Conversation.objects.get(pk=tell(client, *said, agent=agent, user=user))
    extract_now(
        viewer=viewer_of(conversation),
        conversation_id=conversation.pk,
        tools=replace(tools, extractor=Filing(memory_type, audience, form)),
    )
