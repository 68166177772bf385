"""Answers of tools: the fields of the API's answers that a model can use."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field


class Memory(BaseModel):
    """A memory and how it stands."""

    id: UUID
    content: str
    memory_type: str
    status: str = Field(
        description="`active`, or `disputed`, `superseded`, `soft_deleted`, `archived`."
    )
    category: str
    subject: str
    tags: list[str]
    importance: int = Field(description="1-10")
    confidence: float = Field(description="0-1")
    is_pinned: bool
    source: str = Field(description="`person`, `agent`, or unconfirmed: `tool`, `web`.")
    user: str | None = Field(description="Whom it is about.")
    agent: str | None = Field(description="Whose it is, where it is of one agent alone.")
    project: str | None
    superseded_by: UUID | None = Field(description="The newer version.")
    contradicts: list[UUID]
    created_at: datetime = Field(description="When it was said.")


class FoundMemory(Memory):
    """A memory with how well it answers."""

    score: float | None = Field(description="0-1")


class FoundMessage(BaseModel):
    """A message that was found directly: no memory says the same."""

    id: UUID
    speaker: str
    said_at: datetime
    content: str
    score: float | None = Field(description="0-1")


class Found(BaseModel):
    """The results of a search, best first."""

    results: list[FoundMemory]
    messages: list[FoundMessage]
    warnings: list[str]


class Listed(BaseModel):
    """A page of memories, the latest first."""

    results: list[Memory]
    next_cursor: str | None = Field(description="`cursor` of the next page; null on the last.")


class WrittenMemory(Memory):
    """A memory as it was stored, and what happened."""

    outcome: str = Field(
        description="`created`, or what was done with one that stood there already; `held`: it"
        " waits for a person's yes."
    )
    warnings: list[str]
    consent_request: UUID | None


class Added(BaseModel):
    """The stored result of `add_memory`: a memory, or messages to extract memories from."""

    memory: WrittenMemory | None = None
    conversation: UUID | None = None
    message_ids: list[UUID] = []


class Entity(BaseModel):
    """One whom memories belong to."""

    id: str
    name: str


class Entities(BaseModel):
    """Whom memories belong to, as far as this key sees them."""

    users: list[Entity]
    agents: list[Entity]
    projects: list[Entity]
    is_complete: bool = Field(description="False where a list has more than `limit`.")


class Fact(BaseModel):
    """A fact that is told, and why."""

    id: UUID
    content: str
    reason: str


class Context(BaseModel):
    """The facts for a request as one read-only block."""

    context: str = Field(description="Empty where there are no facts.")
    truncated: bool
    facts: list[Fact]
    warnings: list[str]


class Recommended(BaseModel):
    """The rule's recommendation for facts of which not all can hold."""

    keep: list[UUID]
    resolution: str
    reason: str


class Conflict(BaseModel):
    """Facts on one matter that contradict each other."""

    facts: list[Memory]
    recommended: Recommended
    contradictions: list[UUID]


class Conflicts(BaseModel):
    """Open contradictions, that of the newest first."""

    conflicts: list[Conflict]
