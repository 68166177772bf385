"""A repetition is left out only where the judge is sure and the numbers are the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.models import Memory, MemoryRelation
from memory.understanding.tools import Tools
from memory.writing.drafts import Outcome
from teams.ids import new_id
from tests.support.cast import Cast
from tests.support.judges import Repeating
from tests.support.writing import draft, live, write

SIGNS = "Ida signs invoices up to 5,000 euros."
AGAIN = "Invoices up to 5,000 euros are signed by Ida."
MORE = "Ida signs invoices up to 8,000 euros."


def test_a_sure_repetition_is_not_stored_again(acme: Cast, tools: Tools) -> None:
    (first,) = write(acme, tools, draft(acme, SIGNS))

    (result,) = write(acme, replace(tools, judge=Repeating(0.95)), draft(acme, AGAIN))

    assert (result.outcome, result.memory.pk) == (Outcome.DUPLICATE, first.memory.pk)
    assert live(acme) == [SIGNS]


@pytest.mark.parametrize(("text", "confidence"), [(AGAIN, 0.55), (MORE, 0.95)])
def test_a_doubtful_repetition_or_another_number_stands_beside_it(
    acme: Cast, tools: Tools, text: str, confidence: float
) -> None:
    write(acme, tools, draft(acme, SIGNS))

    (result,) = write(acme, replace(tools, judge=Repeating(confidence)), draft(acme, text))

    assert result.outcome == Outcome.CREATED
    assert live(acme) == [SIGNS, text]
    assert MemoryRelation.objects.filter(from_memory=result.memory).exists()


def test_one_write_may_repeat_a_memory_in_its_words_and_in_others(acme: Cast, tools: Tools) -> None:
    ids = [new_id() for _ in range(3)]
    write(acme, tools, draft(acme, SIGNS, message_ids=(ids[0],)))

    results = write(
        acme,
        replace(tools, judge=Repeating(0.95)),
        draft(acme, AGAIN, message_ids=(ids[1],)),
        draft(acme, SIGNS, message_ids=(ids[2],)),
    )

    assert [each.outcome for each in results] == [Outcome.DUPLICATE] * 2
    memory = Memory.objects.get(pk=results[0].memory.pk)
    assert (memory.source_message_ids, memory.corroboration) == (ids, 2)
