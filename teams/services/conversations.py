"""Conversations and their messages: verbatim, numbered without gaps, stored once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from teams.errors import NotFoundError
from teams.ids import new_id
from teams.models import Agent, Conversation, EndUser, Message, Project


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message as it arrives; `created_at` is aware, None means now."""

    role: str
    content: str
    name: str = ""
    created_at: datetime | None = None
    external_id: str | None = None


def start_conversation(
    *,
    team_id: UUID,
    agent: Agent,
    end_user: EndUser,
    project: Project | None = None,
    thread_id: str = "",
) -> tuple[Conversation, bool]:
    """The conversation of this agent, end user and thread, and whether it is new.

    Without a thread id it is always new, and its own id names the thread. Call it in the team's
    scope.
    """
    conversation_id = new_id()
    return Conversation.objects.select_related("agent", "end_user", "project").get_or_create(
        team_id=team_id,
        agent=agent,
        end_user=end_user,
        thread_id=thread_id or str(conversation_id),
        defaults={"id": conversation_id, "project": project},
    )


def lock_conversation(*, team_id: UUID, conversation_id: UUID) -> Conversation:
    """The conversation's row, held until the transaction ends, so that numbers follow on.

    Raises NotFoundError when the team has none of that id, or its person was erased.
    """
    conversation = (
        Conversation.objects.select_for_update(of=("self",))
        .select_related("agent", "end_user", "project")
        .filter(team_id=team_id, id=conversation_id)
        .first()
    )
    if conversation is None or conversation.end_user.is_erased:
        raise NotFoundError("There is no such conversation.")
    return conversation


def append_messages(
    *, conversation: Conversation, messages: Sequence[NewMessage], now: datetime
) -> list[Message]:
    """Store the messages after the last one and return the stored rows in the given order.

    A message whose external id the conversation already has is not stored again: the stored row
    is returned. `conversation` must be locked (`lock_conversation`).
    """
    wanted = {message.external_id for message in messages if message.external_id is not None}
    stored = {
        row.external_id: row
        for row in Message.objects.filter(
            team_id=conversation.team_id, conversation=conversation, external_id__in=wanted
        )
    }
    position = conversation.last_position
    fresh: list[Message] = []
    answer: list[Message] = []
    for message in messages:
        row = stored.get(message.external_id) if message.external_id is not None else None
        if row is None:
            position += 1
            row = Message(
                team_id=conversation.team_id,
                conversation=conversation,
                position=position,
                role=message.role,
                content=message.content,
                name=message.name,
                external_id=message.external_id,
                created_at=message.created_at or now,
            )
            fresh.append(row)
            if message.external_id is not None:
                stored[message.external_id] = row
        answer.append(row)
    Message.objects.bulk_create(fresh)
    conversation.last_position = position
    conversation.save(update_fields=["last_position"])
    return answer


def mark_closed(*, conversation: Conversation, now: datetime) -> None:
    """Note when the conversation was first closed; later messages are still welcome."""
    if conversation.closed_at is None:
        conversation.closed_at = now
        conversation.save(update_fields=["closed_at"])
