"""What the retrieval playground shows of an answer: bars, fates in words, figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from memory.domain.scoring import USAGE_SHARE, Signals, Weights, score_shares
from memory.domain.types import MemoryType, Status
from memory.satellites.playground.outcomes import Fate, Outcome
from memory.satellites.playground.trying import Tried
from teams.admin.display import excerpt, page_of

MOST_SHOWN = 60
_TEXT_CHARS = 220
# A bar is so many units long for a score of one; narrower parts cannot be seen.
_BAR = 100.0
_WORDS = {
    Fate.TOLD: "told",
    Fate.SAME: "left out: says the same as another one that is told",
    Fate.LIMIT: "left out: behind the limit",
    Fate.BUDGET: "cut: the token budget was used up",
    Fate.ROOM: "left out: better ones filled its part of the budget",
    Fate.BEHIND: "left out: past, and told only beside what took its place",
    Fate.SUMMARY: "told in the summary of the conversation",
    Fate.BELOW: "left out: below the minimum relevance",
    Fate.UNRELATED: "left out: says nothing about the question",
}


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
        return ", ".join(part.words for part in self.bar) or "no signal speaks for it"


def result_context(tried: Tried) -> dict[str, Any]:  # Any: a template's context
    """The answer as its template shows it."""
    places = {
        each.row.memory_id: place
        for place, each in enumerate(tried.outcomes, start=1)
        if each.row is not None
    }
    lines = [
        _line(place, each, tried.weights, places)
        for place, each in enumerate(tried.outcomes[:MOST_SHOWN], start=1)
    ]
    return {
        "lines": lines,
        "more": len(tried.outcomes) - len(lines),
        "candidates": len(tried.outcomes),
        "told": sum(each.fate is Fate.TOLD for each in tried.outcomes),
        "signals": list(asdict(tried.weights)),
        "prompt": tried.prompt,
        "sections": tried.sections,
        "stats": tried.stats,
        "steps": list(tried.stats.steps_ms.items()),
        "searched": [level.value for level in tried.stats.searched],
        "fates": _counts(tried.outcomes),
    }


def _counts(outcomes: Sequence[Outcome]) -> list[tuple[str, int]]:
    """How many there are of each fate, in the order of `Fate`."""
    counts = {fate: sum(each.fate is fate for each in outcomes) for fate in Fate}
    return [(_WORDS[fate], count) for fate, count in counts.items() if count]


def _line(place: int, outcome: Outcome, weights: Weights, places: dict[UUID, int]) -> Line:
    row, message = outcome.row, outcome.message
    if row is not None:
        text, kind = row.content, row.memory_type.replace("_", " ")
        url = page_of("memory_memory", row.memory_id)
    else:
        assert message is not None
        text, kind = f"{message.speaker}: {message.text}", "message"
        url = page_of("teams_conversation", message.conversation_id)
    fate = _WORDS[outcome.fate]
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
        section=outcome.section.replace("_", " "),
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
    """What decides the score beside the signals."""
    row = outcome.row
    if row is None:
        return []
    notes = {
        "identity: always told, score 1": row.memory_type == MemoryType.IDENTITY,
        "pinned: always told, score at least 0.95": row.is_pinned,
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
    """What adds up to the semantic signal."""
    return [(name, value) for name, value in asdict(signals.parts).items() if value]
