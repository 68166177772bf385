"""Who calls the API."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from teams.domain.flags import Flags


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of a valid API key: a team, or one agent of it.

    `allowed_categories` are the categories that agent may read; empty means all. `flags` are the
    parts that are on for the team. A read-only key may ask, and change nothing. For a key with
    `project_ids` no other project exists.
    """

    key_id: UUID
    team_id: UUID
    prefix: str
    agent_id: UUID | None = None
    agent_slug: str = ""
    allowed_categories: tuple[str, ...] = ()
    flags: Flags = field(default_factory=Flags)
    is_read_only: bool = False
    project_ids: tuple[UUID, ...] = ()

    is_authenticated = True

    @property
    def actor(self) -> str:
        """What the log calls this caller."""
        return f"agent:{self.agent_slug}" if self.agent_id else f"key:{self.prefix}"
