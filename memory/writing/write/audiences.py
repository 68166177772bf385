"""Who sees a draft, who sees a stored memory, and which of these a draft may be compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from memory.domain.audience import Allowlists, Filed, Owner, Reach
from memory.models import Memory
from memory.selectors.neighbours.neighbours import ComparisonSet
from memory.writing.write.drafts import MemoryDraft
from teams.prepared import run_prepared

_ALLOWLISTS = """
SELECT id, allowed_categories FROM teams_agent WHERE team_id = $1 AND allowed_categories <> '[]'
"""


@dataclass(frozen=True, slots=True)
class Readers:
    """Which categories the agents of a team read, for one write by `agent_id` (None: no agent).

    The agent that learned what a draft says counts as its writer too, so that its own statement
    never gives way to what it cannot read.
    """

    allowlists: Allowlists = field(default_factory=Allowlists)
    agent_id: UUID | None = None

    @property
    def are_alike(self) -> bool:
        """Whether every agent reads every category."""
        return not self.allowlists.of_agents

    def may_read(self, memory: Memory, draft: MemoryDraft) -> bool:
        """Whether all who write the draft may read the memory's category.

        What was extracted is compared with what was extracted before under its category in any
        case: otherwise each telling would be stored anew, and no more than counts tell of it.
        """
        are_extracted = draft.extraction_pass is not None and memory.extraction_pass is not None
        if are_extracted and memory.category == draft.category:
            return True
        return all(
            self.allowlists.may_read(agent_id=each, category=memory.category)
            for each in (self.agent_id, draft.author_id, draft.agent_id)
        )

    def reach(self, memory: Memory, draft: MemoryDraft) -> Reach | None:
        """Who sees the memory, compared with who will see the draft.

        None where the two are not compared. The memory is of the draft's comparison set.
        """
        mine = Filed(draft.owner, draft.category)
        reach = self.allowlists.reach(of=filed(memory), beside=mine)
        return reach if self.may_read(memory, draft) else None


def readers_in(*, team_id: UUID, agent_id: UUID | None = None) -> Readers:
    """The readers as they are now, for a write by that agent; call it in the team's scope."""
    rows = run_prepared(_ALLOWLISTS, [team_id])
    return Readers(Allowlists({pk: frozenset(names) for pk, names in rows}), agent_id)


def filed(memory: Memory) -> Filed:
    """Whom a stored memory is for, and its category."""
    owner = Owner.of(
        team_id=memory.team_id,
        memory_type=memory.memory_type,
        agent_id=memory.agent_id,
        end_user_id=memory.end_user_id,
        project_id=memory.project_id,
    )
    return Filed(owner, memory.category)


def comparison_set(draft: MemoryDraft) -> ComparisonSet:
    """The memories that a draft is compared with."""
    author = draft.author_id if draft.owner.agent_id is None else None
    return ComparisonSet(draft.owner, author)
