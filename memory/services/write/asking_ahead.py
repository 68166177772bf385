"""What a judge that asks a model is asked before the transaction in which it must answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain.letter_case import differs_in_case
from memory.domain.ports import PreparingJudge
from memory.domain.text.normalise import normalise_text
from memory.domain.types import Statement
from memory.models import Memory
from memory.selectors.neighbours.comparison_set import Neighbour
from memory.services.write.audiences import readers_in
from memory.services.write.conflicts import pairs_to_judge
from memory.services.write.drafts import MemoryDraft
from memory.services.write.neighbours import NeighbourSearch
from teams.services.flags import flags_of_id
from teams.tenancy import team_scope


def ask_judge_ahead(
    *, drafts: Sequence[MemoryDraft], vectors: NDArray[np.float32], tools: Tools
) -> None:
    """Let the judge think about the pairs that the drafts will give it; call it in no transaction.

    The neighbours are read in a transaction that ends before the judge is asked. What changes in
    between the judge answers without a model.
    """
    judge = tools.judge
    checked = [index for index, draft in enumerate(drafts) if draft.check]
    if not checked or not isinstance(judge, PreparingJudge):
        return
    team_id = drafts[checked[0]].team_id
    with team_scope(team_ids=[team_id], actor="judge"):
        if not flags_of_id(team_id=team_id).contradiction_detection:
            return
        search = NeighbourSearch(
            drafts=drafts,
            vectors=vectors,
            embedding_model=tools.embedder.name,
            readers=readers_in(team_id=team_id),
        )
        neighbours: dict[int, list[Neighbour]] = {}
        for index in checked:
            neighbours[index] = search.of(index)
            search.add(index, _as_neighbour(drafts[index]))
    pairs: list[tuple[Statement, Statement]] = []
    for index, near in neighbours.items():
        draft = drafts[index]
        if not draft.replaces and any(_says_the_same(each.memory, draft) for each in near):
            continue  # found by its words and never judged
        found = pairs_to_judge(
            draft=draft, neighbours=near, anchor=tools.embedder.opposition_similarity
        )
        pairs += [(pair.existing, pair.new) for pair in found]
    judge.prepare(pairs)


def _says_the_same(memory: Memory, draft: MemoryDraft) -> bool:
    return normalise_text(memory.content) == normalise_text(draft.content) and not differs_in_case(
        memory.content, draft.content
    )


def _as_neighbour(draft: MemoryDraft) -> Memory:
    """The draft as later drafts of the same write will find it."""
    return Memory(
        team_id=draft.team_id,
        content=draft.content,
        created_at=draft.created_at,
        subject=draft.subject,
        memory_type=draft.memory_type.value,
        agent_id=draft.agent_id,
        end_user_id=draft.end_user_id,
        project_id=draft.project_id,
        category=draft.category,
    )
