"""What a changed or turned-round statement does to the memories it meets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memory.clients.tools import Tools
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage, Status
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.extracting.waiting import extract_now
from memory.services.writing.drafts import Outcome
from tests.conftest import Cast
from tests.memory.extraction.test_daily_cap import talk
from tests.memory.writing.test_write_path import draft, live, write

# Nearer to "The team switched to Linear." by their vectors than "The team uses Jira.".
CROWD = [
    "The team meets on Mondays.",
    "The team has seven members.",
    "The team eats at noon.",
    "The team sits on the third floor.",
    "Linear algebra is taught in spring.",
    "The linear accelerator stands in Bonn.",
    "Regression is a linear model.",
    "The away team wears green.",
    "Switches of the lab are labelled.",
    "The home team trains at dawn.",
    "The team photo hangs in the hall.",
]


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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Sarah prefers TypeScript.", "Sarah now prefers JavaScript."),
        ("Sarah prefers dark mode.", "Sarah now prefers light mode."),
        ("The team uses Jira.", "The team now uses Linear."),
    ],
)
def test_an_explicit_change_takes_the_place_of_the_old_value(
    acme: Cast, tools: Tools, first: str, second: str
) -> None:
    write(acme, tools, draft(acme, first))

    (result,) = write(acme, tools, draft(acme, second))

    assert result.outcome == Outcome.SUPERSEDED_EXISTING
    assert live(acme) == [second]


@pytest.mark.parametrize("together", [False, True])
def test_a_change_finds_the_old_value_among_nearer_memories(
    acme: Cast, tools: Tools, together: bool
) -> None:
    write(acme, tools, draft(acme, "The team uses Jira."))
    crowd = [draft(acme, said) for said in CROWD]
    change = draft(acme, "The team switched to Linear.")

    if together:
        results = write(acme, tools, *crowd, change)
    else:
        write(acme, tools, *crowd)
        results = write(acme, tools, change)

    assert results[-1].outcome == Outcome.SUPERSEDED_EXISTING
    assert sorted(live(acme)) == sorted([*CROWD, "The team switched to Linear."])


def test_talk_that_names_what_is_over_ends_it(acme: Cast, tools: Tools) -> None:
    old = "The team's carrier is DHL."
    new = "The team's new carrier is now UPS, the team dropped DHL."
    write(acme, tools, draft(acme, old, extraction_pass=1))

    (result,) = write(acme, tools, draft(acme, new, extraction_pass=1))

    assert result.outcome == Outcome.SUPERSEDED_EXISTING
    assert live(acme) == [new]


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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The office is in Berlin.", "The office moved to Hamburg."),
        ("The standup is at 9:30.", "The standup is at 10:00 now."),
        ("The team uses Jira.", "The team now uses Linear."),
    ],
)
def test_a_change_told_in_talk_takes_the_place_of_the_old_value(
    acme: Cast, tools: Tools, first: str, second: str
) -> None:
    write(acme, tools, replace(draft(acme, first), extraction_pass=1))

    (result,) = write(acme, tools, replace(draft(acme, second), extraction_pass=1))

    assert result.outcome == Outcome.SUPERSEDED_EXISTING
    assert live(acme) == [second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Greta plays the cello.", "Greta moved to Bruges."),
        ("The user drives a Volvo.", "The user switched to Danish."),
        ("The team uses Jira.", "The team moved to Hamburg."),
        ("The truck number 6-324 stands in Split.", "The truck number 6-827 stands in Zadar."),
        ("The user wants to learn the harp.", "The user gave up learning Finnish."),
        ("Deploys happen on merge.", "Nightly deploys happen at 3."),
    ],
)
def test_news_of_something_else_leaves_a_memory_unmarked(
    acme: Cast, tools: Tools, first: str, second: str
) -> None:
    (kept,) = write(acme, tools, draft(acme, first))

    (result,) = write(acme, tools, draft(acme, second))

    kept.memory.refresh_from_db()
    assert (kept.memory.status, result.outcome) == (Status.ACTIVE.value, Outcome.CREATED)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Piet lives in Lille and works for Renault.", "Piet works for Citroen now."),
        ("Sanne drives the truck and lives in Ghent.", "Sanne moved to Bruges."),
        (
            "The press office is in room 12 and its phone is 5510.",
            "The press office moved to room 20.",
        ),
    ],
)
def test_a_change_of_one_fact_of_two_marks_both_memories_and_retires_none(
    acme: Cast, tools: Tools, first: str, second: str
) -> None:
    write(acme, tools, draft(acme, first))

    write(acme, tools, draft(acme, second))

    assert live(acme) == [first, second]
    stored = Memory.objects.filter(team=acme.team)
    assert {memory.status for memory in stored} == {Status.DISPUTED.value}
