"""Callers correct memories; what was written stays readable."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.judgements import Feedback
from memory.domain.types import MemoryType
from memory.models import Contradiction, Memory
from memory.selectors.memories import memory_for
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import (
    correct_memory,
    delete_memory,
    give_feedback,
    pin_memory,
)
from memory.writing.decisions.moving import restore_memory
from memory.writing.drafts import Outcome
from teams.errors import ConflictError, InvalidError, NotFoundError, UnavailableError
from teams.ids import new_id
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, switch
from tests.support.corrections import (
    BERLIN,
    POTSDAM,
    correct,
    now_is,
    say_of,
    stored,
    team_of,
    town,
)
from tests.support.disputes import object_to, resolve
from tests.support.embedders import AwayEmbedder
from tests.support.waiting import race
from tests.support.writing import live

__all__ = ["town"]


# -- corrections -----------------------------------------------------------------------------------


def test_whoever_names_an_old_version_is_told_which_one_stands(acme: Cast, tools: Tools) -> None:
    first = stored(acme, tools)
    second = correct(acme, tools, first).memory
    third = correct(acme, tools, second, "Sarah lives in Rome.").memory

    for refused in (
        lambda: correct(acme, tools, first, "Sarah lives in Oslo."),
        lambda: say_of(acme, first, Feedback.HELPFUL),
        lambda: pin_memory(viewer=team_of(acme), memory_id=first.pk, pinned=True),
        lambda: restore_memory(viewer=team_of(acme), memory_id=first.pk, tools=tools),
    ):
        with pytest.raises(ConflictError, match=f"what stands now is {third.pk}"):
            refused()

    delete_memory(viewer=team_of(acme), memory_id=third.pk)
    with pytest.raises(ConflictError, match=f"{third.pk}, is soft_deleted as well"):
        correct(acme, tools, first, "Sarah lives in Oslo.")
    with pytest.raises(ConflictError, match=f"restore it first: POST .*{third.pk}/restore"):
        correct(acme, tools, third, "Sarah lives in Oslo.")


def test_a_correction_supersedes_and_the_old_text_stays(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)

    result = correct(acme, tools, old)

    assert result.outcome == Outcome.VERSIONED
    before, after = now_is(old), now_is(result.memory)
    assert (before.content, before.status, before.tier) == (BERLIN, "superseded", "cold")
    assert (after.content, after.status, after.version) == (POTSDAM, "active", 2)
    assert (before.superseded_by_id, after.supersedes_id) == (after.pk, before.pk)
    assert live(acme) == [POTSDAM]
    assert not Contradiction.objects.exists()


def test_a_chain_is_linked_in_both_directions(acme: Cast, tools: Tools) -> None:
    chain = [stored(acme, tools)]
    for number in range(3):
        chain.append(correct(acme, tools, chain[-1], f"Sarah lives at {number}.").memory)

    rows = [now_is(each) for each in chain]

    assert [each.version for each in rows] == [1, 2, 3, 4]
    assert [each.superseded_by_id for each in rows] == [*(each.pk for each in rows[1:]), None]
    assert [each.supersedes_id for each in rows] == [None, *(each.pk for each in rows[:-1])]
    assert [each.is_live for each in rows] == [False, False, False, True]


def test_everything_else_of_the_memory_is_kept(acme: Cast, tools: Tools) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    old = stored(
        acme,
        tools,
        memory_type=MemoryType.USER_PROFILE,
        importance=9,
        is_pinned=True,
        subject="user.home",
        category="profile",
        tags=("home",),
        end_user_id=acme.sarah.pk,
        valid_from=start,
        valid_to=start + timedelta(days=90),
    )

    new = now_is(correct(acme, tools, old).memory)

    names = (
        *("memory_type", "scope", "importance", "is_pinned", "subject", "category", "tags"),
        *("end_user_id", "agent_id", "project_id", "tier", "valid_from", "valid_to"),
    )
    assert {name: getattr(new, name) for name in names} == {
        name: getattr(old, name) for name in names
    }
    assert not now_is(old).is_pinned


def test_a_correction_keeps_the_sources_of_what_it_corrects(acme: Cast, tools: Tools) -> None:
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    said = factories.MessageFactory.create(team=acme.team, conversation=talk, external_id="m-1")
    old = stored(
        acme,
        tools,
        conversation_id=talk.pk,
        message_ids=(said.pk,),
        message_external_ids=("m-1",),
    )

    new = now_is(correct(acme, tools, old).memory)

    assert new.conversation_id == talk.pk
    assert (new.source_message_ids, new.source_external_ids) == ([said.pk], ["m-1"])


def test_a_correction_to_what_is_known_adds_its_sources_there(acme: Cast, tools: Tools) -> None:
    first, second = new_id(), new_id()
    known = stored(acme, tools, "Dmitri plays the violin.", message_ids=(first,))
    old = stored(acme, tools, message_ids=(second,))

    correct(acme, tools, old, "Dmitri plays the violin.")

    assert now_is(known).source_message_ids == [first, second]


def test_a_correction_stands_in_the_log_with_its_reason(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)

    new = correct(acme, tools, old, reason="She moved.").memory

    last = MemoryLog.objects.filter(memory_id=old.pk).order_by("-seq")[0]
    first = MemoryLog.objects.filter(memory_id=new.pk).order_by("seq")[0]
    assert (last.event, last.reason, last.actor) == ("superseded", "She moved.", "reviewer")
    assert (first.event, first.reason, first.actor) == ("corrected", "She moved.", "reviewer")


def test_only_the_current_version_is_corrected(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)
    new = correct(acme, tools, old).memory

    with pytest.raises(ConflictError, match=str(new.pk)):
        correct(acme, tools, old, "Sarah lives in Rome.")

    assert live(acme) == [POTSDAM]


def test_a_deleted_memory_is_not_corrected(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)
    delete_memory(viewer=Viewer(team_id=acme.team.id, actor="test"), memory_id=old.pk)

    with pytest.raises(ConflictError, match="soft_deleted"):
        correct(acme, tools, old)

    assert live(acme) == []


def test_a_correction_to_the_same_text_is_refused(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)

    with pytest.raises(InvalidError) as refused:
        correct(acme, tools, old, BERLIN)

    assert refused.value.field == "corrected_content"
    assert now_is(old).is_live


@pytest.mark.parametrize("content", ["Sarah lives in BERLIN.", "Sarah lives in Berlin!"])
def test_a_correction_of_letters_alone_is_a_version(acme: Cast, tools: Tools, content: str) -> None:
    old = stored(acme, tools)

    new = correct(acme, tools, old, content).memory

    assert new.supersedes_id == old.pk
    assert live(acme) == [content]


@pytest.mark.parametrize("is_judged", [True, False])
def test_a_correction_to_what_another_memory_says_leaves_that_one(
    acme: Cast, tools: Tools, is_judged: bool
) -> None:
    other = stored(acme, tools, "Dmitri plays the violin.")
    old = stored(acme, tools)
    switch(acme, contradiction_detection=is_judged)

    result = correct(acme, tools, old, "Dmitri plays the violin.")

    assert (result.outcome, result.memory.pk) == (Outcome.DUPLICATE, other.pk)
    assert now_is(old).superseded_by_id == other.pk
    assert live(acme) == ["Dmitri plays the violin."]


@pytest.mark.parametrize("is_merge", [False, True])
def test_a_memory_that_takes_anothers_place_takes_over_its_pin_and_importance(
    acme: Cast, tools: Tools, is_merge: bool
) -> None:
    other = stored(acme, tools, "Dmitri plays the violin.", importance=3)
    old = stored(acme, tools, is_pinned=True, importance=10)

    if is_merge:
        resolve(acme, tools, object_to(acme, old), "merged", text=other.content)
    else:
        correct(acme, tools, old, other.content)

    new, before = now_is(other), now_is(old)
    assert (new.is_pinned, new.importance, new.tier) == (True, 10, "hot")
    assert (before.is_pinned, before.tier, before.superseded_by_id) == (False, "cold", other.pk)


def test_a_correction_back_is_a_third_version(acme: Cast, tools: Tools) -> None:
    first = stored(acme, tools)
    second = correct(acme, tools, first).memory

    third = correct(acme, tools, second, BERLIN).memory

    assert third.pk != first.pk
    assert (third.version, third.supersedes_id) == (3, second.pk)
    assert live(acme) == [BERLIN]


def test_without_the_embedder_nothing_is_corrected(acme: Cast, tools: Tools) -> None:
    old = stored(acme, tools)

    with pytest.raises(UnavailableError):
        correct(acme, replace(tools, embedder=AwayEmbedder()), old)

    assert now_is(old).status == "active"
    assert MemoryLog.objects.count() == 1


@pytest.mark.parametrize("stranger", ["agent", "team"])
def test_a_stranger_neither_corrects_nor_judges(
    acme: Cast, globex: Cast, tools: Tools, stranger: str
) -> None:
    memory = stored(acme, tools, memory_type=MemoryType.AGENT_PRIVATE, agent_id=acme.kyra.pk)
    viewer = (
        Viewer(team_id=acme.team.id, actor="luke", agent_id=acme.luke.pk)
        if stranger == "agent"
        else Viewer(team_id=globex.team.id, actor="globex")
    )

    with pytest.raises(NotFoundError):
        correct_memory(
            viewer=viewer,
            memory_id=memory.pk,
            corrected_content=POTSDAM,
            reason="",
            tools=tools,
            now=timezone.now(),
        )
    with pytest.raises(NotFoundError):
        give_feedback(viewer=viewer, memory_id=memory.pk, signal=Feedback.WRONG, note="")
    with pytest.raises(NotFoundError):
        memory_for(viewer=viewer, memory_id=memory.pk)

    assert now_is(memory).status == "active"


# -- all at once -----------------------------------------------------------------------------------


def test_of_corrections_at_once_one_holds_and_the_others_are_told(town: Cast, tools: Tools) -> None:
    old = stored(town, tools)

    def act(number: int) -> str:
        try:
            return correct(town, tools, old, f"Sarah lives at {number}.").outcome
        except ConflictError:
            return "refused"

    answers = race(5, act)

    assert sorted(answers) == ["refused"] * 4 + ["versioned"]
    assert len(live(town)) == 1
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.count() == 2
