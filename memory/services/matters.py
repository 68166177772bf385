"""Which memories speak of the same matter as a new one: about those a judge is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.clients.tools import Tools
from memory.domain.audience import Reach
from memory.domain.judging.relatedness import Change, is_specific, names_change, relatedness
from memory.domain.types import Statement, Strategy, Verdict
from memory.models import Memory
from memory.selectors.neighbours import Neighbour
from memory.services.drafts import MemoryDraft


@dataclass(frozen=True, slots=True)
class Bar:
    """What it takes, without a common subject, that a memory changes another one.

    `relatedness` is how likely the two must be about one matter, `sureness` how confident the
    judge must be, both 0-1. benchmarks/relatedness.py shows what each costs. `change` is what the
    new memory may say in so many words instead of being that related.
    """

    relatedness: float
    sureness: float
    change: Change


# Somebody said it on purpose; and what was distilled from talk, where a neighbour is seldom about
# the same matter and a wrong verdict would retire what was right.
STATED = Bar(relatedness=0.4, sureness=0.0, change=Change.OF_ASPECT)
EXTRACTED = Bar(relatedness=0.85, sureness=0.6, change=Change.OF_ASPECT)


@dataclass(frozen=True, slots=True)
class Pair:
    """A draft and a memory it meets as a judge reads them: `existing` is the earlier of the two."""

    memory: Memory
    reach: Reach
    existing: Statement
    new: Statement
    same_subject: bool
    new_is_older: bool
    sureness_needed: float


def pairs_to_judge(
    *, draft: MemoryDraft, neighbours: Sequence[Neighbour], tools: Tools
) -> list[Pair]:
    """The neighbours that may speak of the same thing as the draft, without those it replaces."""
    arriving = Statement(draft.content, draft.created_at, draft.subject)
    pairs = []
    for neighbour in neighbours:
        memory = neighbour.memory
        if memory.pk in draft.replaces:
            continue
        same_subject = is_specific(draft.subject) and draft.subject == memory.subject
        standing = Statement(memory.content, memory.created_at, memory.subject)
        older = arriving.at < standing.at
        first, second = (arriving, standing) if older else (standing, arriving)
        bar = bar_of(draft.extraction_pass)
        if not same_subject and not speak_of_one_matter(
            existing=first, new=second, similarity=neighbour.similarity, bar=bar, tools=tools
        ):
            continue
        sureness = 0.0 if same_subject else bar.sureness
        pairs.append(Pair(memory, neighbour.reach, first, second, same_subject, older, sureness))
    return pairs


def bar_of(extraction_pass: int | None) -> Bar:
    """What it takes for a memory of that pass; None is for one that somebody stated."""
    return STATED if extraction_pass is None else EXTRACTED


def speak_of_one_matter(
    *, existing: Statement, new: Statement, similarity: float, bar: Bar, tools: Tools
) -> bool:
    """Whether two statements without a common subject are worth a judge's look.

    `similarity` is the cosine of their vectors.
    """
    anchor = tools.embedder.opposition_similarity
    if similarity >= anchor:
        related = relatedness(existing=existing, new=new, similarity=similarity, anchor=anchor)
        if related >= bar.relatedness:
            return True
    return names_change(existing=existing, new=new) >= bar.change


def strategy_of(*, same_subject: bool, verdict: Verdict) -> Strategy:
    """By which of seed 000's strategies a conflict was found."""
    if same_subject:
        return Strategy.SAME_SUBJECT
    if verdict == Verdict.SUPERSEDE:
        return Strategy.TEMPORAL_OVERRIDE
    return Strategy.SEMANTIC_OPPOSITION
