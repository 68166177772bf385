"""A judge for tests of what is done with verdicts, which no wording can confuse."""

from __future__ import annotations

import re

from memory.domain.types import Judgement, Statement, Verdict

_NUMBER = re.compile(r"\d+")


class NumbersJudge:
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
