"""Talk that changes a person's profile, and what waits for a yes after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from memory.domain.text.words import dedupe_key
from memory.domain.types import QUOTING, Candidate, MemoryType, Participants, SourceMessage
from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import Proposal, propose
from memory.understanding.tools import default_tools
from memory.writing.drafts import draft_of_version
from memory.writing.waiting import extract_now
from teams.models import Conversation, Message
from tests.support.extraction import viewer_of
from tests.support.extractors import OnePass
from tests.support.memories_api import post

OSLO = "I live in Oslo."
BERGEN = "I live in Bergen now."
_FIELDS = {"city": ("live", "moved"), "preferred_name": ("call", "name")}


class QuotingFields(OnePass):
    """Quotes the messages of people that tell a city or a name, as an extractor's port asks."""

    name = QUOTING

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """One memory of each such message."""
        return [
            Candidate(
                content=each.content,
                memory_type=MemoryType.USER_PROFILE,
                importance=7,
                confidence=0.9,
                message_ids=(each.id,),
                subject=f"user.profile.{field}",
                category="profile",
                sensitive_field=field,
                audience="person",
                is_verbatim=True,
            )
            for each in messages
            if participants.is_person(each)
            for field, words in _FIELDS.items()
            if any(word in each.content for word in words)
        ]


def learn(conversation_id: str) -> None:
    """Make memories of what the conversation holds, without a trained model."""
    conversation = Conversation.objects.get(pk=conversation_id)
    extract_now(
        viewer=viewer_of(conversation),
        conversation_id=conversation.pk,
        tools=replace(default_tools(), extractor=QuotingFields()),
    )


def talk(client: APIClient, *turns: str, user: str = "sarah", agent: str = "kyra") -> str:
    """A conversation, extracted; a turn that begins with ">" is the agent's. Its id."""
    made = post(client, "conversations", agent=agent, user=user).json()["id"]
    messages = [
        {"role": "assistant", "content": turn[1:].strip()}
        if turn.startswith(">")
        else {"role": "user", "content": turn}
        for turn in turns
    ]
    assert post(client, f"conversations/{made}/messages", messages=messages).status_code < 300
    learn(made)
    return str(made)


def waiting(client: APIClient, **filters: str) -> list[dict[str, Any]]:
    """The consent requests that the key sees, those that wait unless the filters say else."""
    answer = client.get("/v1/consent-requests", filters)
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def person(client: APIClient, user: str = "sarah") -> dict[str, Any]:
    """The person with the approved profile."""
    answer = client.get(f"/v1/users/{user}")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def profile(client: APIClient, user: str = "sarah") -> dict[str, str]:
    """By field what the profile says."""
    return {each["field"]: each["value"] for each in person(client, user)["profile"]}


def asked_to_move(
    memory: Memory, content: str, *, days: float = 0, message: Message | None = None
) -> ConsentRequest:
    """A request, so many days old, to say `content` in place of a profile memory; in scope."""
    draft = replace(
        draft_of_version(memory=memory, content=content, extractor="rules", now=timezone.now()),
        message_ids=(message.pk,) if message else (),
        conversation_id=message.conversation_id if message else None,
        author_id=message.conversation.agent_id if message else None,
        replaces=(),
    )
    assert memory.end_user_id is not None
    request = propose(
        proposal=Proposal(
            draft=draft,
            key=dedupe_key(content, draft.owner),
            matter=memory.subject.rpartition(".")[2],
            end_user_id=memory.end_user_id,
            proposed_by="task:extract",
            present=memory,
        ),
        now=timezone.now() - timedelta(days=days),
    )
    assert request is not None
    return request


def page_of_request(row: ConsentRequest) -> str:
    """The address of its page in the inbox."""
    kind = "team-fact" if row.kind == ConsentRequest.Kind.TEAM_FACT else "consent"
    return reverse("inbox_item", args=[kind, row.pk])
