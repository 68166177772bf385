"""Whom a memory is for: the unit within which memories repeat and contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from .types import MemoryType

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
