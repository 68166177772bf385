"""Who calls the API."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of a valid API key: a team, or one agent of it."""

    key_id: UUID
    team_id: UUID
    prefix: str
    agent_id: UUID | None = None
    agent_slug: str = ""

    is_authenticated = True

    @property
    def actor(self) -> str:
        """What the log calls this caller."""
        return f"agent:{self.agent_slug}" if self.agent_id else f"key:{self.prefix}"
