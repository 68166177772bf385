"""What a plan may show for a question: ranked candidates as lines, and the conflicts among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.clients.tools import Tools
from memory.domain.plans.plan import Entry
from memory.domain.rendering import Line, Opposite
from memory.domain.scoring import Signals, Weights
from memory.domain.tokens import estimate_tokens
from memory.domain.types import MemoryType, Scope, Status
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.selectors.contradictions import open_contradictions_among
from memory.selectors.signals import SignalRow, memories_by_id
from memory.services.clashes import Clash, clashes_within
from memory.services.ranking import Ranked, ReadQuestion, by_policy, rank

# So many times the budget is handed to a plan, which leaves out what repeats and what is too long.
SPARE = 2


@dataclass(frozen=True, slots=True)
class ScoredMemory:
    """A memory with its score 0-1, the signals behind it, and its rendered size in tokens."""

    memory: Memory
    score: float
    signals: Signals
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a plan may show: the candidates, best first, as lines, and the conflicts among them."""

    ranked: list[Ranked]
    lines: dict[UUID, Line]
    clashes: list[Clash]

    @property
    def entries(self) -> list[Entry]:
        """The candidates as a plan takes them."""
        return [
            Entry(each.row.memory_id, self.lines[each.row.memory_id], each.score)
            for each in self.ranked
        ]


def recall(
    *,
    viewer: Viewer,
    question: ReadQuestion,
    weights: Weights,
    token_budget: int,
    include_cold: bool,
    tools: Tools,
    now: datetime,
) -> Recalled:
    """The candidates for a prompt of that budget, best first; call it in the team's scope."""
    ranked = _that_could_fit(
        rank(
            viewer=viewer,
            question=question,
            score=by_policy(weights),
            now=now,
            with_cold=include_cold,
        ),
        token_budget=token_budget,
    )
    rows = [each.row for each in ranked]
    clashes = clashes_within(rows=rows, tools=tools)
    opposites = _opposites(viewer, rows, clashes)
    lines = {row.memory_id: _line(row, opposites.get(row.memory_id, ())) for row in rows}
    return Recalled(ranked, lines, clashes)


def load_chosen(
    *, viewer: Viewer, ranked: Iterable[Ranked], tokens: Mapping[UUID, int] | None = None
) -> list[ScoredMemory]:
    """The memories of ranked candidates, in their order; with `tokens` only those it names."""
    wanted = [each for each in ranked if tokens is None or each.row.memory_id in tokens]
    memories = memories_by_id(viewer=viewer, ids=[each.row.memory_id for each in wanted])
    return [
        ScoredMemory(
            memories[each.row.memory_id],
            each.score,
            each.signals,
            (tokens or {}).get(each.row.memory_id, 0),
        )
        for each in wanted
        if each.row.memory_id in memories
    ]


def contradictions_among(
    *, viewer: Viewer, recalled: Recalled, chosen: Sequence[ScoredMemory]
) -> list[Contradiction]:
    """The open contradictions of the chosen memories, recorded or seen only now."""
    shown = {each.memory.pk: each.memory for each in chosen}
    disputed = [pk for pk, memory in shown.items() if memory.status == Status.DISPUTED]
    recorded = open_contradictions_among(viewer=viewer, memory_ids=list(shown)) if disputed else []
    seen = [
        each.as_contradiction(
            earlier=shown[each.earlier.memory_id], later=shown[each.later.memory_id]
        )
        for each in recalled.clashes
        if each.earlier.memory_id in shown and each.later.memory_id in shown
    ]
    return [*recorded, *seen]


def signals_hit(chosen: Sequence[ScoredMemory]) -> dict[str, int]:
    """How many of the chosen memories each signal speaks for."""
    names = ("semantic", "recency", "importance", "continuity", "relation")
    return {name: sum(getattr(each.signals, name) > 0.01 for each in chosen) for name in names}


def _that_could_fit(ranked: Sequence[Ranked], *, token_budget: int) -> list[Ranked]:
    """What may reach the prompt: what has room of its own, and of the others twice the budget."""
    kept, room = [], SPARE * token_budget
    for each in ranked:
        if each.is_mandatory or each.row.memory_type == MemoryType.USER_PROFILE:
            kept.append(each)
        elif room > 0:
            kept.append(each)
            room -= estimate_tokens(each.row.content)
    return kept


def _opposites(
    viewer: Viewer, rows: Sequence[SignalRow], clashes: Sequence[Clash]
) -> dict[UUID, tuple[Opposite, ...]]:
    """The texts that each candidate contradicts, as far as the viewer may see them."""
    wanted = {other for row in rows for other in row.contradicts}
    seen = Memory.objects.visible_to(viewer).filter(id__in=wanted) if wanted else ()
    texts = {memory.pk: Opposite(memory.content, memory.created_at) for memory in seen}
    found = {
        row.memory_id: tuple(texts[other] for other in row.contradicts if other in texts)
        for row in rows
    }
    for clash in clashes:
        one, other = clash.earlier, clash.later
        found[one.memory_id] += (Opposite(other.content, other.created_at),)
        found[other.memory_id] += (Opposite(one.content, one.created_at),)
    return found


def _line(row: SignalRow, opposites: tuple[Opposite, ...]) -> Line:
    return Line(
        content=row.content,
        memory_type=MemoryType(row.memory_type),
        importance=row.importance,
        confidence=row.confidence,
        at=row.at,
        status=row.status,
        category=row.category,
        subject=row.subject,
        succeeded=row.succeeded,
        failed=row.failed,
        opposites=opposites,
        is_pinned=row.is_pinned,
        scope=Scope(row.scope),
    )
