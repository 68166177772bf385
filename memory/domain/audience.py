"""Audiences of memories, and viewers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from memory.domain.types import MemoryType

# Seen by every agent, whichever wrote it; and seen by its agent alone (seed 000, visibility).
TEAM_WIDE = (MemoryType.SHARED.value, MemoryType.USER_PROFILE.value)
OF_AN_AGENT = (MemoryType.AGENT_PRIVATE.value, MemoryType.IDENTITY.value)
OPEN = "open"


class Audience(StrEnum):
    """The audience of a memory or message.

    AGENT is told to the one agent that it belongs to, PERSON to every agent on behalf of its
    person, TEAM on behalf of any member of the team and where no person is named.
    """

    AGENT = "agent"
    PERSON = "person"
    TEAM = "team"


class Reach(StrEnum):
    """The readers of a memory compared with those of another."""

    SAME = "same"
    WIDER = "wider"
    NARROWER = "narrower"


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a memory.

    `kind` is the memory type for private and identity memories and `open` for all others;
    `agent_id` is None for what every agent sees.
    """

    team_id: UUID
    kind: str
    agent_id: UUID | None
    end_user_id: UUID | None
    project_id: UUID | None

    @classmethod
    def of(
        cls,
        *,
        team_id: UUID,
        memory_type: str,
        agent_id: UUID | None,
        end_user_id: UUID | None,
        project_id: UUID | None,
    ) -> Owner:
        """The owner of a memory of this type."""
        return cls(
            team_id=team_id,
            kind=memory_type if memory_type in OF_AN_AGENT else OPEN,
            agent_id=None if memory_type in TEAM_WIDE else agent_id,
            end_user_id=end_user_id,
            project_id=project_id,
        )

    @property
    def audience(self) -> Audience:
        """The audience of what it owns; the database holds every row to the same rule."""
        if self.agent_id is not None:
            return Audience.AGENT
        return Audience.TEAM if self.end_user_id is None else Audience.PERSON

    def reach_beside(self, other: Owner) -> Reach:
        """Compares the audience with that of `other`, an owner comparable with this one."""
        if self == other:
            return Reach.SAME
        is_wider = self.agent_id in (None, other.agent_id) and self.project_id in (
            None,
            other.project_id,
        )
        return Reach.WIDER if is_wider else Reach.NARROWER


@dataclass(frozen=True, slots=True)
class Filed:
    """Whom a memory is for, and under what it is filed; "" is no category."""

    owner: Owner
    category: str


@dataclass(frozen=True, slots=True)
class Allowlists:
    """The categories of each agent that reads some only; all read what is in none."""

    of_agents: Mapping[UUID, frozenset[str]] = field(default_factory=dict)

    def may_read(self, *, agent_id: UUID | None, category: str) -> bool:
        """Returns whether the agent, or a non-agent reader, may read memories of a category."""
        allowed = self.of_agents.get(agent_id) if agent_id is not None else None
        return allowed is None or not category or category in allowed

    def reach(self, *, of: Filed, beside: Filed) -> Reach | None:
        """Compares the readers of `of` and `beside`; None where each has readers of its own."""
        base = of.owner.reach_beside(beside.owner)
        if not self.of_agents or of.category == beside.category:
            return base
        covers = base != Reach.NARROWER and self._kept_from(
            of.category, beside.owner
        ) <= self._kept_from(beside.category, beside.owner)
        is_covered = base != Reach.WIDER and self._kept_from(
            beside.category, of.owner
        ) <= self._kept_from(of.category, of.owner)
        if covers:
            return Reach.SAME if is_covered else Reach.WIDER
        return Reach.NARROWER if is_covered else None

    def _kept_from(self, category: str, owner: Owner) -> set[UUID]:
        agents = self.of_agents if owner.agent_id is None else (owner.agent_id,)
        return {each for each in agents if not self.may_read(agent_id=each, category=category)}


@dataclass(frozen=True, slots=True)
class Viewer:
    """The reader or writer: a team, and optionally one agent, end user and project of it.

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
