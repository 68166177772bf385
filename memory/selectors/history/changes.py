"""Changes to the memories of a conversation, by its revisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.types import UNCONFIRMED, Status
from memory.domain.updates import TOLD_EVENTS, Happened, Known
from memory.models import Memory
from memory.selectors.conversations import conversation_for, conversations_of
from memory.selectors.memories import outdated_summaries
from teams.errors import InvalidError, NotFoundError
from teams.models import Conversation

# A header shows three; of a window of very many changes the latest decide which.
_LATEST = 500
_SUMMARISER = "summary:"

_REVISIONS = """
SELECT c.revision, t.revision
FROM teams_conversation c
LEFT JOIN teams_toldrevision t ON t.team_id = c.team_id AND t.conversation_id = c.id
WHERE c.team_id = %s AND c.id = %s
"""


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A row of the log, and its memory as it is now."""

    row: MemoryLog
    memory: Memory

    @property
    def status(self) -> str:
        return str(self.row.state.get("status", self.memory.status))

    @property
    def superseded_by(self) -> str | None:
        found: str | None = self.row.state.get("superseded_by_id")
        return found


@dataclass(frozen=True, slots=True)
class Changes:
    """Visible changes; the next begin at `until`; `revision` is that of the conversation."""

    rows: Sequence[LoggedChange]
    until: int
    revision: int


def thread_for(*, viewer: Viewer, thread_id: str, names_user: bool) -> Conversation:
    """Returns the conversation of a thread's id, or the one with that id of its own.

    With `names_user` the viewer's end user is whose thread it is. Raises NotFoundError if the
    viewer may see none, and InvalidError if several share the id.
    """
    rows = conversations_of(viewer).filter(thread_id=thread_id)
    if names_user:
        rows = rows.filter(end_user_id=viewer.end_user_id)
    found = list(rows.select_related("agent", "end_user", "project").order_by("id")[:2])
    if len(found) > 1:
        missing = "agent" if names_user else "user"
        raise InvalidError(
            f"Several threads of this team are called so; name the {missing} too.", field=missing
        )
    if found:
        return found[0]
    try:
        conversation = conversation_for(viewer=viewer, conversation_id=UUID(thread_id))
    except ValueError:
        raise NotFoundError("There is no such thread.") from None
    if names_user and conversation.end_user_id != viewer.end_user_id:
        raise NotFoundError("There is no such thread.")
    return conversation


def revisions_of(*, team_id: UUID, conversation_id: UUID) -> tuple[int, int | None]:
    """Returns the conversation's revision, and the one its prompts have told of, if any."""
    with connection.cursor() as cursor:
        cursor.execute(_REVISIONS, [team_id, conversation_id])
        row = cursor.fetchone()
    return row or (0, None)


def happened_between(
    *, team_id: UUID, conversation_id: UUID, since: int, until: int
) -> list[Happened]:
    """Returns the changes worth telling after `since` up to `until`, in their order."""
    rows = (
        MemoryLog.objects.filter(
            team_id=team_id,
            conversation_id=conversation_id,
            revision__gt=since,
            revision__lte=until,
            event__in=TOLD_EVENTS,
        )
        # Of an erased memory there is nothing left to tell.
        .exclude(state__has_key="erased_at")
        .order_by("-revision")
        .values_list("memory_id", "event", "revision")[:_LATEST]
    )
    return [Happened(memory_id, event, revision or 0) for memory_id, event, revision in rows][::-1]


def known_memories(*, viewer: Viewer, ids: Iterable[UUID]) -> dict[UUID, Known]:
    """Returns visible confirmed memories and their successors, without outdated summaries."""
    found: dict[UUID, Known] = {}
    wanted = set(ids)
    # A memory that gave way names the one that stands, which may lie in another conversation.
    for _ in range(2):
        rows = Memory.objects.visible_to(viewer).filter(id__in=wanted - found.keys())
        rows = rows.exclude(source__in=UNCONFIRMED)
        read = {row.pk: row for row in rows if row.content.strip()}
        summaries = [pk for pk, row in read.items() if row.extractor.startswith(_SUMMARISER)]
        outdated = outdated_summaries(team_id=viewer.team_id, ids=summaries)
        found |= {pk: _known(row) for pk, row in read.items() if pk not in outdated}
        wanted |= {
            each.superseded_by
            for each in found.values()
            if each.status == Status.SUPERSEDED and each.superseded_by
        }
        if not wanted - found.keys():
            break
    return found


def changes_since(*, viewer: Viewer, conversation: Conversation, since: int, limit: int) -> Changes:
    """Returns at most `limit` visible rows of the log after a revision, in order."""
    revision, _ = revisions_of(team_id=viewer.team_id, conversation_id=conversation.pk)
    logged = list(
        MemoryLog.objects.filter(
            team_id=viewer.team_id,
            conversation_id=conversation.pk,
            revision__gt=since,
            revision__lte=revision,
        ).order_by("revision")[:limit]
    )
    memories = _visible(viewer, {row.memory_id for row in logged})
    return Changes(
        rows=[
            LoggedChange(row, memories[row.memory_id])
            for row in logged
            if row.memory_id in memories
        ],
        until=(logged[-1].revision or since) if len(logged) == limit else max(revision, since),
        revision=revision,
    )


def _visible(viewer: Viewer, ids: set[UUID]) -> Mapping[UUID, Memory]:
    return {row.pk: row for row in Memory.objects.visible_to(viewer).filter(id__in=ids)}


def _known(row: Memory) -> Known:
    return Known(
        memory_id=row.pk,
        content=row.content,
        label=row.category or row.memory_type,
        importance=row.importance,
        status=row.status,
        superseded_by=row.superseded_by_id,
    )
