"""What a judge that asks a model is asked before the transaction in which it must answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain.letter_case import other_case
from memory.domain.ports import PreparingJudge
from memory.domain.text import normalise_text
from memory.domain.types import Statement
from memory.models import Memory
from memory.selectors.meeting.neighbours import Neighbour
from memory.services.writing.drafts import MemoryDraft
from memory.services.writing.matters import pairs_to_judge
from memory.services.writing.readers import readers_in
from memory.services.writing.surroundings import Surroundings
from teams.services.flags import flags_of_id
from teams.tenancy import team_scope


def prepare_judgements(
    *, drafts: Sequence[MemoryDraft], vectors: NDArray[np.float32], tools: Tools
) -> None:
    """Let the judge think about what the drafts are going to meet; call it in no transaction.

    The neighbours are read in a transaction that ends before the judge is asked. What changes in
    between the judge answers without a model.
    """
    judge = tools.judge
    if not isinstance(judge, PreparingJudge):
        return
    checked = [index for index, draft in enumerate(drafts) if draft.check]
    if not checked:
        return
    with team_scope(team_ids={drafts[index].team_id for index in checked}, actor="judge"):
        if not flags_of_id(team_id=drafts[checked[0]].team_id).contradiction_detection:
            return
        surroundings = Surroundings(
            drafts=drafts,
            vectors=vectors,
            embedding_model=tools.embedder.name,
            opposition_similarity=tools.embedder.opposition_similarity,
            readers=readers_in(team_id=drafts[checked[0]].team_id),
        )
        met: list[list[Neighbour]] = []
        for index in checked:
            met.append(surroundings.of(index))
            surroundings.add(index, as_met(drafts[index]))
    pairs: list[tuple[Statement, Statement]] = []
    for place, index in enumerate(checked):
        draft = drafts[index]
        words = normalise_text(draft.content)
        if not draft.replaces and any(
            words == normalise_text(near.memory.content)
            and other_case(near.memory.content, draft.content) is None
            for near in met[place]
        ):
            continue  # a fact said again is found by its words and never judged
        found = pairs_to_judge(draft=draft, neighbours=met[place], tools=tools)
        pairs += [(pair.existing, pair.new) for pair in found[: settings.JUDGED_NEIGHBOURS]]
    judge.prepare(pairs)


def as_met(draft: MemoryDraft) -> Memory:
    """The draft as later drafts of the same write are going to meet it."""
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
