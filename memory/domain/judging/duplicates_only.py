"""The judge where contradictions are switched off: it knows repetitions and no conflicts."""

from __future__ import annotations

from ..types import Judgement, Statement, Verdict
from .rules import RulesJudge

_OFF = Judgement(Verdict.COEXIST, "contradictions are not looked for", 1.0)


class DuplicatesOnly:
    """A `Judge` by rules that says of two statements whether they are one, and else nothing.

    Leaving out what is said twice is no judgement of what is true (seed 000 keeps the two apart).
    """

    name = "duplicates-only"

    def __init__(self) -> None:
        self._rules = RulesJudge()

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Duplicate, or coexist for everything else."""
        judgement = self._rules.judge(existing=existing, new=new)
        return judgement if judgement.verdict is Verdict.DUPLICATE else _OFF
