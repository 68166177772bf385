"""A judge that is not sure retires nothing."""

from __future__ import annotations

from dataclasses import replace

from memory.domain.types import Judgement, Statement, Verdict
from memory.understanding.tools import Tools
from memory.writing.drafts import Outcome
from tests.support.cast import Cast
from tests.support.judges import PairJudge
from tests.support.writing import draft, live, write


class Guessing(PairJudge):
    """A judge that holds every new statement for a change, but is not sure."""

    name = "guessing"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """Supersede, as a guess."""
        return Judgement(Verdict.SUPERSEDE, "perhaps a change", 0.45)


def test_a_guess_leaves_both_side_by_side(acme: Cast, tools: Tools) -> None:
    subject, guessing = "user.preference.drink", replace(tools, judge=Guessing())
    write(acme, guessing, draft(acme, "Sarah drinks tea.", subject=subject))

    (result,) = write(acme, guessing, draft(acme, "Sarah drinks milk.", subject=subject))

    assert result.outcome == Outcome.CREATED
    assert live(acme) == ["Sarah drinks tea.", "Sarah drinks milk."]
