"""What a judge that asks a model is asked before the transaction in which it must answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain.ports import PreparingJudge
from memory.domain.text import normalise_text
from memory.domain.types import Statement
from memory.models import Memory
from memory.selectors.neighbours import Neighbour, neighbours_of
from memory.services.conflicts import pairs_to_judge
from memory.services.drafts import MemoryDraft
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
    met: list[list[Neighbour]] = []
    with team_scope(team_ids={drafts[index].team_id for index in checked}, actor="judge"):
        for index in checked:
            draft = drafts[index]
            met.append(
                neighbours_of(
                    audience=draft.audience,
                    vector=vectors[index],
                    embedding_model=tools.embedder.name,
                    subject=draft.subject,
                    limit=settings.JUDGED_NEIGHBOURS,
                )
            )
    pairs: list[tuple[Statement, Statement]] = []
    for place, index in enumerate(checked):
        draft = drafts[index]
        words = normalise_text(draft.content)
        near = met[place] + _earlier_drafts(drafts, vectors, checked[:place], index)
        if not draft.replaces and any(words == normalise_text(n.memory.content) for n in near):
            continue  # a fact said again is found by its words and never judged
        near.sort(key=lambda neighbour: -neighbour.similarity)
        found = pairs_to_judge(draft=draft, neighbours=near, tools=tools)
        pairs += [(pair.existing, pair.new) for pair in found[: settings.JUDGED_NEIGHBOURS]]
    judge.prepare(pairs)


def _earlier_drafts(
    drafts: Sequence[MemoryDraft],
    vectors: NDArray[np.float32],
    earlier: Sequence[int],
    index: int,
) -> list[Neighbour]:
    """The drafts of the same write that will be stored by the time this one is checked."""
    return [
        Neighbour(
            Memory(
                content=drafts[other].content,
                created_at=drafts[other].created_at,
                subject=drafts[other].subject,
            ),
            float(vectors[other] @ vectors[index]),
        )
        for other in earlier
        if drafts[other].audience == drafts[index].audience
    ]
