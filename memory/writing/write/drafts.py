"""What goes into the write path and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from memory.domain.audience import Owner
from memory.domain.forms import Form, Payload
from memory.domain.types import MemoryType, Scope
from memory.models import Memory


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
