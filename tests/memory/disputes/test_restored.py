"""A memory that comes back meets what stands by then as a new one would."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory.domain.types import Verdict
from memory.models import Contradiction, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory, pin_memory
from memory.writing.decisions.moving import restore_memory
from teams.errors import ConflictError, UnavailableError
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
from tests.support.embedders import AwayEmbedder
from tests.support.writing import NEW_LIMIT, NOON, OLD_LIMIT, draft, live, write


def restore(acme: Cast, tools: Tools, memory: Memory) -> Memory:
    return restore_memory(viewer=team_of(acme), memory_id=memory.pk, tools=tools)


def test_what_contradicts_it_by_now_is_disputed_again(acme: Cast, plain: Tools) -> None:
    one, other = stored(acme, plain, *THREE[:2])
    delete_memory(viewer=team_of(acme), memory_id=other.pk)

    back = restore(acme, plain, other)

    assert [now_is(each).status for each in (one, back)] == ["disputed", "disputed"]
    (row,) = Contradiction.objects.filter(resolved_at=None)
    assert (row.memory_a_id, row.memory_b_id) == (one.pk, other.pk)
    check_invariants()


def test_it_is_disputed_with_what_was_stored_while_it_was_away(acme: Cast, plain: Tools) -> None:
    one, other = stored(acme, plain, *THREE[:2])
    delete_memory(viewer=team_of(acme), memory_id=one.pk)
    (third,) = stored(acme, plain, THREE[2])

    restore(acme, plain, one)

    assert set(now_is(one).contradicts) == {other.pk, third.pk}
    check_invariants()


def test_what_is_newer_supersedes_it(acme: Cast, tools: Tools) -> None:
    (old,) = write(acme, tools, draft(acme, OLD_LIMIT, is_pinned=True))
    delete_memory(viewer=team_of(acme), memory_id=old.memory.pk)
    (new,) = write(acme, tools, draft(acme, NEW_LIMIT, created_at=NOON + timedelta(days=1)))

    back = restore(acme, tools, old.memory)

    assert (now_is(back).status, back.superseded_by_id) == ("superseded", new.memory.pk)
    assert (now_is(back).tier, now_is(back).is_pinned) == ("cold", False)
    assert live(acme) == [NEW_LIMIT]
    row = Contradiction.objects.get()
    assert (row.memory_a_id, row.memory_b_id, row.resolution) == (back.pk, new.memory.pk, "b_wins")
    check_invariants()


@pytest.mark.parametrize("pinned", [True, False])
def test_a_pin_comes_back_as_it_was_when_it_went(acme: Cast, tools: Tools, pinned: bool) -> None:
    (result,) = write(acme, tools, draft(acme, OLD_LIMIT, is_pinned=not pinned))
    memory = result.memory
    pin_memory(viewer=team_of(acme), memory_id=memory.pk, pinned=pinned)
    delete_memory(viewer=team_of(acme), memory_id=memory.pk)
    assert not now_is(memory).is_pinned

    back = now_is(restore(acme, tools, memory))

    assert (back.is_pinned, back.tier) == (pinned, "hot" if pinned else "warm")


def test_it_supersedes_what_is_older_and_keeps_that_ones_pin(acme: Cast, tools: Tools) -> None:
    (new,) = write(acme, tools, draft(acme, NEW_LIMIT, created_at=NOON + timedelta(days=1)))
    delete_memory(viewer=team_of(acme), memory_id=new.memory.pk)
    (old,) = write(acme, tools, draft(acme, OLD_LIMIT, is_pinned=True))

    back = now_is(restore(acme, tools, new.memory))

    assert (back.status, back.is_pinned, back.tier) == ("active", True, "hot")
    assert (back.supersedes_id, back.version) == (old.memory.pk, 2)
    assert now_is(old.memory).superseded_by_id == back.pk
    check_invariants()


def test_what_stands_in_other_words_is_told_of(acme: Cast, plain: Tools) -> None:
    (one,) = stored(acme, plain, THREE[0])
    delete_memory(viewer=team_of(acme), memory_id=one.pk)
    (other,) = stored(acme, plain, "Sarah drinks tea and milk.")
    same = replace(plain, judge=Quarrel({THREE[0]: Verdict.DUPLICATE}))

    with pytest.raises(ConflictError, match=rf"Another memory \({other.pk}\) already says this"):
        restore(acme, same, one)

    assert now_is(one).status == "soft_deleted"


def test_what_people_settled_as_valid_is_not_disputed_again(acme: Cast, plain: Tools) -> None:
    one, other = stored(acme, plain, *THREE[:2])
    resolve(acme, plain, between(one, other), "both_valid")
    delete_memory(viewer=team_of(acme), memory_id=other.pk)

    restore(acme, plain, other)

    assert [now_is(each).status for each in (one, other)] == ["active", "active"]
    check_invariants()


@pytest.mark.parametrize(("by", "status"), [("somebody", "disputed"), ("reviewer", "active")])
def test_what_is_wrong_comes_back_whole_only_by_who_said_so(
    acme: Cast, plain: Tools, by: str, status: str
) -> None:
    (wrong,) = stored(acme, plain, THREE[0])
    resolve(acme, plain, object_to(acme, wrong), "b_wins")

    restore_memory(
        viewer=replace(team_of(acme), actor=by), memory_id=wrong.pk, tools=plain, reason=""
    )

    assert now_is(wrong).status == status
    check_invariants()


def test_what_was_stored_unchecked_comes_back_unchecked(acme: Cast, plain: Tools) -> None:
    drafts = [draft(acme, text, subject=SUBJECT, check=False) for text in THREE[:2]]
    one, other = (each.memory for each in write(acme, plain, *drafts))
    delete_memory(viewer=team_of(acme), memory_id=other.pk)

    restore(acme, plain, other)

    assert [now_is(each).status for each in (one, other)] == ["active", "active"]


def test_where_contradictions_are_switched_off_it_comes_back_as_it_was(
    acme: Cast, plain: Tools
) -> None:
    one, other = stored(acme, plain, *THREE[:2])
    delete_memory(viewer=team_of(acme), memory_id=other.pk)
    switch(acme, contradiction_detection=False)

    restore(acme, plain, other)

    assert [now_is(each).status for each in (one, other)] == ["active", "active"]


def test_without_the_embedder_nothing_comes_back(acme: Cast, plain: Tools) -> None:
    (one,) = stored(acme, plain, THREE[0])
    delete_memory(viewer=team_of(acme), memory_id=one.pk)

    with pytest.raises(UnavailableError):
        restore(acme, replace(plain, embedder=AwayEmbedder()), one)

    assert now_is(one).status == "soft_deleted"
