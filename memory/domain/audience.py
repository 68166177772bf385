"""Whom a memory is for, and who may read it: within an audience memories repeat and contradict."""

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


class Reach(StrEnum):
    """Who sees a memory, compared with who sees another one."""

    SAME = "same"
    WIDER = "wider"
    NARROWER = "narrower"


@dataclass(frozen=True, slots=True)
class Audience:
    """Who sees a memory and whom it is about.

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
    ) -> Audience:
        """The audience of a memory of this type and owner."""
        return cls(
            team_id=team_id,
            kind=memory_type if memory_type in OF_AN_AGENT else OPEN,
            agent_id=None if memory_type in TEAM_WIDE else agent_id,
            end_user_id=end_user_id,
            project_id=project_id,
        )

    def reach_beside(self, other: Audience) -> Reach:
        """Whether all who see `other`, with whom this one is comparable, see this one too."""
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

    audience: Audience
    category: str


@dataclass(frozen=True, slots=True)
class Allowlists:
    """The categories of each agent that reads some only; all read what is in none."""

    of_agents: Mapping[UUID, frozenset[str]] = field(default_factory=dict)

    def may_read(self, *, agent_id: UUID | None, category: str) -> bool:
        """Whether the agent, or somebody who is none, reads memories of that category."""
        allowed = self.of_agents.get(agent_id) if agent_id is not None else None
        return allowed is None or not category or category in allowed

    def reach(self, *, of: Filed, beside: Filed) -> Reach | None:
        """Who sees `of`, compared with `beside`; None where each has readers of its own."""
        base = of.audience.reach_beside(beside.audience)
        if not self.of_agents or of.category == beside.category:
            return base
        covers = base != Reach.NARROWER and self._kept_from(
            of.category, beside.audience
        ) <= self._kept_from(beside.category, beside.audience)
        is_covered = base != Reach.WIDER and self._kept_from(
            beside.category, of.audience
        ) <= self._kept_from(of.category, of.audience)
        if covers:
            return Reach.SAME if is_covered else Reach.WIDER
        return Reach.NARROWER if is_covered else None

    def _kept_from(self, category: str, audience: Audience) -> set[UUID]:
        """The agents of the audience that may not read the category."""
        agents = self.of_agents if audience.agent_id is None else (audience.agent_id,)
        return {each for each in agents if not self.may_read(agent_id=each, category=category)}
