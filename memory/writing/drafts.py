"""Inputs and results of the write path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.audience import Owner
from memory.domain.forms import Form, Payload
from memory.domain.text.words import category_key, payload_key
from memory.domain.types import MemoryType, Scope
from memory.models import Memory, SearchEntry


class Outcome(StrEnum):
    """What the write path did with a draft; SUPERSEDED is one that what stands is newer than.

    HELD is one that would change a sensitive field of a person: it waits for a yes.
    """

    CREATED = "created"
    VERSIONED = "versioned"
    SUPERSEDED_EXISTING = "superseded_existing"
    DISPUTED = "disputed"
    SUPERSEDED = "superseded"
    DUPLICATE = "duplicate"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory to be written, wherever it comes from; all times are aware.

    `check` False stores it as given, for imports: no duplicate and no contradiction check.
    `replaces` are live memories that it supersedes because somebody says so, unjudged.
    `people` are the names of those whom it is by or about. `author_id` is the agent that learned
    it, also where every agent sees it. `accepts_deleted` takes the deleted memory of its external
    id for the stored one, as an import does: what was deleted stays deleted. `rests_on`
    are other memories by what they are to it, as the points of a summary. `needs_consent` False is
    a decision of somebody who may decide it; what `is_agreed` has the person's yes and stands
    whatever a judge says, in place of what it `replaces`. `payload` is that of its `form`.
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

    @property
    def owner(self) -> Owner:
        """The owner of the memory."""
        return Owner.of(
            team_id=self.team_id,
            memory_type=self.memory_type.value,
            agent_id=self.agent_id,
            end_user_id=self.end_user_id,
            project_id=self.project_id,
        )

    @property
    def scope(self) -> Scope:
        """How wide it holds: the narrowest of project, user and team that it names."""
        if self.project_id is not None:
            return Scope.PROJECT
        if self.end_user_id is not None:
            return Scope.USER
        return Scope.TEAM

    def adds_payload_to(self, memory: Memory) -> bool:
        """Whether it has a payload that the memory, perhaps of the same words, has not."""
        if self.form is None:
            return False
        return (self.form.value, self.payload) != (memory.form, memory.payload)


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The stored memory of one draft (the existing one for a duplicate) and what happened.

    For one that is HELD it is what stands and stays, and `consent_request` is what waits, None
    where the same was decided before.

    `conflicts` counts the contradictions recorded; `retired` are the memories it superseded.
    `secret_masked` says that the text came with a key, password or card number, stored masked.
    `wording` names where the text, which is stored as given, departs from the writing constraints.
    `judging` says where others stood in for the judge of the write, and why. `similarity` is the
    cosine of its nearest neighbour, where neighbours were looked for.
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


@dataclass(frozen=True, slots=True)
class PreparedDraft:
    """A draft with its vector and the key under which an equal fact would stand.

    Without a vector, a worker embeds it soon after it is stored.
    """

    draft: MemoryDraft
    vector: NDArray[np.float32] | None
    key: bytes
    next_vector: NDArray[np.float32] | None = None
    next_model: str = ""

    @property
    def keys(self) -> tuple[bytes, ...]:
        """Where an equal fact stands: under its key or, beside one of other readers, the second.

        One with a payload stands under the third beside equal words with another payload.
        """
        draft = self.draft
        keys = (self.key, category_key(self.key, draft.category))
        if draft.form is None:
            return keys
        return *keys, payload_key(self.key, draft.form, draft.payload)


def stacked(prepared: Sequence[PreparedDraft]) -> NDArray[np.float32]:
    """The drafts' vectors, shape (drafts, dimensions); a row of zeros where there is none yet."""
    vectors = [item.vector for item in prepared]
    size = next((len(vector) for vector in vectors if vector is not None), 0)
    nothing = np.zeros(size, dtype=np.float32)
    return np.stack([nothing if vector is None else vector for vector in vectors])


def draft_of_version(*, memory: Memory, content: str, extractor: str, now: datetime) -> MemoryDraft:
    """A draft that says `content` in place of `memory` and keeps all else, its sources included.

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
        replaces=(memory.pk,),
        form=Form(memory.form) if is_same else None,
        payload=memory.payload if is_same else {},
    )


def people_of_memories(memories: Sequence[Memory]) -> tuple[str, ...]:
    """By or about whom they are, as their search entries say."""
    rows = SearchEntry.objects.filter(
        team_id=memories[0].team_id, memory_id__in=[each.pk for each in memories]
    )
    return tuple(
        dict.fromkeys(
            one
            for each in rows.order_by("memory_id").values_list("people", flat=True)
            for one in each
        )
    )
