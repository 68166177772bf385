"""Contradictions among what a reader is about to be shown, found on the way out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from django.utils import timezone

from memory.clients.tools import Tools
from memory.domain.judging.relatedness import is_specific
from memory.domain.types import Judgement, Statement, Strategy, Verdict
from memory.models import Contradiction, Memory
from memory.selectors.signals import SignalRow

# A subject with more memories than this is a topic and no single matter.
MOST_OF_A_SUBJECT = 5


@dataclass(frozen=True, slots=True)
class Clash:
    """Two candidates that contradict each other, which nobody has recorded."""

    earlier: SignalRow
    later: SignalRow
    judgement: Judgement
    judge: str

    def as_contradiction(self, *, earlier: Memory, later: Memory) -> Contradiction:
        """As a contradiction between the loaded memories, never to be saved: it has no id."""
        return Contradiction(
            id=None,
            team_id=earlier.team_id,
            memory_a=earlier,
            memory_b=later,
            strategy=Strategy.SAME_SUBJECT.value,
            judge=self.judgement.judge or self.judge,
            verdict=self.judgement.verdict.value,
            reason=self.judgement.reason,
            detected_at=timezone.now(),
        )


def clashes_within(*, rows: Sequence[SignalRow], tools: Tools) -> list[Clash]:
    """Conflicts between live candidates of one subject that nobody has recorded.

    Memories of different audiences are not always compared when they are stored, yet one reader
    may see both. Nothing is written: what one agent keeps to itself leaves no mark on what all see.
    """
    by_subject: dict[str, list[SignalRow]] = defaultdict(list)
    for row in rows:
        if row.is_live and is_specific(row.subject):
            by_subject[row.subject].append(row)
    found = []
    for group in by_subject.values():
        if not 1 < len(group) <= MOST_OF_A_SUBJECT:
            continue
        for one, other in combinations(sorted(group, key=lambda each: each.created_at), 2):
            if other.memory_id in (one.contradicts or ()) or one.memory_id in (
                other.contradicts or ()
            ):
                continue
            clash = _clash(one, other, tools)
            if clash is not None:
                found.append(clash)
    return found


def _clash(earlier: SignalRow, later: SignalRow, tools: Tools) -> Clash | None:
    if (earlier.end_user_id, earlier.project_id) != (later.end_user_id, later.project_id):
        return None
    judgement = tools.judge.judge(
        existing=Statement(earlier.content, earlier.created_at, earlier.subject),
        new=Statement(later.content, later.created_at, later.subject),
    )
    if judgement.verdict not in (Verdict.SUPERSEDE, Verdict.DISPUTE):
        return None
    return Clash(earlier, later, judgement, tools.judge.name)
