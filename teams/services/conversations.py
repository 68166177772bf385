"""Conversations and their messages: verbatim, numbered without gaps, stored once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from teams.errors import ConflictError, NotFoundError
from teams.ids import new_id
from teams.models import Agent, Conversation, EndUser, Message, Project
from teams.prepared import run_prepared, sql_text

_LOCK_AGAIN = """
SELECT c.last_position, c.extracted_position, u.external_id = 'erased-' || u.id
FROM teams_conversation c JOIN teams_enduser u ON u.team_id = c.team_id AND u.id = c.end_user_id
WHERE c.team_id = $1 AND c.id = $2 FOR UPDATE OF c
"""


_APPEND = sql_text("teams", "append_messages")


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message as it arrives; `created_at` is aware, None means now.

    `source` is empty or weaker than that of the role.
    """

    role: str
    content: str
    name: str = ""
    created_at: datetime | None = None
    external_id: str | None = None
    source: str = ""


def start_conversation(
    *,
    team_id: UUID,
    agent: Agent,
    end_user: EndUser,
    project: Project | None = None,
    thread_id: str = "",
    started_at: datetime | None = None,
) -> tuple[Conversation, bool]:
    """The conversation of agent, user and thread (a new one without an id), and if it is new.

    A new one started at `started_at`, or now.
    """
    conversation_id = new_id()
    begun = {} if started_at is None else {"created_at": started_at}
    return Conversation.objects.select_related("agent", "end_user", "project").get_or_create(
        team_id=team_id,
        agent=agent,
        end_user=end_user,
        thread_id=thread_id or str(conversation_id),
        defaults={"id": conversation_id, "project": project, **begun},
    )


def lock_conversation(*, team_id: UUID, conversation_id: UUID) -> Conversation:
    """The conversation, locked until the transaction ends; raises NotFoundError."""
    conversation = (
        Conversation.objects.select_for_update(of=("self",))
        .select_related("agent", "end_user", "project")
        .filter(team_id=team_id, id=conversation_id)
        .first()
    )
    if conversation is None or conversation.end_user.is_erased:
        raise NotFoundError("There is no such conversation.")
    return conversation


def lock_again(*, conversation: Conversation) -> None:
    """Locks a conversation that was read before and updates its positions; raises NotFoundError."""
    rows = run_prepared(_LOCK_AGAIN, [conversation.team_id, conversation.pk])
    if not rows or rows[0][2]:
        raise NotFoundError("There is no such conversation.")
    conversation.last_position, conversation.extracted_position, _ = rows[0]


def append_messages(
    *, conversation: Conversation, messages: Sequence[NewMessage], now: datetime
) -> list[Message]:
    """Stores the messages after the last one of a locked conversation; returns the stored rows."""
    rows, fresh = _numbered(conversation, messages, now, {})
    if fresh and not _insert(conversation, fresh):
        stored = _stored(conversation, messages)
        rows, fresh = _numbered(conversation, messages, now, stored)
        if fresh and not _insert(conversation, fresh):
            raise ConflictError("The messages were being stored already. Send them again.")
    if fresh:
        conversation.last_position = fresh[-1].position
    for row in fresh:
        row._state.adding = False
    return rows


def _numbered(
    conversation: Conversation,
    messages: Sequence[NewMessage],
    now: datetime,
    stored: dict[str | None, Message],
) -> tuple[list[Message], list[Message]]:
    known = dict(stored)
    rows: list[Message] = []
    fresh: list[Message] = []
    for message in messages:
        row = known.get(message.external_id) if message.external_id is not None else None
        if row is None:
            row = Message(
                team_id=conversation.team_id,
                conversation=conversation,
                position=conversation.last_position + len(fresh) + 1,
                role=message.role,
                content=message.content,
                name=message.name,
                external_id=message.external_id,
                created_at=message.created_at or now,
                source=message.source,
            )
            fresh.append(row)
            if message.external_id is not None:
                known[message.external_id] = row
        rows.append(row)
    return rows, fresh


def _stored(
    conversation: Conversation, messages: Sequence[NewMessage]
) -> dict[str | None, Message]:
    wanted = {message.external_id for message in messages if message.external_id is not None}
    rows = Message.objects.filter(
        team_id=conversation.team_id, conversation=conversation, external_id__in=wanted
    )
    return {row.external_id: row for row in rows}


def _insert(conversation: Conversation, rows: Sequence[Message]) -> bool:
    """Writes the rows in one statement; nothing, and False, where one of them is stored already."""
    received_at = timezone.now()
    given = [
        [getattr(row, name) for row in rows]
        for name in (
            *("id", "position", "role", "content", "name", "external_id", "created_at", "source"),
        )
    ]
    whose = [conversation.team_id, conversation.pk, rows[-1].position, received_at]
    for row in rows:
        row.received_at = received_at
    return bool(run_prepared(_APPEND, [*whose, *given]))


def mark_closed(*, conversation: Conversation, now: datetime) -> None:
    """Note when the conversation was first closed; later messages are still welcome."""
    if conversation.closed_at is None:
        conversation.closed_at = now
        conversation.save(update_fields=["closed_at"])
