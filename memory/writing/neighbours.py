"""The memories that a draft is compared with, and who reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.domain.audience import Allowlists, Filed, Owner, Reach
from memory.models import Memory
from memory.selectors.neighbours import (
    Asked,
    ComparisonSet,
    Found,
    Neighbour,
    live_memories,
    nearest_memories,
)
from memory.writing.drafts import MemoryDraft
from teams.prepared import run_prepared

# How many of the nearest, and how many of the subject, a draft is compared with at most.
MOST_NEIGHBOURS = 10
# More are looked up where the writer may not read some of them.
_WITH_HIDDEN = 40
_ALLOWLISTS = """
SELECT id, allowed_categories FROM teams_agent WHERE team_id = $1 AND allowed_categories <> '[]'
"""


@dataclass(frozen=True, slots=True)
class Readers:
    """The categories that the agents of a team read, for one write by `agent_id`, if any.

    The agent that learned a draft counts as its writer too, so that its own statement never gives
    way to one that it cannot read.
    """

    allowlists: Allowlists = field(default_factory=Allowlists)
    agent_id: UUID | None = None

    @property
    def are_alike(self) -> bool:
        """Returns whether every agent reads every category."""
        return not self.allowlists.of_agents

    def may_read(self, memory: Memory, draft: MemoryDraft) -> bool:
        """Returns whether all who write the draft may read the memory's category.

        Extracted memories of one category are compared in any case: otherwise each repetition
        would be stored anew, and only counts are reported of them.
        """
        are_extracted = draft.extraction_pass is not None and memory.extraction_pass is not None
        if are_extracted and memory.category == draft.category:
            return True
        return all(
            self.allowlists.may_read(agent_id=each, category=memory.category)
            for each in (self.agent_id, draft.author_id, draft.agent_id)
        )

    def reach(self, memory: Memory, draft: MemoryDraft) -> Reach | None:
        """Returns who sees a memory of the draft's comparison set, beside who will see the draft.

        None where the two are not compared.
        """
        mine = Filed(draft.owner, draft.category)
        reach = self.allowlists.reach(of=filed(memory), beside=mine)
        return reach if self.may_read(memory, draft) else None


def readers_in(*, team_id: UUID, agent_id: UUID | None = None) -> Readers:
    """Returns the present readers, for a write by that agent; call it in the team's scope."""
    rows = run_prepared(_ALLOWLISTS, [team_id])
    return Readers(Allowlists({pk: frozenset(names) for pk, names in rows}), agent_id)


def filed(memory: Memory) -> Filed:
    """Returns the owner and category of a stored memory."""
    owner = Owner.of(
        team_id=memory.team_id,
        memory_type=memory.memory_type,
        agent_id=memory.agent_id,
        end_user_id=memory.end_user_id,
        project_id=memory.project_id,
    )
    return Filed(owner, memory.category)


def comparison_set(draft: MemoryDraft) -> ComparisonSet:
    """Returns the memories that a draft is compared with."""
    author = draft.author_id if draft.owner.agent_id is None else None
    return ComparisonSet(draft.owner, author)


class NeighbourSearch:
    """Finds what each draft of one write is compared with, in the write's transaction.

    `vectors` are unit vectors, shape (drafts, dimensions). The write reports by `add` which draft
    was stored, and by `drop` which memories are no longer live.
    """

    def __init__(
        self,
        *,
        drafts: Sequence[MemoryDraft],
        vectors: NDArray[np.float32],
        embedding_model: str,
        readers: Readers | None = None,
    ) -> None:
        self._drafts = drafts
        self._readers = readers or Readers()
        # In the precision of the database, so that drafts and stored memories compare alike.
        self._vectors = vectors.astype(np.float16).astype(np.float32)
        self._model = embedding_model
        self._stored: dict[int, Found] = {}
        self._known: dict[UUID, Memory] = {}
        self._gone: set[UUID] = set()
        # The drafts of this write that are stored by now: their places and memories.
        self._added: dict[Owner, list[tuple[int, Memory]]] = defaultdict(list)
        self._ask([place for place, draft in enumerate(drafts) if draft.check])
        self._load(self.stored)

    @property
    def stored(self) -> list[UUID]:
        """Returns the stored memories that the drafts may be compared with."""
        return list({pk for one in self._stored.values() for pk in (*one.near, *one.of_subject)})

    def of(self, index: int) -> list[Neighbour]:
        """Returns the nearest live memories of the draft, and of its subject, nearest first."""
        draft = self._drafts[index]
        if not draft.check:
            return []
        if not self._gone.isdisjoint((*self._stored[index].near, *self._stored[index].of_subject)):
            self._ask([index])
        stored, earlier = self._stored[index], self._earlier(index)
        near = {**stored.near, **earlier}
        same = dict(stored.of_subject)
        if draft.subject:
            same |= {k: v for k, v in earlier.items() if self._known[k].subject == draft.subject}
        self._load([*near, *same])
        found = {each.memory.pk: each for one in (near, same) for each in self._best(draft, one)}
        return sorted(found.values(), key=_by_nearness)

    def add(self, index: int, memory: Memory) -> None:
        """Notes that the draft is stored as `memory`."""
        self._added[self._drafts[index].owner].append((index, memory))
        self._known[memory.pk] = memory

    def drop(self, ids: Iterable[UUID]) -> None:
        """Notes that these are no longer live."""
        gone = set(ids)
        if not gone:
            return
        self._gone |= gone
        for owner, added in self._added.items():
            self._added[owner] = [each for each in added if each[1].pk not in gone]

    def read_again(self, ids: Iterable[UUID]) -> None:
        """Reads these anew, and drops those that are no longer live."""
        wanted = set(ids)
        rows = live_memories(team_id=self._drafts[0].team_id, ids=wanted)
        self._known |= rows
        self.drop(wanted - rows.keys())

    def _best(self, draft: MemoryDraft, near: dict[UUID, float]) -> list[Neighbour]:
        comparable = [
            Neighbour(memory, near[memory.pk], reach)
            for memory in (self._known[pk] for pk in near if pk not in self._gone)
            if (reach := self._readers.reach(memory, draft)) is not None
        ]
        return sorted(comparable, key=_by_nearness)[:MOST_NEIGHBOURS]

    def _ask(self, indexes: Sequence[int]) -> None:
        asked = [
            Asked(comparison_set(draft), self._vectors[index], draft.subject)
            for index, draft in ((index, self._drafts[index]) for index in indexes)
        ]
        found = nearest_memories(
            asked=asked,
            embedding_model=self._model,
            limit=MOST_NEIGHBOURS if self._readers.are_alike else _WITH_HIDDEN,
        )
        self._stored |= zip(indexes, found, strict=True)

    def _earlier(self, index: int) -> dict[UUID, float]:
        """Returns the nearest of the drafts stored by this write, and all of the subject."""
        draft = self._drafts[index]
        among = comparison_set(draft)
        found: dict[UUID, float] = {}
        for owner, added in self._added.items():
            if not added or not among.holds(owner):
                continue
            cosines = self._vectors[[place for place, _ in added]] @ self._vectors[index]
            nearest = set(np.argsort(-cosines)[:_WITH_HIDDEN].tolist())
            found |= {
                memory.pk: float(cosines[place])
                for place, (_, memory) in enumerate(added)
                if place in nearest or (draft.subject and memory.subject == draft.subject)
            }
        return found

    def _load(self, ids: Iterable[UUID]) -> None:
        wanted = {pk for pk in ids if pk not in self._known and pk not in self._gone}
        if wanted:
            self.read_again(wanted)


def _by_nearness(neighbour: Neighbour) -> tuple[float, UUID]:
    return -neighbour.similarity, neighbour.memory.pk
