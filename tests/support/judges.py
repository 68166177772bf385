"""A judge for tests of what is done with verdicts, which no wording can confuse."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.domain.types import Judgement, Statement, Verdict

_NUMBER = re.compile(r"\d+")


class PairJudge:
    """A fake judge that judges pairs one by one."""

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on the pair, which a test gives."""
        raise AssertionError("the test gives no verdict")

    def judge_all(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Judgement]:
        """The verdicts on the pairs, in order."""
        return [self.judge(existing=existing, new=new) for existing, new in pairs]


class NumbersJudge(PairJudge):
    """Finds a conflict in two statements that differ in nothing but a number."""

    name = "numbers"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Supersede where the new one says "now", else dispute."""
        one, other = (each.content.replace(" now ", " ") for each in (existing, new))
        if one == other:
            return Judgement(Verdict.DUPLICATE, "the same words", 1.0)
        if _NUMBER.sub("", one) != _NUMBER.sub("", other):
            return Judgement(Verdict.COEXIST, "about other things", 1.0)
        verdict = Verdict.SUPERSEDE if " now " in new.content else Verdict.DISPUTE
        return Judgement(verdict, "another number", 0.9)


class Repeating(PairJudge):
    """A judge that holds every pair for a repetition, as surely as it is told to."""

    name = "repeating"

    def __init__(self, confidence: float) -> None:
        self.confidence = confidence

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        return Judgement(Verdict.DUPLICATE, "the same", self.confidence)
