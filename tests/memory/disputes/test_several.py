"""Several disputes of one memory, in any order and at once: none is at odds with its status."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from random import Random
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from memory.domain.types import Verdict
from memory.models import Contradiction, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory
from memory.writing.decisions.moving import restore_memory
from memory.writing.drafts import Outcome
from teams.errors import ConflictError, DomainError
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.disputes import (
    THREE,
    Moody,
    Quarrel,
    between,
    check_invariants,
    now_is,
    object_to,
    resolve,
    stored,
    team_of,
)
from tests.support.waiting import race


def test_settling_one_of_several_leaves_the_others_open(
    acme: Cast, plain: Tools, three: list[Memory]
) -> None:
    one, two, third = three

    resolve(acme, plain, between(one, two), "both_valid")

    assert now_is(one).contradicts == [third.pk]
    assert now_is(two).contradicts == [third.pk]
    assert {now_is(each).status for each in (one, two, third)} == {"disputed"}
    check_invariants()


def test_who_loses_one_dispute_is_out_of_all(acme: Cast, plain: Tools, three: list[Memory]) -> None:
    one, two, third = three

    resolve(acme, plain, between(one, two), "a_wins", note="Asked her.")

    assert now_is(two).status == "superseded"
    assert now_is(one).contradicts == [third.pk]
    assert now_is(third).contradicts == [one.pk]
    ended = between(two, third)
    assert (ended.resolution, ended.resolution_note) == ("b_wins", "the other side of it lost")
    with pytest.raises(ConflictError):
        resolve(acme, plain, ended, "a_wins")
    check_invariants()


def test_a_merge_of_two_of_three_is_judged_against_the_third(
    acme: Cast, plain: Tools, three: list[Memory]
) -> None:
    one, two, third = three

    resolve(acme, plain, between(one, two), "merged", text="Sarah drinks tea with milk.")

    merged = Memory.objects.live().exclude(pk=third.pk).get()
    assert now_is(third).contradicts == [merged.pk]
    assert merged.contradicts == [third.pk]
    assert Contradiction.objects.filter(resolved_at=None).count() == 1
    check_invariants()


def test_a_correction_of_a_disputed_memory_ends_its_disputes_and_is_judged_anew(
    acme: Cast, plain: Tools
) -> None:
    one, two = stored(acme, plain, *THREE[:2])
    tools = replace(plain, judge=Quarrel({"Sarah drinks tea and milk.": Verdict.COEXIST}))

    result = correct_memory(
        viewer=team_of(acme),
        memory_id=one.pk,
        corrected_content="Sarah drinks tea and milk.",
        reason="",
        tools=tools,
        now=timezone.now(),
    )

    assert result.outcome == Outcome.VERSIONED
    assert (now_is(two).status, now_is(two).contradicts) == ("active", [])
    assert between(one, two).resolution == "b_wins"
    check_invariants()


def test_a_correction_that_still_conflicts_is_disputed_again(acme: Cast, plain: Tools) -> None:
    one, two = stored(acme, plain, *THREE[:2])

    result = correct_memory(
        viewer=team_of(acme),
        memory_id=one.pk,
        corrected_content="Sarah drinks green tea.",
        reason="",
        tools=plain,
        now=timezone.now(),
    )

    assert result.outcome == Outcome.DISPUTED
    assert now_is(two).contradicts == [result.memory.pk]
    assert now_is(one).status == "superseded"
    check_invariants()


def _bring_back(cast: Cast, tools: Tools, memory: Memory) -> None:
    with suppress(ConflictError):  # the same stands by now
        restore_memory(viewer=team_of(cast), memory_id=memory.pk, tools=tools)


def _one_step(cast: Cast, tools: Tools, dice: Random, *, objections: bool) -> None:
    rows = list(Memory.objects.live().order_by("id"))
    still_open = list(Contradiction.objects.filter(resolved_at=None).order_by("id"))
    steps: list[Callable[[], object]] = [
        lambda: stored(cast, tools, f"Sarah drinks {dice.randrange(12)}.")
    ]
    if rows:
        memory = dice.choice(rows)
        steps += [
            lambda: delete_memory(viewer=team_of(cast), memory_id=memory.pk),
            lambda: correct_memory(
                viewer=team_of(cast),
                memory_id=memory.pk,
                corrected_content=f"Sarah eats {dice.randrange(1000)}.",
                reason="",
                tools=tools,
                now=timezone.now(),
            ),
        ]
        if objections:
            steps.append(lambda: object_to(cast, memory))
    gone = list(Memory.objects.filter(status="soft_deleted").order_by("id"))
    if gone:
        lost = dice.choice(gone)
        steps.append(lambda: _bring_back(cast, tools, lost))
    if still_open:
        row = dice.choice(still_open)
        how = dice.choice(["a_wins", "b_wins", "both_valid", "merged"])
        steps.append(
            lambda: resolve(cast, tools, row, how, text=f"Sarah has {dice.randrange(1000)}.")
        )
    # Writing is twice as likely as each way of taking away.
    dice.choice([steps[0], *steps])()


@pytest.mark.parametrize("seed", range(4))
def test_no_sequence_leaves_a_memory_and_its_disputes_at_odds(
    acme: Cast, plain: Tools, seed: int
) -> None:
    dice = Random(seed)
    tools = replace(plain, judge=Moody())
    stored(acme, tools, *THREE)

    for _ in range(20):
        _one_step(acme, tools, dice, objections=False)
        check_invariants()

    assert Contradiction.objects.exclude(resolved_at=None).exists()


def test_no_sequence_with_objections_leaves_them_at_odds(acme: Cast, plain: Tools) -> None:
    tools = replace(plain, judge=Moody())

    for seed in range(3):
        dice = Random(seed)
        for _ in range(20):
            _one_step(acme, tools, dice, objections=True)
            check_invariants()

    assert Contradiction.objects.filter(memory_b=None).exists()


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A team that several connections may write to."""
    return make_cast(f"town-{uuid4().hex}")


def test_of_many_verdicts_at_once_one_holds(town: Cast, plain: Tools) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        row = between(*stored(town, plain, *THREE[:2]))
    ways = ["a_wins", "b_wins", "both_valid", "a_wins", "b_wins", "both_valid"]

    def act(number: int) -> str | None:
        try:
            return resolve(town, plain, row, ways[number]).resolution
        except ConflictError:
            return None

    answers = [each for each in race(6, act) if each]

    assert len(answers) == 1
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Contradiction.objects.get().resolution == answers[0]
        check_invariants()


@pytest.mark.parametrize("round_number", range(2))
def test_settling_correcting_and_deleting_at_once_ends_consistent(
    town: Cast, plain: Tools, round_number: int
) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        one, two, three = stored(town, plain, *THREE)
        pairs = [between(one, two), between(one, three), between(two, three)]

    def settle(number: int) -> object:
        return resolve(town, plain, pairs[number], ["a_wins", "b_wins", "both_valid"][number])

    def correct(memory_id: UUID) -> object:
        return correct_memory(
            viewer=team_of(town),
            memory_id=memory_id,
            corrected_content="Sarah drinks cocoa.",
            reason="",
            tools=plain,
            now=timezone.now(),
        )

    acts: list[Callable[[], object]] = [
        lambda: settle(0),
        lambda: settle(1),
        lambda: settle(2),
        lambda: correct(one.pk),
        lambda: correct(two.pk),
        lambda: delete_memory(viewer=team_of(town), memory_id=three.pk),
    ]

    def act(number: int) -> bool:
        try:
            acts[number]()
        except DomainError:
            return False
        except OperationalError as error:
            # Two took each other's rows; the database let one go on and nothing of this stays.
            if "deadlock" not in str(error):
                raise
            return False
        return True

    done = race(6, act)

    assert any(done)
    with team_scope(team_ids=[town.team.id], actor="test"):
        check_invariants()
