"""What became of every candidate of a read: told, or left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from memory.domain.plans.assembly import Assembly
from memory.domain.scoring import Signals, relative_to_best
from memory.reading.answers import Considered, Prompt
from memory.reading.messages import RankedMessage, ScoredMessage
from memory.reading.ranking import Ranked
from memory.reading.retrieval import is_told_as_summary
from memory.satellites.query.querying import Queried, QueryResult
from memory.selectors.search.signal_rows import SignalRow


class Fate(StrEnum):
    """Why a candidate is in the answer, or why it is not."""

    TOLD = "told"
    SAME = "says the same"
    LIMIT = "over the limit"
    BUDGET = "over the budget"
    ROOM = "no room left"
    BEHIND = "waits for its successor"
    SUMMARY = "told as the summary"
    BELOW = "below the minimum score"
    UNRELATED = "says nothing about it"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a memory or a message, with its score 0-1 and the signals behind it.

    Without a `row` it is a `message`. `section` is where it stands, or would have stood, and
    `tokens` what its line takes there, 0 where no line was written. `same_as` is the memory that
    says the same. `relevance` is what was weighed as the semantic signal: in a prompt that is
    relative to the best candidate's.
    """

    fate: Fate
    score: float
    signals: Signals
    relevance: float
    row: SignalRow | None = None
    message: ScoredMessage | None = None
    section: str = ""
    tokens: int = 0
    same_as: UUID | None = None

    @property
    def key(self) -> UUID | None:
        """The id of the memory or the message."""
        if self.row is not None:
            return self.row.memory_id
        return self.message.id if self.message else None


def outcomes_of_prompt(
    found: Prompt, *, limit: int | None, summary_of: UUID | None = None
) -> list[Outcome]:
    """Every candidate of a prompt, best first; `summary_of` is that of its `Packing`."""
    assembly, considered = found.assembly, found.considered
    weighed = _weighed(considered)
    packed = _Packing.of(assembly, is_full=limit is not None and assembly.optional >= limit)
    relevant = {each.row.memory_id for each in considered.relevant.memories}
    outcomes = [
        _outcome(each, Fate.BELOW)
        if each.row.memory_id not in relevant
        else _outcome(each, Fate.SUMMARY)
        if is_told_as_summary(each, of=summary_of)
        else packed.outcome(each, past=considered.relevant.ends)
        for each in considered.found.memories
    ]
    quoted = [
        Outcome(Fate.TOLD, each.score, each.signals, 0.0, message=each, tokens=each.tokens)
        for each in found.messages
    ]
    return _best_first(
        [replace(each, relevance=weighed[each.key]) for each in (*outcomes, *quoted)]
    )


def outcomes_of_query(queried: Queried, *, limit: int) -> list[Outcome]:
    """Every candidate of a query's search, best first, and what came with its whole category."""
    searched, answer = queried.searched, queried.answer
    told = {each.memory.pk: each.tokens for each in answer.results}
    same = {
        one.value.memory.pk: other.value.memory.pk
        for one, other in queried.packed.duplicates
        if isinstance(one.value, QueryResult) and isinstance(other.value, QueryResult)
    }
    chosen = {each.id for each in searched.memories} if searched else set()
    is_full = searched is not None and len(searched.results) >= limit

    considered = searched.considered if searched else None
    relevant = {each.row.memory_id for each in considered.relevant.memories} if considered else ()

    def fate(each: Ranked) -> Fate:
        key = each.row.memory_id
        if key in told:
            return Fate.TOLD
        if key in same:
            return Fate.SAME
        if key in chosen:
            return Fate.BUDGET
        if key not in relevant:
            return Fate.BELOW
        says_nothing = each.table.semantic[each.place] <= 0
        return Fate.UNRELATED if says_nothing or not is_full else Fate.LIMIT

    outcomes = [
        _outcome(
            each,
            fate(each),
            tokens=told.get(each.row.memory_id, 0),
            same_as=same.get(each.row.memory_id),
        )
        for each in (considered.found.memories if considered else ())
    ]
    quoted = [
        Outcome(
            Fate.TOLD,
            each.score,
            each.message.signals,
            each.message.signals.semantic,
            message=each.message,
            tokens=each.tokens,
        )
        for each in answer.messages
    ]
    return _best_first([*outcomes, *quoted])


@dataclass(frozen=True, slots=True)
class _Packing:
    """What a plan made of the memories that it was offered, by their ids."""

    told: dict[UUID, tuple[str, int]]
    offered: dict[UUID, tuple[str, int]]
    same: dict[UUID, UUID]
    cut: set[UUID]
    is_full: bool

    @classmethod
    def of(cls, assembly: Assembly, *, is_full: bool) -> _Packing:
        return cls(
            told={each.entry.key: (each.section, each.tokens) for each in assembly.told},
            offered={
                item.value[0].key: (item.section, item.tokens)
                for item in assembly.offered
                if item.value[0].key is not None
            },
            same=dict(assembly.duplicates),
            cut={item.value[0].key for item in assembly.cut if item.value[0].key is not None},
            is_full=is_full,
        )

    def outcome(self, each: Ranked, *, past: Mapping[UUID, UUID]) -> Outcome:
        key = each.row.memory_id
        section, tokens = self.told.get(key) or self.offered.get(key, ("", 0))
        return _outcome(
            each,
            self._fate(key, is_past=key in past),
            section=section,
            tokens=tokens,
            same_as=self.same.get(key),
        )

    def _fate(self, key: UUID, *, is_past: bool) -> Fate:
        if key in self.told:
            return Fate.TOLD
        if key in self.same:
            return Fate.SAME
        if key not in self.offered:
            return Fate.BEHIND if is_past else Fate.ROOM
        if key in self.cut:
            return Fate.BUDGET
        return Fate.LIMIT if self.is_full else Fate.ROOM


def _weighed(considered: Considered) -> dict[UUID | None, float]:
    """By memory and message, the relevance that a prompt's score was made with."""
    found = considered.found
    candidates: list[Ranked | RankedMessage] = [*found.memories, *found.messages]
    if not candidates:
        return {}
    # Memories and messages that are ranked together share one table.
    relevance = relative_to_best(candidates[0].table.semantic)
    return {
        each.row.memory_id if isinstance(each, Ranked) else each.row.message_id: float(
            relevance[each.place]
        )
        for each in candidates
    }


def _outcome(
    each: Ranked, fate: Fate, *, section: str = "", tokens: int = 0, same_as: UUID | None = None
) -> Outcome:
    signals = each.signals
    return Outcome(
        fate,
        each.score,
        signals,
        signals.semantic,
        row=each.row,
        section=section,
        tokens=tokens,
        same_as=same_as,
    )


def _best_first(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return sorted(outcomes, key=lambda each: -each.score)
