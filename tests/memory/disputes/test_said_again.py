"""People's decisions about a statement still hold when somebody repeats the statement."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from memory.domain.types import Verdict
from memory.models import Contradiction, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory
from memory.writing.drafts import Outcome, WriteResult
from tests.support.cast import Cast, switch
from tests.support.disputes import (
    SUBJECT,
    THREE,
    Quarrel,
    between,
    check_invariants,
    now_is,
    object_to,
    resolve,
    stored,
    team_of,
)
from tests.support.writing import NEW_LIMIT, NOON, OLD_LIMIT, OTHER_LIMIT, draft, live, write

TEA, MILK, WATER = THREE


@pytest.fixture
def calm(plain: Tools) -> Tools:
    """Tools whose judge sees no conflict anywhere."""
    return replace(plain, judge=Quarrel(dict.fromkeys(THREE, Verdict.COEXIST)))


def say(acme: Cast, tools: Tools, text: str, **fields: object) -> WriteResult:
    return write(acme, tools, draft(acme, text, **{"subject": SUBJECT, **fields}))[0]


def open_ones() -> list[Contradiction]:
    return list(Contradiction.objects.filter(resolved_at=None).order_by("id"))


def declared_wrong(acme: Cast, tools: Tools, text: str = TEA, **fields: object) -> Memory:
    memory = say(acme, tools, text, **fields).memory
    resolve(acme, tools, object_to(acme, memory), "b_wins", note="Asked her.")
    return memory


def test_what_is_wrong_comes_back_as_said_to_be_wrong(acme: Cast, calm: Tools) -> None:
    declared_wrong(acme, calm)

    again = say(acme, calm, "sarah drinks  tea")

    assert (again.outcome, again.conflicts) == (Outcome.DISPUTED, 1)
    assert now_is(again.memory).status == "disputed"
    (row,) = open_ones()
    assert (row.memory_a_id, row.memory_b_id, row.verdict) == (again.memory.pk, None, "dispute")
    day = timezone.now().strftime("%Y-%m-%d")
    assert row.reason.startswith(f"the same words again, decided on {day}")
    assert row.reason.endswith("UTC by reviewer: it was wrong (Asked her.)")
    check_invariants()


def test_said_a_third_time_it_is_a_repetition_of_what_is_disputed(acme: Cast, calm: Tools) -> None:
    declared_wrong(acme, calm)
    again = say(acme, calm, TEA)

    third = say(acme, calm, TEA)

    assert (third.outcome, third.memory.pk) == (Outcome.DUPLICATE, again.memory.pk)
    assert len(open_ones()) == 1


def test_the_latest_decision_on_the_words_holds(acme: Cast, calm: Tools) -> None:
    declared_wrong(acme, calm)
    again = say(acme, calm, TEA).memory
    resolve(acme, calm, open_ones()[0], "a_wins")
    delete_memory(viewer=team_of(acme), memory_id=again.pk)

    assert say(acme, calm, TEA).outcome == Outcome.CREATED
    assert open_ones() == []


@pytest.mark.parametrize("resolution", ["a_wins", "b_wins"])
def test_who_lost_is_replaced_again_and_nobody_is_asked(
    acme: Cast, plain: Tools, calm: Tools, resolution: str
) -> None:
    sides = stored(acme, plain, TEA, MILK)
    resolve(acme, plain, between(*sides), resolution, note="Asked her.")
    won, lost = sides if resolution == "a_wins" else sides[::-1]

    results = [say(acme, calm, lost.content) for _ in range(2)]

    for again in results:
        assert (again.outcome, again.conflicts) == (Outcome.SUPERSEDED, 1)
        assert now_is(again.memory).superseded_by_id == won.pk
        (row,) = Contradiction.objects.filter(memory_a=again.memory)
        assert row.reason.endswith("by reviewer: the other one was kept (Asked her.)")
    assert (open_ones(), live(acme)) == ([], [won.content])
    check_invariants()


@pytest.mark.parametrize("side", [0, 1])
def test_what_was_merged_is_replaced_by_the_merged_text_again(
    acme: Cast, plain: Tools, calm: Tools, side: int
) -> None:
    sides = stored(acme, plain, TEA, MILK)
    resolve(acme, plain, between(*sides), "merged", text="Sarah drinks tea with milk.")
    (merged,) = Memory.objects.live()

    again = say(acme, calm, sides[side].content)

    assert again.outcome == Outcome.SUPERSEDED
    assert now_is(again.memory).superseded_by_id == merged.pk
    (row,) = Contradiction.objects.filter(memory_a=again.memory)
    assert "both were merged into one" in row.reason
    assert open_ones() == []
    check_invariants()


def test_what_stands_may_have_been_corrected_since(acme: Cast, plain: Tools, calm: Tools) -> None:
    won, lost = stored(acme, plain, TEA, MILK)
    resolve(acme, plain, between(won, lost), "a_wins")
    now_stands = correct_memory(
        viewer=team_of(acme),
        memory_id=won.pk,
        corrected_content="Sarah drinks green tea.",
        reason="",
        tools=calm,
        now=timezone.now(),
    ).memory

    again = say(acme, calm, MILK).memory

    (row,) = open_ones()
    assert {row.memory_a_id, row.memory_b_id} == {now_stands.pk, again.pk}


def test_an_objection_that_led_to_a_correction_holds_against_what_stands(
    acme: Cast, calm: Tools
) -> None:
    wrong = say(acme, calm, TEA).memory
    resolve(acme, calm, object_to(acme, wrong), "merged", text="Sarah drinks juice.")
    (right,) = Memory.objects.live()

    again = say(acme, calm, TEA).memory

    (row,) = Contradiction.objects.filter(memory_a=again)
    assert (now_is(again).superseded_by_id, open_ones()) == (right.pk, [])
    assert "by reviewer: it was corrected" in row.reason


def test_what_lost_to_another_that_lost_since_is_disputed(
    acme: Cast, plain: Tools, calm: Tools
) -> None:
    one, two, three = stored(acme, plain, *THREE)
    resolve(acme, plain, between(one, two), "a_wins")
    resolve(acme, plain, between(one, three), "b_wins")

    again = say(acme, calm, two.content)

    assert again.outcome == Outcome.DISPUTED
    (row,) = open_ones()
    assert {row.memory_a_id, row.memory_b_id} == {three.pk, again.memory.pk}


def test_what_is_valid_beside_the_other_is_not_disputed_again(acme: Cast, plain: Tools) -> None:
    one, other = stored(acme, plain, TEA, MILK)
    resolve(acme, plain, between(one, other), "both_valid")
    delete_memory(viewer=team_of(acme), memory_id=other.pk)

    assert say(acme, plain, MILK).outcome == Outcome.CREATED
    assert open_ones() == []


def test_words_that_lost_retire_nothing(acme: Cast, calm: Tools) -> None:
    declared_wrong(acme, calm)
    stands = say(acme, calm, MILK).memory
    hasty = replace(calm, judge=Quarrel({TEA: Verdict.SUPERSEDE}))

    again = say(acme, hasty, TEA, created_at=NOON + timedelta(days=1))

    assert (again.outcome, again.retired) == (Outcome.DISPUTED, ())
    assert now_is(stands).status == "disputed"
    check_invariants()


@pytest.mark.parametrize("way", ["deleted", "superseded", "lost another dispute"])
def test_what_ended_without_a_decision_on_it_is_judged_as_ever(
    acme: Cast, plain: Tools, calm: Tools, way: str
) -> None:
    one, other = stored(acme, plain, TEA, MILK)
    if way == "deleted":
        delete_memory(viewer=team_of(acme), memory_id=other.pk)
    elif way == "superseded":
        say(acme, replace(plain, judge=Quarrel({"Sarah naps.": Verdict.SUPERSEDE})), "Sarah naps.")
    else:
        (third,) = stored(acme, plain, WATER)
        resolve(acme, plain, between(other, third), "b_wins")
        delete_memory(viewer=team_of(acme), memory_id=third.pk)

    say(acme, calm, MILK)

    assert not any("decided" in row.reason for row in Contradiction.objects.all())
    assert one.pk not in {each.memory_a_id for each in open_ones()}


def test_a_correction_to_such_words_is_a_decision_itself(acme: Cast, calm: Tools) -> None:
    declared_wrong(acme, calm)
    other = say(acme, calm, MILK).memory

    result = correct_memory(
        viewer=team_of(acme),
        memory_id=other.pk,
        corrected_content=TEA,
        reason="She says so herself.",
        tools=calm,
        now=timezone.now(),
    )

    assert result.outcome == Outcome.VERSIONED
    assert (live(acme), open_ones()) == ([TEA], [])


def test_an_explicit_change_wins_over_what_was_decided(acme: Cast, tools: Tools) -> None:
    old, lost = (
        write(acme, tools, draft(acme, each))[0].memory for each in (OLD_LIMIT, OTHER_LIMIT)
    )
    resolve(acme, tools, between(old, lost), "a_wins")

    (change,) = write(acme, tools, draft(acme, NEW_LIMIT, created_at=NOON + timedelta(days=1)))

    assert change.outcome == Outcome.SUPERSEDED_EXISTING
    assert live(acme) == [NEW_LIMIT]


def test_each_draft_of_a_write_is_held_to_what_was_decided(acme: Cast, calm: Tools) -> None:
    for text in (TEA, MILK):
        declared_wrong(acme, calm, text)

    results = write(acme, calm, *(draft(acme, text, subject=SUBJECT) for text in THREE))

    assert [each.outcome for each in results] == ["disputed", "disputed", "created"]
    assert {row.memory_a_id for row in open_ones()} == {each.memory.pk for each in results[:2]}


@pytest.mark.parametrize(
    ("decided", "said", "outcome"),
    [
        ("all", "kyra", Outcome.DISPUTED),
        ("kyra", "kyra", Outcome.DISPUTED),
        ("kyra", "luke", Outcome.CREATED),
        ("kyra", "all", Outcome.CREATED),
    ],
)
def test_a_decision_holds_for_those_who_could_see_it(
    acme: Cast, calm: Tools, decided: str, said: str, outcome: Outcome
) -> None:
    agents = {"all": None, "kyra": acme.kyra.pk, "luke": acme.luke.pk}
    declared_wrong(acme, calm, agent_id=agents[decided])

    assert say(acme, calm, TEA, agent_id=agents[said]).outcome == outcome


def test_where_contradictions_are_switched_off_nothing_is_held_against_it(
    acme: Cast, calm: Tools
) -> None:
    declared_wrong(acme, calm)
    switch(acme, contradiction_detection=False)

    assert say(acme, calm, TEA).outcome == Outcome.CREATED
