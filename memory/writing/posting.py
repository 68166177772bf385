"""Posted messages: stored, and at the agent's interval queued for extraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.types import Source, weakest
from memory.understanding.quoting import Said, confided
from memory.understanding.tools import Tools
from memory.writing.indexing.message_index import index_soon
from memory.writing.jobs import Annotations, queue_and_publish, revive_failed, visible_conversation
from memory.writing.sharing import settle_sharing
from teams.errors import UNCONDITIONAL, Condition, ConflictError, InvalidError
from teams.models import Conversation, Message
from teams.services.checkpoints import Saved, ThreadKey, checkpoint_text, save_checkpoint
from teams.services.conversations import (
    NewMessage,
    append_messages,
    mark_closed,
    start_conversation,
)
from teams.services.people import ensure_agent, ensure_end_user, ensure_end_user_id, ensure_project
from teams.services.team_settings import flags_of_id
from teams.tenancy import team_scope
from teams.tracing import note, step


def open_conversation(
    *,
    team_id: UUID,
    agent: str,
    user: str,
    project: str | None = None,
    thread_id: str | None = None,
    user_name: str = "",
    project_ids: Sequence[UUID] = (),
    started_at: datetime | None = None,
) -> tuple[Conversation, bool]:
    """Returns the conversation of these names, and whether it is new; call it in the team's scope.

    `user_name` becomes the user's name; "" leaves it. `started_at` is the start of a new one from
    elsewhere, such as an imported one. Raises NotFoundError for a project other
    than those of `project_ids`, where there are some.
    """
    named = ensure_project(team_id=team_id, slug=project, among=project_ids) if project else None
    return start_conversation(
        team_id=team_id,
        agent=ensure_agent(team_id=team_id, slug=agent),
        end_user=ensure_end_user(team_id=team_id, external_id=user, display_name=user_name),
        project=named,
        thread_id=thread_id or "",
        started_at=started_at,
    )


@step("ingest")
def post_messages(
    *,
    viewer: Viewer,
    conversation_id: UUID,
    messages: Sequence[NewMessage],
    now: datetime,
    tools: Tools | None = None,
    annotations: Annotations | None = None,
) -> list[Message]:
    """Stores messages and, at the agent's interval, queues their extraction in one transaction.

    With `tools`, they are made searchable right after the commit, otherwise by the sweep. With
    `annotations` for their memories, their extraction is queued at once. Raises NotFoundError for
    a conversation the viewer may not see, InvalidError for a source above that of a role, and
    ConflictError, storing none, where an external id names a message of another text.
    """
    note({"messages": len(messages)})
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, is_planned_once=True):
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        rows = keep_messages(
            viewer=viewer,
            conversation=conversation,
            messages=messages,
            now=now,
            tools=tools,
            annotations=annotations,
        )
        for index, (row, message) in enumerate(zip(rows, messages, strict=True)):
            if row.content != message.content:
                raise ConflictError(
                    f"Message {row.position} has this id and another text, and messages never"
                    " change. Send this one under an id of its own.",
                    field=f"messages[{index}].external_id",
                )
        return rows


def keep_messages(
    *,
    viewer: Viewer,
    conversation: Conversation,
    messages: Sequence[NewMessage],
    now: datetime,
    tools: Tools | None = None,
    annotations: Annotations | None = None,
) -> list[Message]:
    """Stores messages of a locked conversation as `post_messages` does; call it in its scope."""
    if not messages:
        return []
    if annotations is not None:
        queue_and_publish(conversation=conversation)
    messages = [_sourced(index, each) for index, each in enumerate(messages)]
    rows = append_messages(conversation=conversation, messages=messages, now=now)
    _withhold_confided(conversation, rows, now)
    waiting = conversation.last_position - conversation.extracted_position
    # Messages posted while the team has memory switched off wait until it is on again.
    is_due = waiting >= conversation.agent.summarize_interval
    if annotations is not None or (is_due and flags_of_id(team_id=viewer.team_id).memory):
        queue_and_publish(conversation=conversation, annotations=annotations)
    if tools is not None:
        index_soon(team_id=viewer.team_id, tools=tools)
    return rows


def _sourced(index: int, message: NewMessage) -> NewMessage:
    """Returns the message with a source where that is weaker than its role's.

    Raises InvalidError for a stronger one.
    """
    of_role = Source.of_role(message.role)
    if not message.source or message.source == of_role:
        return replace(message, source="")
    if weakest((of_role, Source(message.source))) is of_role:
        raise InvalidError(
            f"A message of the role {message.role} has the source {of_role} or a weaker one:"
            " person, agent, tool and web are the sources, the strongest first.",
            field=f"messages[{index}].source",
        )
    return message


def _withhold_confided(conversation: Conversation, rows: Sequence[Message], now: datetime) -> None:
    """Withholds shared messages where the first new message asks for silence about them."""
    first = next((row for row in rows if row.is_users), None)
    if first is None or not conversation.extracted_position:
        return
    if confided([Said(first.pk, first.content, is_persons=True)]):
        place = first.position
        settle_sharing(conversation=conversation, first=place, last=place, now=now)


def close_conversation(*, viewer: Viewer, conversation_id: UUID, now: datetime) -> Conversation:
    """Marks a conversation closed and queues its unread messages and failed jobs."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        conversation = visible_conversation(viewer=viewer, conversation_id=conversation_id)
        mark_closed(conversation=conversation, now=now)
        if not flags_of_id(team_id=viewer.team_id).memory:
            return conversation
        queue_and_publish(conversation=conversation)
        end = conversation.extracted_position
        if end:
            settle_sharing(conversation=conversation, first=end + 1, last=end, now=now)
    revive_failed(team_id=viewer.team_id, conversation_id=conversation_id)
    return conversation


def save_state(
    *,
    viewer: Viewer,
    agent: str | None,
    user: str,
    thread_id: str,
    data: dict[str, object],
    now: datetime,
    condition: Condition = UNCONDITIONAL,
) -> Saved:
    """Saves a thread's state; user and agent are created when first named.

    A viewer of one agent saves that agent's state. Raises what `checkpoint_text` and
    `save_checkpoint` raise.
    """
    text = checkpoint_text(data)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        agent_id = viewer.agent_id
        if agent_id is None and agent is not None:
            agent_id = ensure_agent(team_id=viewer.team_id, slug=agent).pk
        end_user_id = ensure_end_user_id(team_id=viewer.team_id, external_id=user)
        return save_checkpoint(
            key=ThreadKey(viewer.team_id, end_user_id, thread_id, agent_id),
            text=text,
            actor=viewer.actor,
            now=now,
            condition=condition,
        )
