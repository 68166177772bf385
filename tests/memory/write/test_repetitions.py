"""What a judge calls a repetition is one only where it adds nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.clients.tools import Tools
from memory.domain.types import Judgement, Statement, Verdict
from memory.models import MemoryRelation
from memory.services.write.drafts import Outcome
from tests.support.cast import Cast
from tests.support.writing import draft, live, write

SIGNS = "Ida signs invoices."
LIMITED = "Ida signs invoices up to 5,000 euros."
OTHER = "Ida signs contracts and invoices."


class Always:
    """A judge with one verdict on every pair."""

    name = "always"

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        return Judgement(self.verdict, "always", 1.0)


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize(("first", "second"), [(SIGNS, LIMITED), (LIMITED, SIGNS)])
@pytest.mark.parametrize("extraction_pass", [None, 1], ids=["stated", "talk"])
def test_a_narrower_or_wider_statement_stands_beside_the_other_whatever_the_judge_says(
    acme: Cast, tools: Tools, verdict: Verdict, first: str, second: str, extraction_pass: int | None
) -> None:
    sure = replace(tools, judge=Always(verdict))

    results = write(
        acme,
        sure,
        draft(acme, first, extraction_pass=extraction_pass),
        draft(acme, second, extraction_pass=extraction_pass),
    )

    assert [each.outcome for each in results] == [Outcome.CREATED, Outcome.CREATED]
    assert live(acme) == [first, second]
    link = MemoryRelation.objects.get(relation_type="related_to")
    assert (link.from_memory, link.to_memory) == (results[1].memory, results[0].memory)


def test_another_word_is_no_repetition_for_a_judge_that_says_so(acme: Cast, tools: Tools) -> None:
    write(acme, tools, draft(acme, SIGNS))

    (result,) = write(acme, replace(tools, judge=Always(Verdict.DUPLICATE)), draft(acme, OTHER))

    assert result.outcome == Outcome.CREATED
    assert MemoryRelation.objects.filter(from_memory=result.memory).exists()


def test_less_of_the_same_is_a_repetition_where_the_judge_says_so(acme: Cast, tools: Tools) -> None:
    (first,) = write(acme, tools, draft(acme, OTHER))

    (result,) = write(
        acme, replace(tools, judge=Always(Verdict.DUPLICATE)), draft(acme, "Ida signs the invoices")
    )

    assert (result.outcome, result.memory.pk) == (Outcome.DUPLICATE, first.memory.pk)
