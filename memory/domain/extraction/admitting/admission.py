"""Whether a clause is kept, and of which type its memory is: two linear models over its evidence.

Their weights are fitted on labelled conversations by `benchmarks/extraction_fit.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...types import MemoryType
from ..kinds.labels import Label
from ..meant.acts import Act
from .admission_weights import WEIGHTS
from .evidence import UNANSWERED, Heard, evidence
from .filing_weights import TYPE_WEIGHTS

TYPES = (
    MemoryType.SEMANTIC, MemoryType.EPISODIC, MemoryType.PROCEDURAL, MemoryType.USER_PROFILE,
)  # fmt: skip
# The patterns that know a kind of statement are believed unless the evidence clearly differs.
MARGIN = 0.45
_REASONS = 3
# A decision, a rule, a deadline or a fact about the user's person is known for what it is.
_LEEWAY = 1.2
# Where the agent has not answered yet, its echo is missing for no fault of the clause.
_UNHEARD = 0.8
_MEANT = frozenset({Act.STATEMENT, Act.FRAGMENT})
_UNKNOWN_KINDS = frozenset({"fact", "event"})
_BAR = -0.3
_AS = {
    MemoryType.SEMANTIC: (5, "fact", "fact"),
    MemoryType.EPISODIC: (5, "event", "event"),
    MemoryType.PROCEDURAL: (6, "procedure", "procedure"),
    MemoryType.USER_PROFILE: (6, "profile", "about"),
}


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the evidence of a clause comes to.

    `score` are the log odds that it is worth keeping, about -8 to 8; `against`, the three pieces
    of evidence that speak most against it; `label`, how it is filed.
    """

    kept: bool
    score: float
    against: tuple[str, ...]
    label: Label


class Admission:
    """Weighs clauses; what scores below `bar` is not kept."""

    def __init__(
        self,
        *,
        weights: Mapping[str, float] | None = None,
        types: Mapping[str, tuple[float, float, float, float]] | None = None,
        bar: float = _BAR,
    ) -> None:
        self._weights = WEIGHTS if weights is None else weights
        self._types = TYPE_WEIGHTS if types is None else types
        self._bar = bar

    def weigh(self, heard: Heard) -> Weighed:
        """Whether a clause is kept and how it is filed."""
        shown = evidence(heard)
        odds = [(self._weights.get(name, 0.0), name) for name in shown]
        score = sum(value for value, _ in odds)
        against = tuple(name for value, name in sorted(odds)[:_REASONS] if value < 0)
        return Weighed(
            score >= self._bar_for(heard, shown), score, against, self._filed(heard.label, shown)
        )

    def _bar_for(self, heard: Heard, shown: tuple[str, ...]) -> float:
        if heard.act not in _MEANT:
            return self._bar
        known = heard.act is Act.STATEMENT and heard.label.attribute not in _UNKNOWN_KINDS
        bar = self._bar - (_LEEWAY if known else 0.0)
        return bar - (_UNHEARD if UNANSWERED in shown else 0.0)

    def _filed(self, label: Label, shown: tuple[str, ...]) -> Label:
        if label.pinned or label.sensitive:
            return label
        totals = [0.0] * len(TYPES)
        for name in shown:
            for index, value in enumerate(self._types.get(name, ())):
                totals[index] += value
        best = max(range(len(TYPES)), key=totals.__getitem__)
        if totals[best] - totals[TYPES.index(label.memory_type)] < MARGIN:
            return label
        importance, category, attribute = _AS[TYPES[best]]
        return replace(
            label, memory_type=TYPES[best], importance=max(importance, label.importance - 2),
            category=category, attribute=attribute,
        )  # fmt: skip
