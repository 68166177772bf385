"""Who reads a category, and so whether two memories have the same readers (seed 004, §5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from .audience import Audience, Reach


@dataclass(frozen=True, slots=True)
class Filed:
    """Whom a memory is for, and under what it is filed; "" is no category."""

    audience: Audience
    category: str


@dataclass(frozen=True, slots=True)
class Allowlists:
    """The categories of each agent that reads some of them only.

    Other agents read all; what is in no category, all agents read.
    """

    of_agents: Mapping[UUID, frozenset[str]] = field(default_factory=dict)

    def may_read(self, *, agent_id: UUID | None, category: str) -> bool:
        """Whether the agent, or somebody who is none, reads memories of that category."""
        allowed = self.of_agents.get(agent_id) if agent_id is not None else None
        return allowed is None or not category or category in allowed

    def reach(self, *, of: Filed, beside: Filed) -> Reach | None:
        """Who sees `of`, compared with those who see `beside`, whose audiences are comparable.

        None where each has readers that the other one has not.
        """
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
