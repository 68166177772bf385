"""The outcome of every candidate of a read, and its display: bars, words, figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any
from uuid import UUID

import numpy as np

from memory.domain.plans.assembly import Assembly
from memory.domain.scoring import USAGE_SHARE, Signals, Weights, relative_to_best, score_shares
from memory.domain.types import MemoryType, Status
from memory.reading.answers import Considered, Prompt
from memory.reading.messages import RankedMessage, ScoredMessage
from memory.reading.packing import is_told_as_summary
from memory.reading.ranking import Ranked
from memory.selectors.search.signal_rows import SignalRow
from teams.admin.display import excerpt, page_of

MOST_SHOWN = 60
_TEXT_CHARS = 220
# A bar is so many units long for a score of one; narrower parts cannot be seen.
_BAR = 100.0


class Fate(StrEnum):
    """The reason for a candidate to be in the answer or not."""

    TOLD = "included"
    SAME = "left out: duplicate of an included one"
    LIMIT = "left out: over the limit"
    BUDGET = "left out: token budget exhausted"
    ROOM = "left out: its section of the budget is full"
    BEHIND = "left out: an older version without its replacement"
    SUMMARY = "covered by the conversation summary"
    BELOW = "left out: below the minimum relevance"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a memory or a message, with its score 0-1 and the signals behind it.

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


@dataclass(frozen=True, slots=True)
class _Packing:
    """The result of a plan for the memories that it was offered, by their ids."""

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
    table = candidates[0].table.semantic
    is_confirmed = np.ones(len(table), dtype=bool)
    is_confirmed[[each.place for each in candidates if each.row.is_unconfirmed]] = False
    relevance = relative_to_best(table, is_confirmed=is_confirmed)
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


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar, in its units, and what one reads of it."""

    signal: str
    x: str
    width: str
    words: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A signal of a candidate: its value 0-1, its weight and what it adds to the score."""

    signal: str
    value: float
    weight: float
    adds: float


@dataclass(frozen=True, slots=True)
class Line:
    """A candidate as it is shown; `place` counts all of them from 1."""

    place: int
    text: str
    url: str
    kind: str
    score: float
    is_told: bool
    fate: str
    tokens: int
    section: str
    notes: Sequence[str]
    bar: Sequence[Part]
    figures: Sequence[Figure]
    found_relevance: float
    relevance: Sequence[tuple[str, float]]

    @property
    def bar_words(self) -> str:
        """The bar for those who do not see it."""
        return ", ".join(part.words for part in self.bar) or "all signals are zero"


def section_words(name: str) -> str:
    """The name of a section of a prompt as people read it."""
    return "other memories" if name == "rest" else name.replace("_", " ")


def outcomes_context(outcomes: Sequence[Outcome], weights: Weights) -> dict[str, Any]:
    """Returns the candidates as the template shows them."""  # Any: a template's context
    places = {
        each.row.memory_id: place
        for place, each in enumerate(outcomes, start=1)
        if each.row is not None
    }
    lines = [
        _line(place, each, weights, places)
        for place, each in enumerate(outcomes[:MOST_SHOWN], start=1)
    ]
    counts = Counter(each.fate for each in outcomes)
    return {
        "lines": lines,
        "more": len(outcomes) - len(lines),
        "candidates": len(outcomes),
        "told": counts[Fate.TOLD],
        "signals": list(asdict(weights)),
        "fates": [(fate.value, counts[fate]) for fate in Fate if counts[fate]],
    }


def _line(place: int, outcome: Outcome, weights: Weights, places: dict[UUID, int]) -> Line:
    row, message = outcome.row, outcome.message
    if row is not None:
        text, kind = row.content, row.memory_type.replace("_", " ")
        url = page_of("memory_memory", row.memory_id)
    else:
        assert message is not None
        text, kind = f"{message.speaker}: {message.text}", "message"
        url = page_of("teams_conversation", message.conversation_id)
    fate = outcome.fate.value
    if outcome.same_as in places:
        fate = f"{fate} (number {places[outcome.same_as]})"
    # Relevance as it was weighed; the line below the figures has it as it was found.
    signals = replace(outcome.signals, semantic=outcome.relevance)
    shares = score_shares(signals, weights=weights)
    return Line(
        place=place,
        text=excerpt(text, _TEXT_CHARS),
        url=url,
        kind=kind,
        score=outcome.score,
        is_told=outcome.fate is Fate.TOLD,
        fate=fate,
        tokens=outcome.tokens,
        section=section_words(outcome.section),
        notes=_notes(outcome),
        bar=_bar(shares),
        figures=[
            Figure(name, getattr(signals, name), weight, shares[name])
            for name, weight in asdict(weights).items()
        ],
        found_relevance=outcome.signals.semantic,
        relevance=_relevance(outcome.signals),
    )


def _notes(outcome: Outcome) -> list[str]:
    row = outcome.row
    if row is None:
        return []
    notes = {
        "identity: always included, score 1": row.memory_type == MemoryType.IDENTITY,
        "pinned: always included, score at least 0.95": row.is_pinned,
        "disputed: score halved": row.status == Status.DISPUTED,
        "past": not row.is_live,
        f"use so far: score {USAGE_SHARE * outcome.signals.usage:+.3f}": bool(
            outcome.signals.usage
        ),
    }
    return [note for note, holds in notes.items() if holds]


def _bar(shares: dict[str, float]) -> list[Part]:
    parts, start = [], 0.0
    for signal, share in shares.items():
        length = round(share * _BAR, 2)
        if length > 0:
            # As text: a template would write them in the reader's language.
            parts.append(Part(signal, f"{start:.2f}", f"{length:.2f}", f"{signal} {share:.2f}"))
        start += length
    return parts


def _relevance(signals: Signals) -> list[tuple[str, float]]:
    return [(name, value) for name, value in asdict(signals.parts).items() if value]
