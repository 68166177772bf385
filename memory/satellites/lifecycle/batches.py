"""What an executor of planned changes gets, and what it has to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from memory.models import Memory
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.understanding.tools import Tools


@dataclass(frozen=True, slots=True)
class Batch:
    """The transaction of a few changes: `memories` are those they are about, locked."""

    team_id: UUID
    actor: str
    now: datetime
    memories: Mapping[UUID, Memory]
    tools: Tools

    def pair(self, change: ConsolidationChange) -> tuple[Memory, Memory]:
        """Both memories of a change that is about two."""
        assert change.other_id is not None
        return self.memories[change.memory_id], self.memories[change.other_id]


class Executor(Protocol):
    """Makes the changes of a kind, and takes back what the log of memories does not hold."""

    def make(self, change: ConsolidationChange, batch: Batch) -> str:
        """Make it and keep in `change.result` what else was written; returns why not, or ""."""

    def take_back(self, change: ConsolidationChange, batch: Batch) -> str:
        """Take back what `result` names, once the memories are as before; returns why not, or "".

        The memories' own columns are taken back by what the log holds.
        """
