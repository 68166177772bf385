"""What was said and decided about a contradiction before: the judge's reason, and its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.models import MemoryLog
from memory.domain.types import Strategy
from memory.models import Contradiction, Settlement
from teams.admin.display import actor_words

from .sides import decision_words

_FOUND = {
    Strategy.SAME_SUBJECT: "Both are about the same subject",
    Strategy.SEMANTIC_OPPOSITION: "They say opposite things",
    Strategy.TEMPORAL_OVERRIDE: "The later one may replace the earlier one",
}


@dataclass(frozen=True, slots=True)
class PastDecision:
    """A settlement with what was decided and why; `can_undo` says that it holds and is the last."""

    settlement: Settlement
    words: str
    note: str
    can_undo: bool

    @property
    def decided_by(self) -> str:
        """Who decided, in words."""
        return actor_words(self.settlement.actor)

    @property
    def undone_by(self) -> str:
        """Who took it back, in words."""
        return actor_words(self.settlement.undone_by)


def reason_sentence(pair: Contradiction) -> str:
    """Why the two were found to conflict, by whom, in one or two sentences."""
    reason = pair.reason.strip().rstrip(".")
    if pair.memory_b_id is None:
        said = f"{actor_words(pair.judge)} reported it as wrong"
        return f"{said}: {reason}." if reason and reason != "said to be wrong" else f"{said}."
    found = _FOUND.get(Strategy(pair.strategy), "They conflict")
    subject = pair.memory_a.subject
    if pair.strategy == Strategy.SAME_SUBJECT and subject:
        found = f"Both are about “{subject}”"
    told = f" The judge ({pair.judge}) says: {reason}." if reason else f" Judge: {pair.judge}."
    return f"{found}.{told}"


def past_decisions(pair: Contradiction) -> Sequence[PastDecision]:
    """Its settlements, the newest first; two queries."""
    rows = list(Settlement.objects.filter(team_id=pair.team_id, contradiction=pair))
    first = [row.first_seq for row in rows if row.first_seq is not None]
    log = MemoryLog.objects.filter(team_id=pair.team_id, seq__in=first) if first else ()
    reasons = {entry.seq: entry.reason for entry in log}
    return [
        PastDecision(
            row,
            decision_words(resolution=row.resolution, is_of_two=pair.memory_b_id is not None),
            _note_in(reasons.get(row.first_seq or 0, ""), row.resolution),
            row.undone_at is None,
        )
        for row in rows
    ]


def _note_in(reason: str, resolution: str) -> str:
    """The note in the reason that the log has for a settlement."""
    note = reason.partition(f": {resolution}")[2].strip()
    return note.removeprefix("(").removesuffix(")")
