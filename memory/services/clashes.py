"""Contradictions among what a reader is about to be shown, found on the way out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from django.utils import timezone

from memory.clients.tools import Tools
from memory.domain.judging.relatedness import is_specific
from memory.domain.types import Statement, Strategy, Verdict
from memory.models import Contradiction, Memory

# A subject with more memories than this is a topic and no single matter.
MOST_OF_A_SUBJECT = 5


def clashes_within(*, memories: Sequence[Memory], tools: Tools) -> list[Contradiction]:
    """Conflicts between memories of one subject that nobody has recorded, unsaved.

    Memories of different audiences are never compared when they are stored, yet one reader may see
    both. Nothing is written: what one agent keeps to itself leaves no mark on what all see.
    """
    by_subject: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        if is_specific(memory.subject):
            by_subject[memory.subject].append(memory)
    found = []
    for group in by_subject.values():
        if len(group) > MOST_OF_A_SUBJECT:
            continue
        for one, other in combinations(sorted(group, key=lambda each: each.created_at), 2):
            if other.pk in one.contradicts or one.pk in other.contradicts:
                continue
            clash = _clash(one, other, tools)
            if clash is not None:
                found.append(clash)
    return found


def _clash(older: Memory, newer: Memory, tools: Tools) -> Contradiction | None:
    if (older.end_user_id, older.project_id) != (newer.end_user_id, newer.project_id):
        return None
    judgement = tools.judge.judge(
        existing=Statement(older.content, older.created_at, older.subject),
        new=Statement(newer.content, newer.created_at, newer.subject),
    )
    if judgement.verdict not in (Verdict.SUPERSEDE, Verdict.DISPUTE):
        return None
    return Contradiction(
        id=None,
        team_id=older.team_id,
        memory_a=older,
        memory_b=newer,
        strategy=Strategy.SAME_SUBJECT.value,
        judge=judgement.judge or tools.judge.name,
        verdict=judgement.verdict.value,
        reason=judgement.reason,
        detected_at=timezone.now(),
    )
