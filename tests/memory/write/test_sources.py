"""What rests on a tool or a web page alone changes nothing that people and agents say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Scope, Source, Status
from memory.models import Contradiction, Memory, MemoryRelation
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, pin_memory
from memory.writing.decisions.disputes import resolve_contradiction
from memory.writing.decisions.moving import Move, move_memory
from memory.writing.drafts import Outcome, WriteResult
from teams.errors import ConflictError
from tests.support.cast import Cast
from tests.support.embedders import OrthogonalEmbedder
from tests.support.judges import NumbersJudge, Repeating
from tests.support.writing import NEW_LIMIT, NOON, OLD_LIMIT, OTHER_LIMIT, draft, live, write


@pytest.fixture
def judged(tools: Tools) -> Tools:
    return replace(tools, judge=NumbersJudge())


def say(acme: Cast, tools: Tools, text: str, source: Source, **fields: Any) -> WriteResult:
    # Any: a draft's fields
    (result,) = write(acme, tools, draft(acme, text, source=source, **fields))
    return result


@pytest.mark.parametrize("source", [Source.TOOL, Source.WEB])
@pytest.mark.parametrize("text", [NEW_LIMIT, OTHER_LIMIT])
def test_an_unconfirmed_statement_neither_replaces_nor_disputes_a_confirmed_one(
    acme: Cast, judged: Tools, source: Source, text: str
) -> None:
    known = say(acme, judged, OLD_LIMIT, Source.AGENT).memory

    result = say(acme, judged, text, source)

    assert (result.outcome, result.conflicts) == (Outcome.CREATED, 0)
    known.refresh_from_db()
    assert (known.status, known.contradicts) == (Status.ACTIVE, [])
    assert not Contradiction.objects.exists()
    link = MemoryRelation.objects.get()
    assert (link.from_memory, link.to_memory_id) == (result.memory, known.pk)
    assert link.relation_type == "contradicts"


def test_a_later_confirmed_statement_replaces_an_unconfirmed_one(acme: Cast, judged: Tools) -> None:
    say(acme, judged, OLD_LIMIT, Source.WEB)

    result = say(acme, judged, NEW_LIMIT, Source.PERSON)

    assert result.outcome is Outcome.SUPERSEDED_EXISTING
    assert live(acme) == [NEW_LIMIT]


def test_two_unconfirmed_statements_dispute_each_other(acme: Cast, judged: Tools) -> None:
    say(acme, judged, OLD_LIMIT, Source.WEB)

    assert say(acme, judged, OTHER_LIMIT, Source.TOOL).outcome is Outcome.DISPUTED


def test_the_same_words_of_a_person_confirm_a_memory_and_the_log_says_so(
    acme: Cast, judged: Tools
) -> None:
    memory = say(acme, judged, OLD_LIMIT, Source.WEB).memory
    assert memory.is_unconfirmed

    repeated = say(acme, judged, OLD_LIMIT, Source.PERSON)

    assert (repeated.outcome, repeated.memory.source) == (Outcome.DUPLICATE, "person")
    states = (
        MemoryLog.objects.filter(memory_id=memory.pk)
        .order_by("seq")
        .values_list("state__source", flat=True)
    )
    assert list(states) == ["web", "person"]


def test_the_same_words_of_a_page_take_nothing_from_a_person(acme: Cast, judged: Tools) -> None:
    say(acme, judged, OLD_LIMIT, Source.PERSON)

    assert say(acme, judged, OLD_LIMIT, Source.WEB).memory.source == "person"


def test_other_words_of_a_person_vouch_for_no_word_of_a_page(acme: Cast, tools: Tools) -> None:
    embedder = OrthogonalEmbedder()
    sure = replace(tools, judge=Repeating(1.0), embedder=embedder)
    page = say(
        acme, sure, "The shop opens at nine and takes cash.", Source.WEB, subject="shop.open"
    )

    own = say(acme, sure, "The shop opens at nine.", Source.PERSON, subject="shop.open")

    assert own.outcome is Outcome.CREATED
    page.memory.refresh_from_db()
    assert page.memory.source == "web"


def test_a_page_corrects_no_confirmed_memory_and_an_agent_may(acme: Cast, judged: Tools) -> None:
    viewer = Viewer(team_id=acme.team.id, actor="test", agent_id=acme.kyra.pk)
    known = say(acme, judged, OLD_LIMIT, Source.PERSON).memory

    def correct(text: str, **fields: Any) -> WriteResult:  # Any: the service's own
        return correct_memory(
            viewer=viewer,
            memory_id=known.pk,
            corrected_content=text,
            reason="",
            tools=judged,
            now=NOON,
            **fields,
        )

    with pytest.raises(ConflictError, match="replaces no confirmed memory"):
        correct(NEW_LIMIT, source=Source.WEB)

    assert correct(NEW_LIMIT).memory.source == "agent"


def test_an_agent_confirms_no_memory_by_correcting_it_and_a_person_does(
    acme: Cast, judged: Tools
) -> None:
    memory = say(acme, judged, OLD_LIMIT, Source.WEB).memory

    def corrected(actor: str, text: str, memory: Memory) -> Memory:
        viewer = Viewer(team_id=acme.team.id, actor=actor)
        return correct_memory(
            viewer=viewer,
            memory_id=memory.pk,
            corrected_content=text,
            reason="",
            tools=judged,
            now=NOON,
        ).memory

    by_agent = corrected("key:kyra", OTHER_LIMIT, memory)
    assert by_agent.source == "web"
    assert corrected("staff:ada", NEW_LIMIT, by_agent).source == "person"


def test_an_unconfirmed_memory_is_neither_pinned_nor_given_to_more_people(
    acme: Cast, viewer: Viewer, judged: Tools
) -> None:
    memory = say(acme, judged, OLD_LIMIT, Source.TOOL, end_user_id=acme.sarah.pk).memory

    with pytest.raises(ConflictError, match="confirms it first"):
        pin_memory(viewer=viewer, memory_id=memory.pk, pinned=True)
    for move in (Move(scope=Scope.TEAM), Move(memory_type=MemoryType.USER_PROFILE)):
        with pytest.raises(ConflictError, match="confirms it first"):
            move_memory(viewer=viewer, memory_id=memory.pk, move=move, tools=judged)


@pytest.mark.parametrize(
    "fields", [{"is_pinned": True}, {"memory_type": "user_profile"}, {"memory_type": "shared"}]
)
def test_the_database_refuses_an_unconfirmed_pin_or_profile(
    acme: Cast, judged: Tools, fields: dict[str, Any]
) -> None:
    memory = say(acme, judged, OLD_LIMIT, Source.TOOL).memory

    with pytest.raises(IntegrityError, match="memory_unconfirmed_is_plain"), transaction.atomic():
        Memory.objects.filter(pk=memory.pk).update(**fields)


def test_no_decision_lets_an_unconfirmed_memory_win_against_a_confirmed_one(
    acme: Cast, viewer: Viewer, judged: Tools
) -> None:
    first = say(acme, judged, OLD_LIMIT, Source.WEB).memory
    say(acme, judged, OTHER_LIMIT, Source.TOOL)
    # Meanwhile one side is confirmed.
    Memory.objects.filter(pk=first.pk).update(source="person")
    contradiction = Contradiction.objects.get()

    with pytest.raises(ConflictError, match="confirms it first"):
        resolve_contradiction(
            viewer=viewer,
            contradiction_id=contradiction.pk,
            resolution="b_wins",
            tools=judged,
            now=NOON,
        )
