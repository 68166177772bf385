"""Memories in dispute, and what must hold of them whatever is done."""

from __future__ import annotations

from random import Random

from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.judgements import Feedback
from memory.domain.types import Judgement, Statement, Status, Verdict
from memory.models import Contradiction, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import give_feedback
from memory.writing.decisions.disputes import resolve_contradiction
from tests.support.cast import Cast
from tests.support.judges import PairJudge
from tests.support.writing import draft, write

SUBJECT = "user.habit.drink"
THREE = ("Sarah drinks tea.", "Sarah drinks milk.", "Sarah drinks water.")


class Quarrel(PairJudge):
    """A judge that disputes everything, or says what it was told of the new text."""

    name = "quarrel"

    def __init__(self, verdicts: dict[str, Verdict] | None = None) -> None:
        self.verdicts = verdicts or {}

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict."""
        return Judgement(self.verdicts.get(new.content, Verdict.DISPUTE), "as told")


class Moody(PairJudge):
    """A judge whose verdict on a pair is a throw of the dice, the same each time."""

    name = "moody"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Mostly a dispute."""
        dice = Random(f"{existing.content}|{new.content}")
        verdicts = [Verdict.DISPUTE] * 5 + [Verdict.SUPERSEDE, Verdict.COEXIST, Verdict.DUPLICATE]
        return Judgement(dice.choice(verdicts), "as it fell")


def stored(cast: Cast, tools: Tools, *texts: str) -> list[Memory]:
    """Memories of one subject, as the database has them."""
    found = [write(cast, tools, draft(cast, text, subject=SUBJECT))[0].memory for text in texts]
    return [now_is(each) for each in found]


def now_is(memory: Memory) -> Memory:
    """The memory as the database has it."""
    return Memory.objects.get(pk=memory.pk)


def team_of(cast: Cast) -> Viewer:
    """The team as a reviewer."""
    return Viewer(team_id=cast.team.id, actor="reviewer")


def between(one: Memory, other: Memory | None) -> Contradiction:
    """The contradiction of these two, or the objection to the one."""
    return Contradiction.objects.get(memory_a=one, memory_b=other)


def resolve(
    cast: Cast, tools: Tools, row: Contradiction, resolution: str, *, note: str = "", text: str = ""
) -> Contradiction:
    """Settle it as the team."""
    return resolve_contradiction(
        viewer=team_of(cast),
        contradiction_id=row.pk,
        resolution=resolution,
        tools=tools,
        now=timezone.now(),
        note=note,
        merged_content=text,
    ).contradiction


def object_to(cast: Cast, memory: Memory) -> Contradiction:
    """Say that it is wrong; the open contradiction."""
    give_feedback(viewer=team_of(cast), memory_id=memory.pk, signal=Feedback.WRONG, note="")
    return Contradiction.objects.get(memory_a=memory, memory_b=None, resolved_at=None)


def check_invariants() -> None:
    """Names point both ways among live ones, and disputed is who has something open."""
    rows = {each.pk: each for each in Memory.objects.all()}
    still_open = list(Contradiction.objects.filter(resolved_at=None))
    objected = {each.memory_a_id for each in still_open if each.memory_b_id is None}
    pairs = {
        frozenset((each.memory_a_id, each.memory_b_id)) for each in still_open if each.memory_b_id
    }
    named = {frozenset((each.pk, item)) for each in rows.values() for item in each.contradicts}
    assert named == pairs
    for each in rows.values():
        assert len(set(each.contradicts)) == len(each.contradicts)
        for item in each.contradicts:
            assert rows[item].is_live
            assert each.pk in rows[item].contradicts
        disputed = bool(each.contradicts) or each.pk in objected
        assert (each.status == Status.DISPUTED) == disputed, each.content
        if each.superseded_by_id:
            assert each.status == Status.SUPERSEDED
