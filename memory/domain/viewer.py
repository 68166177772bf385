"""Who asks."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who reads or writes: a team, and optionally one agent, end user and project of it.

    None means "not narrowed to one": a team's own key without an agent sees all of its agents.
    `actor` is what the log calls the caller. `allowed_categories` are those the agent may read,
    empty for all; `project_ids` the only projects that the caller's key may see, empty for all.

    Without an end user a viewer sees people's rows only where `sees_people`; None says that a team
    does and an agent does not, an answer for a prompt says False. A guest is a person who does not
    hear what members of the team said.
    """

    team_id: UUID
    actor: str
    agent_id: UUID | None = None
    end_user_id: UUID | None = None
    project_id: UUID | None = None
    allowed_categories: tuple[str, ...] = ()
    project_ids: tuple[UUID, ...] = ()
    sees_people: bool | None = None
    is_guest: bool = False

    def has_project(self, project_id: UUID | None) -> bool:
        """Returns whether the project, None for none, exists for the viewer's key."""
        return not self.project_ids or project_id in (None, *self.project_ids)

    @property
    def names_nobody(self) -> bool:
        """True where people's rows are hidden because no person is named."""
        if self.end_user_id is not None:
            return False
        return self.agent_id is not None if self.sees_people is None else not self.sees_people
