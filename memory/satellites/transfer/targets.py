"""What an import is asked for, and what it did."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum
from uuid import UUID


class ImportMode(StrEnum):
    """What becomes of the turns: messages to extract from, one memory each, or both."""

    MESSAGES = "messages"
    VERBATIM = "verbatim"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """Whose conversations they become; agent, user and project are created when new.

    `user` is the main person, to whom the conversations belong. Where several people speak by
    name, the others become end users whose external ids are their names.
    """

    team_id: UUID
    agent: str
    user: str
    project: str | None = None


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import read and what of it was new; `_seconds` are time spent on each step.

    `masked_memories` are the new ones in which a secret was masked; messages stay as they are.
    """

    conversations: int = 0
    messages: int = 0
    new_messages: int = 0
    extracted_memories: int = 0
    verbatim_memories: int = 0
    masked_memories: int = 0
    post_seconds: float = 0.0
    extract_seconds: float = 0.0
    write_seconds: float = 0.0

    @property
    def new_memories(self) -> int:
        """Memories that were not there before, however they came about."""
        return self.extracted_memories + self.verbatim_memories

    def __add__(self, other: ImportSummary) -> ImportSummary:
        return ImportSummary(*map(sum, zip(astuple(self), astuple(other), strict=True)))
