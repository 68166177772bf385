"""Contradictions among what a reader is about to be shown, found on the way out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from django.utils import timezone

from memory.clients.tools import Tools
from memory.domain.judging.paths import is_specific
from memory.domain.types import Judgement, Strategy, Verdict
from memory.domain.viewer import Viewer
from memory.models import Contradiction, Memory
from memory.selectors.contradictions import recorded_pairs
from memory.selectors.searching.signal_rows import SignalRow
from memory.services.reading.shared_matters import name_each_other, shared_against_own
from memory.services.writing.matters import as_statements

# A subject with more memories than this is a topic and no single matter.
MOST_OF_A_SUBJECT = 5


@dataclass(frozen=True, slots=True)
class Clash:
    """Two candidates that contradict each other, which nobody has recorded."""

    earlier: SignalRow
    later: SignalRow
    judgement: Judgement
    judge: str
    strategy: Strategy = Strategy.SAME_SUBJECT

    def as_contradiction(self, *, earlier: Memory, later: Memory) -> Contradiction:
        """As a contradiction between the loaded memories, never to be saved: it has no id."""
        return Contradiction(
            id=None,
            team_id=earlier.team_id,
            memory_a=earlier,
            memory_b=later,
            strategy=self.strategy.value,
            judge=self.judgement.judge or self.judge,
            verdict=self.judgement.verdict.value,
            reason=self.judgement.reason,
            detected_at=timezone.now(),
        )


def clashes_within(*, viewer: Viewer, rows: Sequence[SignalRow], tools: Tools) -> list[Clash]:
    """Conflicts between live candidates that nobody has recorded; call it in the team's scope.

    Memories of different audiences are not always compared when they are stored, yet one reader
    may see both. Judged are those of one subject and, whatever their subjects, what more see or
    are told of beside what is an agent's, a person's or a project's. Nothing is written: what one
    agent keeps to itself leaves no mark on what all see. What people have settled is no clash
    again.
    """
    found = [
        *_of_one_subject(rows, tools),
        *(
            Clash(each.earlier, each.later, each.judgement, tools.judge.name, each.strategy)
            for each in shared_against_own(viewer=viewer, rows=rows, tools=tools)
        ),
    ]
    if not found:
        return []
    ids = {row.memory_id for each in found for row in (each.earlier, each.later)}
    recorded = recorded_pairs(team_id=viewer.team_id, ids=list(ids))
    return [
        each
        for each in found
        if frozenset((each.earlier.memory_id, each.later.memory_id)) not in recorded
    ]


def _of_one_subject(rows: Sequence[SignalRow], tools: Tools) -> list[Clash]:
    by_subject: dict[str, list[SignalRow]] = defaultdict(list)
    for row in rows:
        if row.is_live and is_specific(row.subject):
            by_subject[row.subject].append(row)
    found = []
    for group in by_subject.values():
        if not 1 < len(group) <= MOST_OF_A_SUBJECT:
            continue
        for one, other in combinations(sorted(group, key=lambda each: each.created_at), 2):
            if name_each_other(one, other):
                continue
            clash = _clash(one, other, tools)
            if clash is not None:
                found.append(clash)
    return found


def _clash(earlier: SignalRow, later: SignalRow, tools: Tools) -> Clash | None:
    users = {earlier.end_user_id, later.end_user_id}
    if earlier.project_id != later.project_id or (len(users) > 1 and None not in users):
        return None
    existing, new = as_statements(earlier=earlier, later=later)
    judgement = tools.judge.judge(existing=existing, new=new)
    if judgement.verdict not in (Verdict.SUPERSEDE, Verdict.DISPUTE):
        return None
    return Clash(earlier, later, judgement, tools.judge.name)
