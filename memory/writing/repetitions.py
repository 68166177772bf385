"""Drafts that are stored already, by their words or by their external id."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F

from memory.domain.audience import Reach, Viewer
from memory.domain.judgements import differs_in_case
from memory.domain.text.words import normalise_text, payload_key
from memory.domain.types import Source, Status, strongest
from memory.models import ExternalName, Memory
from memory.selectors.neighbours import live_facts
from memory.writing.drafts import MemoryDraft, Outcome, PreparedDraft, WriteResult
from memory.writing.neighbours import Readers, readers_in
from teams.errors import ConflictError

# External ids are each agent's own, so that none can be used to ask for another's memory.
_Key = tuple[UUID | None, str | None]
_LONGEST_CHAIN = 100


class StoredFacts:
    """The live memories under the keys of one write's drafts, its own new ones included.

    Use it in the write's transaction, which excludes other writers of the same facts.
    """

    def __init__(
        self, *, team_id: UUID, prepared: Sequence[PreparedDraft], readers: Readers
    ) -> None:
        wanted = {key for item in prepared if item.draft.check for key in item.keys}
        rows = live_facts(team_id=team_id, keys=wanted) if wanted else []
        self._by_key = {bytes(row.dedupe_key or b""): row for row in rows}
        self._readers = readers

    def same_as(self, item: PreparedDraft) -> Memory | None:
        """Returns the memory that says the same to the same readers, if the writer may read it."""
        for key in item.keys:
            memory = self._by_key.get(key)
            if memory is None or self._readers.reach(memory, item.draft) is not Reach.SAME:
                continue
            is_same_text = not differs_in_case(memory.content, item.draft.content)
            if is_same_text and not item.draft.adds_payload_to(memory):
                return memory
        return None

    def take_key(self, item: PreparedDraft, memory: Memory) -> None:
        """Gives the new memory a free key, beside an equal one of other readers or payload.

        Where no key is free, as beside a memory that the writer may not read, it gets none:
        refusing it would reveal that memory.
        """
        if self.same_as(item) is not None:
            memory.dedupe_key = item.key
        else:
            free = (key for key in item.keys if key not in self._by_key)
            memory.dedupe_key = next(free, None)
        if memory.is_live and memory.dedupe_key is not None:
            self._by_key[memory.dedupe_key] = memory

    def forget(self, ids: Iterable[UUID]) -> None:
        """Drops retired memories: said again, such a fact is a change back and no repetition."""
        gone = set(ids)
        self._by_key = {key: each for key, each in self._by_key.items() if each.pk not in gone}


def corroborate(*, existing: Memory, draft: MemoryDraft) -> Memory:
    """Notes on the existing memory that the fact was said again, and by which messages.

    Messages that it already names add nothing: a repeated delivery is not a second witness. A
    stronger source becomes the memory's own.
    """
    # An earlier draft of this write may have added to it through another instance.
    existing.refresh_from_db(
        fields=["source_message_ids", "source_external_ids", "corroboration", "source"]
    )
    known = set(existing.source_message_ids)
    fresh = [item for item in draft.message_ids if item not in known]
    if draft.message_ids and not fresh:
        return existing
    external = [item for item in draft.message_external_ids if item]
    existing.source_message_ids = [*existing.source_message_ids, *fresh]
    existing.source_external_ids = list(dict.fromkeys([*existing.source_external_ids, *external]))
    existing.source = strongest((Source(existing.source), draft.source)).value
    Memory.objects.filter(team_id=existing.team_id, pk=existing.pk).update(
        source=existing.source,
        source_message_ids=existing.source_message_ids,
        source_external_ids=existing.source_external_ids,
        corroboration=F("corroboration") + 1,
    )
    existing.corroboration += 1
    return existing


# -- external ids ----------------------------------------------------------------------------


class DraftRefusedError(ConflictError):
    """The draft at `index` of a write is in conflict with what is stored; nothing was written."""

    def __init__(self, message: str, *, field: str, index: int) -> None:
        super().__init__(message, field=field)
        self.index = index


@dataclass(frozen=True, slots=True)
class _Named:
    """The memory of an external id, and its last version that the writer may see.

    `said` are digests of the texts sent under the id and of its versions. One that `is_new` came
    with this very write.
    """

    memory: Memory
    last: Memory
    said: frozenset[bytes]
    is_new: bool = False


class ExternalIds:
    """The memories that the external ids of one write's drafts name, whatever their status."""

    def __init__(
        self, *, viewer: Viewer, drafts: Sequence[MemoryDraft], readers: Readers | None = None
    ) -> None:
        self._drafts = drafts
        self._named = _stored(viewer, {draft.external_id for draft in drafts if draft.external_id})
        if self._named and readers is None:
            readers = readers_in(team_id=viewer.team_id, agent_id=viewer.agent_id)
        self._readers = readers or Readers()

    def refuse_taken(self) -> None:
        """Raises DraftRefusedError for the first draft whose external id is taken."""
        for index in range(len(self._drafts)) if self._named else ():
            self.stored_for(index)

    def stored_for(self, index: int) -> Memory | None:
        """Returns the memory of the draft's external id; None where it has none or a new one.

        Raises DraftRefusedError where the draft cannot be a repetition of that memory: one about
        somebody else, one in a category that the writer may not read and, unless the draft
        `accepts_deleted`, one that was deleted or says something else.
        """
        draft = self._drafts[index]
        named = self._named.get(_key(draft)) if draft.external_id else None
        if named is None:
            return None
        problem = self._problem(draft, named)
        if problem:
            raise DraftRefusedError(problem, field="external_id", index=index)
        return named.last

    def keep(self, draft: MemoryDraft, result: WriteResult) -> None:
        """Stores the draft's external id as a name of its memory, also where that is not new."""
        if not draft.external_id or _key(draft) in self._named:
            return
        memory = result.memory
        sent = _digest(draft.content, draft)
        said = frozenset({*_digests_of(memory), sent})
        self._named[_key(draft)] = _Named(memory, memory, said, is_new=True)
        if result.outcome is Outcome.DUPLICATE:
            ExternalName.objects.create(
                team_id=memory.team_id,
                memory=memory,
                agent_id=draft.agent_id,
                external_id=draft.external_id,
                text_key=sent,
            )

    def _problem(self, draft: MemoryDraft, named: _Named) -> str:
        last, name = named.last, f"The external_id '{draft.external_id}'"
        if not all(self._readers.may_read(each, draft) for each in (named.memory, last)):
            return f"{name} is taken; send this with another one."
        if last.status == Status.PURGED and not draft.accepts_deleted:
            return (
                f"The memory of the external_id '{draft.external_id}' was purged; send this with"
                " another external_id."
            )
        if last.status == Status.SOFT_DELETED and not draft.accepts_deleted:
            return (
                f"The memory of the external_id '{draft.external_id}' was deleted. Restore that"
                f" one ({last.pk}) or send this with another external_id."
            )
        # An earlier import may have taken the same turn for somebody else's.
        is_same_turn = draft.accepts_deleted and (
            named.memory.conversation_id == draft.conversation_id is not None
        )
        if named.memory.end_user_id != draft.end_user_id and not is_same_turn:
            return f"{name} is a memory about somebody else."
        if draft.accepts_deleted or _digest(draft.content, draft) in named.said:
            return ""
        if named.is_new:
            return (
                f"{name} is sent with two texts at once; send each with an external_id of its own."
            )
        return (
            f"{name} is a memory that says something else ({last.pk}). Correct that one"
            f" (POST /v1/memories/{last.pk}/correct) or send this with another external_id."
        )


def _key(draft: MemoryDraft) -> _Key:
    return draft.agent_id, draft.external_id


def _digest(text: str, of: MemoryDraft | Memory | None = None) -> bytes:
    """Returns 32 bytes, equal for the same normalised text and the payload of `of`, if any."""
    digest = hashlib.sha256(normalise_text(text).encode()).digest()
    return payload_key(digest, of.form, of.payload) if of is not None and of.form else digest


def _digests_of(memory: Memory) -> set[bytes]:
    return {_digest(memory.content), _digest(memory.content, memory)}


def _stored(viewer: Viewer, external_ids: set[str]) -> dict[_Key, _Named]:
    """Returns by external id the memories stored under it, or repeated under it."""
    if not external_ids:
        return {}
    further = ExternalName.objects.filter(team_id=viewer.team_id, external_id__in=external_ids)
    found: list[tuple[_Key, Memory, set[bytes]]] = [
        ((row.agent_id, row.external_id), row.memory, {bytes(row.text_key)})
        for row in further.select_related("memory")
    ]
    rows = Memory.objects.filter(team_id=viewer.team_id, external_id__in=external_ids)
    found += [((row.agent_id, row.external_id), row, set()) for row in rows]
    later = later_versions(
        [memory for _, memory, _ in found],
        read=lambda ids: Memory.objects.visible_to(viewer).in_bulk(list(ids)),
    )
    return {key: _with_versions(memory, later, said) for key, memory, said in found}


def _with_versions(memory: Memory, later: dict[UUID, Memory], said: set[bytes]) -> _Named:
    last, said = memory, said | _digests_of(memory)
    for _ in range(_LONGEST_CHAIN):
        if last.status != Status.SUPERSEDED or last.superseded_by_id not in later:
            break
        last = later[last.superseded_by_id]
        said |= _digests_of(last)
    return _Named(memory, last, frozenset(said))


def later_versions(
    rows: Iterable[Memory], *, read: Callable[[Collection[UUID]], Mapping[UUID, Memory]]
) -> dict[UUID, Memory]:
    """Returns the successors of the rows to the end of their chains, as far as `read` finds any."""
    found: dict[UUID, Memory] = {}
    wanted = _successors(rows)
    while missing := wanted - found.keys():
        newer = read(missing)
        found |= newer
        wanted = _successors(newer.values())
    return found


def _successors(rows: Iterable[Memory]) -> set[UUID]:
    return {
        row.superseded_by_id for row in rows if not row.is_live and row.superseded_by_id is not None
    }
