"""Inputs and results of the write path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.audience import Owner, Viewer
from memory.domain.forms import Form, Payload
from memory.domain.text.words import category_key, payload_key
from memory.domain.types import MemoryType, Scope, Source
from memory.models import Memory, SearchEntry

# Extractors of memories that a caller states or imports, with the times for which they hold.
STATED, IMPORTED = "explicit", "import"


class Outcome(StrEnum):
    """Outcome of a draft: SUPERSEDED by a newer memory, or HELD for a person's consent."""

    CREATED = "created"
    VERSIONED = "versioned"
    SUPERSEDED_EXISTING = "superseded_existing"
    DISPUTED = "disputed"
    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory to be written, from whatever source; all times are aware.

    `check` False stores it verbatim, without a check for duplicates and contradictions. `replaces`
    are live memories that it supersedes on request, unjudged. `people` are the names of those whom
    it is by or about. `author_id` is the agent that learned it, also where every agent sees it.
    `accepts_deleted` takes the deleted memory of its external id for the stored one, so that an
    import restores nothing. `rests_on` are other memories by their role, as the points of a
    summary. `needs_consent` False is a decision of somebody who may decide it; a draft that
    `is_agreed` has the person's consent and stands whatever a judge says, in place of what it
    `replaces`. `payload` is that of its `form`. An unconfirmed `source` changes nothing that rests
    on a stronger one.
    """

    team_id: UUID
    content: str
    memory_type: MemoryType
    importance: int
    extractor: str
    created_at: datetime
    is_pinned: bool = False
    confidence: float = 1.0
    category: str = ""
    subject: str = ""
    tags: tuple[str, ...] = ()
    agent_id: UUID | None = None
    author_id: UUID | None = None
    people: tuple[str, ...] = ()
    end_user_id: UUID | None = None
    project_id: UUID | None = None
    conversation_id: UUID | None = None
    message_ids: tuple[UUID, ...] = ()
    message_external_ids: tuple[str, ...] = ()
    extraction_pass: int | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    external_id: str | None = None
    check: bool = True
    replaces: tuple[UUID, ...] = ()
    accepts_deleted: bool = False
    rests_on: Mapping[str, Sequence[UUID]] = field(default_factory=dict)
    needs_consent: bool = True
    is_agreed: bool = False
    form: Form | None = None
    payload: Payload = field(default_factory=dict)
    source: Source = Source.AGENT
    # The payload only quotes the text.
    is_quoted: bool = False

    @property
    def owner(self) -> Owner:
        """Returns the owner of the memory."""
        return Owner.of(
            team_id=self.team_id,
            memory_type=self.memory_type.value,
            agent_id=self.agent_id,
            end_user_id=self.end_user_id,
            project_id=self.project_id,
        )

    @property
    def scope(self) -> Scope:
        """Returns the narrowest of project, user and team that it names."""
        if self.project_id is not None:
            return Scope.PROJECT
        if self.end_user_id is not None:
            return Scope.USER
        return Scope.TEAM

    def adds_payload_to(self, memory: Memory) -> bool:
        """Returns whether it has a payload that the memory, perhaps of the same words, has not.

        A payload that only quotes the text says nothing more.
        """
        if self.form is None or self.is_quoted:
            return False
        return (self.form.value, self.payload) != (memory.form, memory.payload)


@dataclass(frozen=True, slots=True)
class PreparedDraft:
    """A draft with its vector and the dedupe key of its text and owner.

    Without a vector, a worker embeds it soon after it is stored.
    """

    draft: MemoryDraft
    vector: NDArray[np.float32] | None
    key: bytes
    next_vector: NDArray[np.float32] | None = None
    next_model: str = ""

    @property
    def keys(self) -> tuple[bytes, ...]:
        """Returns the keys that an equal fact may have.

        The second is for one beside a fact of other readers, the third for one with a payload
        beside equal words with another payload.
        """
        draft = self.draft
        keys = (self.key, category_key(self.key, draft.category))
        if draft.form is None:
            return keys
        return *keys, payload_key(self.key, draft.form, draft.payload)


def stacked(prepared: Sequence[PreparedDraft]) -> NDArray[np.float32]:
    """Returns the vectors, shape (drafts, dimensions); a missing one is a row of zeros."""
    vectors = [item.vector for item in prepared]
    size = next((len(vector) for vector in vectors if vector is not None), 0)
    nothing = np.zeros(size, dtype=np.float32)
    return np.stack([nothing if vector is None else vector for vector in vectors])


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The stored memory of one draft (the existing one for a duplicate) and what happened.

    A HELD one has the memory that stays, and the `consent_request` that waits, None where the same
    was decided before. `conflicts` counts the contradictions recorded; `retired` are the memories
    it superseded. `secret_masked` says that a secret in the text was masked, `wording` where the
    text departs from the writing constraints, `judging` what replaced the judge and why.
    `similarity` is the cosine of its nearest neighbour, where neighbours were searched.
    """

    memory: Memory
    outcome: Outcome
    conflicts: int = 0
    retired: tuple[UUID, ...] = ()
    secret_masked: bool = False
    wording: tuple[str, ...] = ()
    judging: tuple[str, ...] = ()
    similarity: float | None = None
    consent_request: UUID | None = None


def draft_of_version(*, memory: Memory, content: str, extractor: str, now: datetime) -> MemoryDraft:
    """Returns a draft that says `content` in place of `memory` and keeps all else.

    The payload goes with its text: another text has none. Call it in the team's scope.
    """
    is_same = bool(memory.form) and content == memory.content
    return MemoryDraft(
        team_id=memory.team_id,
        content=content,
        memory_type=MemoryType(memory.memory_type),
        importance=memory.importance,
        extractor=extractor,
        created_at=now,
        is_pinned=memory.is_pinned,
        category=memory.category,
        subject=memory.subject,
        tags=tuple(memory.tags),
        agent_id=memory.agent_id,
        people=people_of_memories([memory]),
        end_user_id=memory.end_user_id,
        project_id=memory.project_id,
        conversation_id=memory.conversation_id,
        message_ids=tuple(memory.source_message_ids),
        message_external_ids=tuple(memory.source_external_ids),
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        source=Source(memory.source),
        replaces=(memory.pk,),
        form=Form(memory.form) if is_same else None,
        payload=memory.payload if is_same else {},
    )


def draft_as_stored(*, viewer: Viewer, memory: Memory) -> MemoryDraft:
    """Returns the draft that would store this memory anew; call it in the team's scope."""
    draft = draft_of_version(
        memory=memory, content=memory.content, extractor=memory.extractor, now=memory.created_at
    )
    return replace(
        draft,
        author_id=memory.agent_id or viewer.agent_id,
        extraction_pass=memory.extraction_pass,
        check=memory.dedupe_key is not None,
        replaces=(),
    )


def people_of_memories(memories: Sequence[Memory]) -> tuple[str, ...]:
    """Returns the names of those whom the memories are by or about, from their search entries."""
    rows = SearchEntry.objects.filter(
        team_id=memories[0].team_id, memory_id__in=[each.pk for each in memories]
    )
    lists = rows.order_by("memory_id").values_list("people", flat=True)
    return tuple(dict.fromkeys(chain.from_iterable(lists)))
