"""A caller's own names of memories: what stands under one already, and when it is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from memory.domain.text import normalise_text
from memory.domain.types import Status
from memory.domain.viewer import Viewer
from memory.models import ExternalName, Memory
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.readers import Readers, readers_in
from teams.errors import ConflictError

# External ids are each agent's own, so that none can be used to ask for another's memory.
ExternalKey = tuple[UUID | None, str | None]
_LONGEST_CHAIN = 100


class DraftRefusedError(ConflictError):
    """The draft at `index` of a write fights with what is stored; nothing of it was written."""

    def __init__(self, message: str, *, field: str, index: int) -> None:
        super().__init__(message, field=field)
        self.index = index


@dataclass(frozen=True, slots=True)
class Named:
    """The memory that an external id stands for, and the version of it that stands.

    `standing` is the furthest one that the writer may see; `said` are digests of the texts that
    were acknowledged under the id or are a version of it. What `is_new` came with this very write.
    """

    memory: Memory
    standing: Memory
    said: frozenset[bytes]
    is_new: bool = False

    @staticmethod
    def of(memory: Memory, draft: MemoryDraft) -> Named:
        """What a draft was stored as just now."""
        said = {text_key(memory.content), text_key(draft.content)}
        return Named(memory, memory, frozenset(said), is_new=True)

    def says(self, text: str) -> bool:
        """Whether that text is no other than what the id stands for."""
        return text_key(text) in self.said


def text_key(text: str) -> bytes:
    """32 bytes that are equal for the same normalised text."""
    return hashlib.sha256(normalise_text(text).encode()).digest()


def external_key(draft: MemoryDraft) -> ExternalKey:
    """Under what a memory with the draft's external id stands."""
    return draft.agent_id, draft.external_id


def stored_external_ids(
    *, viewer: Viewer, drafts: Sequence[MemoryDraft]
) -> dict[ExternalKey, Named]:
    """What an external id of one of the drafts stands for, whatever its status."""
    wanted = {draft.external_id for draft in drafts if draft.external_id}
    if not wanted:
        return {}
    further = ExternalName.objects.filter(team_id=viewer.team_id, external_id__in=wanted)
    found: list[tuple[ExternalKey, Memory, set[bytes]]] = [
        ((row.agent_id, row.external_id), row.memory, {bytes(row.text_key)})
        for row in further.select_related("memory")
    ]
    rows = Memory.objects.filter(team_id=viewer.team_id, external_id__in=wanted)
    found += [((row.agent_id, row.external_id), row, set()) for row in rows]
    later = _later_versions(viewer, [memory for _, memory, _ in found])
    return {key: _named(memory, later, said) for key, memory, said in found}


def keep_name(*, draft: MemoryDraft, memory: Memory) -> None:
    """Let the external id of a draft that has one stand for the stored memory that it repeats."""
    ExternalName.objects.create(
        team_id=memory.team_id,
        memory=memory,
        agent_id=draft.agent_id,
        external_id=draft.external_id or "",
        text_key=text_key(draft.content),
    )


def refuse_taken_ids(*, viewer: Viewer, drafts: Sequence[MemoryDraft]) -> None:
    """`refuse_taken` for each draft, as far as can be known before the write."""
    stored = stored_external_ids(viewer=viewer, drafts=drafts)
    if not stored:
        return
    readers = readers_in(team_id=viewer.team_id, agent_id=viewer.agent_id)
    for index, draft in enumerate(drafts):
        named = stored.get(external_key(draft)) if draft.external_id else None
        if named is not None:
            refuse_taken(draft=draft, named=named, index=index, readers=readers)


def refuse_taken(*, draft: MemoryDraft, named: Named, index: int, readers: Readers) -> None:
    """Raise DraftRefusedError where the draft cannot be a repetition of what has its id.

    That is so for a memory about somebody else, for one in a category that the writer may not read
    and, unless the draft `accepts_deleted`, for one that was deleted or says something else.
    """
    memory, standing = named.memory, named.standing
    if not (readers.may_meet(memory, draft) and readers.may_meet(standing, draft)):
        message = f"The external_id '{draft.external_id}' is taken; send this with another one."
    elif standing.status == Status.SOFT_DELETED and not draft.accepts_deleted:
        message = (
            f"The memory of the external_id '{draft.external_id}' was deleted. Restore that"
            f" one ({standing.pk}) or send this with another external_id."
        )
    elif memory.end_user_id != draft.end_user_id:
        message = f"The external_id '{draft.external_id}' is a memory about somebody else."
    elif not named.says(draft.content) and not draft.accepts_deleted and named.is_new:
        message = (
            f"The external_id '{draft.external_id}' is sent with two texts at once; send each with"
            " an external_id of its own."
        )
    elif not named.says(draft.content) and not draft.accepts_deleted:
        message = (
            f"The external_id '{draft.external_id}' is a memory that says something else"
            f" ({standing.pk}). Correct that one (POST /v1/memories/{standing.pk}/correct) or send"
            " this with another external_id."
        )
    else:
        return
    raise DraftRefusedError(message, field="external_id", index=index)


def _named(memory: Memory, later: dict[UUID, Memory], said: set[bytes]) -> Named:
    standing, said = memory, said | {text_key(memory.content)}
    for _ in range(_LONGEST_CHAIN):
        if standing.status != Status.SUPERSEDED or standing.superseded_by_id not in later:
            break
        standing = later[standing.superseded_by_id]
        said.add(text_key(standing.content))
    return Named(memory, standing, frozenset(said))


def _later_versions(viewer: Viewer, rows: Iterable[Memory]) -> dict[UUID, Memory]:
    """What superseded them, to the end of the chains, as far as the viewer may see it."""
    found: dict[UUID, Memory] = {}
    wanted = _successors(rows)
    for _ in range(_LONGEST_CHAIN):
        if not wanted:
            break
        newer = {
            row.pk: row for row in Memory.objects.visible_to(viewer).filter(pk__in=list(wanted))
        }
        found |= newer
        wanted = _successors(newer.values()) - found.keys()
    return found


def _successors(rows: Iterable[Memory]) -> set[UUID]:
    return {
        row.superseded_by_id
        for row in rows
        if row.status == Status.SUPERSEDED and row.superseded_by_id is not None
    }
