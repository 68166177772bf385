"""Effects of a changed or reversed statement on the memories it meets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memory.domain.audience import Viewer
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from memory.understanding.tools import Tools
from memory.writing.drafts import Outcome
from memory.writing.waiting import extract_now
from tests.support.cast import Cast
from tests.support.extraction import talk
from tests.support.writing import draft, live, write


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Anna reports to Ben.", "Ben reports to Anna."),
        ("Dora prefers tea over coffee.", "Dora prefers coffee over tea."),
        ("Sarah likes coffee.", "Sarah likes coffee in the morning."),
        ("Tom used to live in Rome.", "Tom lives in Rome."),
    ],
)
def test_no_fact_in_like_words_is_lost(acme: Cast, tools: Tools, first: str, second: str) -> None:
    write(acme, tools, draft(acme, first))

    (result,) = write(acme, tools, draft(acme, second))

    assert result.outcome != Outcome.DUPLICATE
    assert live(acme) == [first, second]


class TwoOrders:
    """An extractor whose passes find the same words in two orders."""

    name = "two-orders"

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        return [_candidate("Anna reports to Ben.", messages)]

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        return [
            replace(_candidate(said, messages), extraction_pass=2)
            for said in ("Ben reports to Anna.", "Anna reports to Ben")
        ]


def _candidate(content: str, messages: Sequence[SourceMessage]) -> Candidate:
    return Candidate(
        content=content,
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        confidence=0.9,
        message_ids=(messages[-1].id,),
    )


def test_two_passes_that_say_the_opposite_are_both_heard(
    acme: Cast, viewer: Viewer, tools: Tools
) -> None:
    conversation = talk(viewer, "Anna and Ben report to each other.")

    extract_now(
        viewer=viewer,
        conversation_id=conversation.pk,
        tools=replace(tools, extractor=TwoOrders()),
    )

    assert sorted(live(acme)) == ["Anna reports to Ben.", "Ben reports to Anna."]
