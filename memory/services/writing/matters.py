"""Which memories speak of the same matter as a new one: about those a judge is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from memory.clients.tools import Tools
from memory.domain.audience import Reach
from memory.domain.judging.hearing import (
    EXTRACTED,
    STATED,
    Bar,
    Hearing,
    hearing_of_one_subject,
    hearing_on,
)
from memory.domain.judging.paths import as_compared, is_specific
from memory.domain.types import Statement, Strategy, Verdict
from memory.models import Memory
from memory.selectors.meeting.neighbours import Neighbour
from memory.services.writing.drafts import MemoryDraft


@dataclass(frozen=True, slots=True)
class Pair:
    """A draft and a memory it meets as a judge reads them: `existing` is the earlier of the two."""

    memory: Memory
    reach: Reach
    existing: Statement
    new: Statement
    same_subject: bool
    new_is_older: bool
    hearing: Hearing


class Told(Protocol):
    """Anything that says something about a subject: a draft, a memory, a candidate of a read."""

    @property
    def content(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...

    @property
    def subject(self) -> str: ...


def as_statements(*, earlier: Told, later: Told) -> tuple[Statement, Statement]:
    """The two as gate and judge are to see them: with their subjects where those are evidence."""
    return as_compared(
        Statement(earlier.content, earlier.created_at, earlier.subject),
        Statement(later.content, later.created_at, later.subject),
    )


def pairs_to_judge(
    *, draft: MemoryDraft, neighbours: Sequence[Neighbour], tools: Tools
) -> list[Pair]:
    """The neighbours that may speak of the same thing as the draft, without those it replaces."""
    pairs = []
    for neighbour in neighbours:
        memory = neighbour.memory
        if memory.pk in draft.replaces:
            continue
        older = draft.created_at < memory.created_at
        said = replace(draft, content=draft.told) if draft.told else draft
        first, second = as_statements(
            earlier=said if older else memory, later=memory if older else said
        )
        bar = bar_of(draft.extraction_pass)
        hearing: Hearing | None = hearing_of_one_subject(bar=bar)
        same_subject = is_specific(draft.subject) and draft.subject == memory.subject
        if not same_subject:
            hearing = hearing_on(
                existing=first,
                new=second,
                similarity=neighbour.similarity,
                anchor=tools.embedder.opposition_similarity,
                bar=bar,
            )
        if hearing is not None:
            reach = neighbour.reach
            pairs.append(Pair(memory, reach, first, second, same_subject, older, hearing))
    return pairs


def bar_of(extraction_pass: int | None) -> Bar:
    """What it takes for a memory of that pass; None is for one that somebody stated."""
    return STATED if extraction_pass is None else EXTRACTED


def strategy_of(*, same_subject: bool, verdict: Verdict) -> Strategy:
    """By which of seed 000's strategies a conflict was found."""
    if same_subject:
        return Strategy.SAME_SUBJECT
    if verdict == Verdict.SUPERSEDE:
        return Strategy.TEMPORAL_OVERRIDE
    return Strategy.SEMANTIC_OPPOSITION
