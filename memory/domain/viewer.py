"""Who asks."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who reads or writes: a team, and optionally one agent, end user and project of it.

    None means "not narrowed to one": a team's own key without an agent sees all of its agents.
    `actor` is what the log calls the caller. `allowed_categories` are those the agent may read,
    empty for all.
    """

    team_id: UUID
    actor: str
    agent_id: UUID | None = None
    end_user_id: UUID | None = None
    project_id: UUID | None = None
    allowed_categories: tuple[str, ...] = ()
