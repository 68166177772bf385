"""A settlement is taken back wholly, unless what it changed was changed again since."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.models import MemoryLog
from memory.models import Contradiction, Memory, Settlement
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory, pin_memory
from memory.writing.decisions.undoing import ChangedSinceError, Undone, undo_settlement
from teams.errors import ConflictError, NotFoundError
from tests.support.cast import Cast
from tests.support.disputes import (
    SUBJECT,
    THREE,
    between,
    check_invariants,
    now_is,
    object_to,
    resolve,
    stored,
    team_of,
)
from tests.support.examples import examples
from tests.support.writing import draft, live, write

RESOLUTIONS = ["a_wins", "b_wins", "both_valid", "merged"]
# What a memory is, apart from its text, which never changes, and when it last changed.
STATE = (
    "status", "tier", "is_pinned", "importance", "version", "supersedes_id", "superseded_by_id",
    "contradicts", "corroboration",
)  # fmt: skip


def undo(cast: Cast, row: Contradiction, note: str = "") -> Undone:
    return undo_settlement(
        viewer=team_of(cast), contradiction_id=row.pk, now=timezone.now(), note=note
    )


def state(memories: list[Memory]) -> list[dict[str, Any]]:
    rows = [now_is(each) for each in memories]
    return [
        {name: getattr(each, name) for name in STATE} | {"contradicts": sorted(each.contradicts)}
        for each in rows
    ]


def open_rows() -> set[Any]:
    return set(Contradiction.objects.filter(resolved_at=None).values_list("pk", flat=True))


@pytest.mark.parametrize("resolution", RESOLUTIONS)
@pytest.mark.parametrize("is_pinned", [True, False])
def test_both_sides_and_the_contradiction_are_as_before(
    acme: Cast, plain: Tools, sides: list[Memory], resolution: str, is_pinned: bool
) -> None:
    pin_memory(viewer=team_of(acme), memory_id=sides[1].pk, pinned=is_pinned)
    before = state(sides)
    row = resolve(acme, plain, between(*sides), resolution, note="Asked.", text="Tea with milk.")

    undone = undo(acme, row, "Asked the wrong one.")

    assert state(sides) == before
    row.refresh_from_db()
    assert (row.resolution, row.resolution_note, row.resolved_by, row.resolved_at) == (
        "", "", "", None,
    )  # fmt: skip
    assert sorted(live(acme)) == sorted(THREE[:2])
    assert undone.contradiction.pk == row.pk
    newest = MemoryLog.objects.filter(memory_id=sides[0].pk).latest("seq")
    assert newest.actor == "reviewer"
    assert newest.reason == f"settlement undone: {resolution} (Asked the wrong one.)"
    check_invariants()


@pytest.mark.parametrize("resolution", RESOLUTIONS)
def test_what_ended_with_it_is_open_again(
    acme: Cast, plain: Tools, three: list[Memory], resolution: str
) -> None:
    before, were_open = state(three), open_rows()
    row = resolve(acme, plain, between(*three[:2]), resolution, text="Sarah drinks a lot.")

    undone = undo(acme, row)

    assert state(three) == before
    assert open_rows() == were_open
    assert len(undone.reopened) == {"both_valid": 0, "merged": 2}.get(resolution, 1)
    check_invariants()


def test_the_merged_text_is_deleted_and_can_be_written_again(
    acme: Cast, plain: Tools, sides: list[Memory]
) -> None:
    row = resolve(acme, plain, between(*sides), "merged", text="Tea with milk.")
    merged = now_is(sides[0]).superseded_by
    assert merged is not None

    undo(acme, row)
    gone = now_is(merged)
    resolve(acme, plain, row, "merged", text="Tea with milk.")
    again = now_is(sides[0]).superseded_by

    assert (gone.status, gone.supersedes_id, gone.is_pinned) == ("soft_deleted", None, False)
    assert again is not None
    assert (again.pk != merged.pk, again.status, again.version) == (True, "active", 2)
    assert live(acme) == ["Tea with milk."]
    check_invariants()


def test_an_objection_is_open_again_and_its_memory_back(
    acme: Cast, plain: Tools, sides: list[Memory]
) -> None:
    row = object_to(acme, sides[0])
    before, were_open = state(sides), open_rows()
    resolve(acme, plain, row, "b_wins")

    undo(acme, row)

    assert state(sides) == before
    assert open_rows() == were_open
    check_invariants()


def test_what_others_did_beside_it_stays(acme: Cast, plain: Tools, sides: list[Memory]) -> None:
    row = resolve(acme, plain, between(*sides), "a_wins")
    pin_memory(viewer=team_of(acme), memory_id=sides[0].pk, pinned=True)
    third = write(acme, plain, draft(acme, THREE[2], subject=SUBJECT))[0].memory

    undo(acme, row)

    first = now_is(sides[0])
    assert first.is_pinned
    assert set(first.contradicts) == {sides[1].pk, third.pk}
    assert now_is(sides[1]).contradicts == [sides[0].pk]
    check_invariants()


@pytest.mark.parametrize("way", ["correct", "delete"])
def test_it_is_refused_with_a_list_where_a_side_changed_since(
    acme: Cast, plain: Tools, sides: list[Memory], way: str
) -> None:
    row = resolve(acme, plain, between(*sides), "a_wins")
    if way == "delete":
        delete_memory(viewer=team_of(acme), memory_id=sides[0].pk)
    else:
        correct_memory(
            viewer=team_of(acme),
            memory_id=sides[0].pk,
            corrected_content="Sarah drinks green tea.",
            reason="",
            tools=plain,
            now=timezone.now(),
        )
    before = state(sides)

    with pytest.raises(ChangedSinceError) as refused:
        undo(acme, row)

    (changed,) = refused.value.changed
    how = "is soft deleted now" if way == "delete" else "is superseded now"
    assert (changed.memory.pk, changed.how) == (sides[0].pk, how)
    assert f"{sides[0].pk} {how}" in refused.value.message
    assert state(sides) == before
    assert Contradiction.objects.get(pk=row.pk).resolution == "a_wins"


def test_it_is_refused_where_the_words_stand_again(
    acme: Cast, plain: Tools, sides: list[Memory]
) -> None:
    row = resolve(acme, plain, object_to(acme, sides[0]), "b_wins")
    again = write(acme, plain, draft(acme, THREE[0], subject=SUBJECT))[0].memory

    with pytest.raises(ChangedSinceError, match="says the same") as refused:
        undo(acme, row)

    assert [each.memory.pk for each in refused.value.changed] == [again.pk]


def test_only_a_settlement_in_force_is_taken_back(
    acme: Cast, globex: Cast, plain: Tools, three: list[Memory]
) -> None:
    row, beside = between(*three[:2]), between(*three[1:])
    with pytest.raises(ConflictError, match="It is open"):
        undo(acme, row)
    resolve(acme, plain, row, "a_wins")
    with pytest.raises(ConflictError, match=f"resolved together with contradiction {row.pk}"):
        undo(acme, beside)
    with pytest.raises(NotFoundError):
        undo(globex, row)
    undo(acme, row)
    with pytest.raises(ConflictError, match="It is open"):
        undo(acme, row)

    assert [each.undone_by for each in Settlement.objects.all()] == ["reviewer"]


@pytest.mark.parametrize(("resolution", "winner"), [("a_wins", 0), ("b_wins", 1)])
def test_what_stands_is_the_next_version_of_what_it_replaces(
    acme: Cast, plain: Tools, sides: list[Memory], resolution: str, winner: int
) -> None:
    resolve(acme, plain, between(*sides), resolution)

    won, lost = now_is(sides[winner]), now_is(sides[1 - winner])
    assert (lost.version, won.version, won.supersedes_id) == (1, 2, lost.pk)


@settings(
    max_examples=examples(5),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(moves=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(RESOLUTIONS)), max_size=5))
def test_taking_all_back_in_turn_leads_to_the_beginning(
    acme: Cast, plain: Tools, moves: list[tuple[int, str]]
) -> None:
    name = f"sarah-{Memory.objects.count()}"
    texts = [f"{text[:-1]} at {name}." for text in THREE]
    memories = stored(acme, plain, *texts)
    mine = Contradiction.objects.filter(memory_a__in=[each.pk for each in memories])
    before, were_open = state(memories), open_rows()
    done = []
    for place, resolution in moves:
        rows = list(mine.filter(resolved_at=None).order_by("pk"))
        if rows:
            row = rows[place % len(rows)]
            done.append(resolve(acme, plain, row, resolution, text=f"{name} drinks {place}."))
    for row in reversed(done):
        undo(acme, row)

    assert state(memories) == before
    assert open_rows() == were_open
    check_invariants()
    for each in memories:
        delete_memory(viewer=team_of(acme), memory_id=each.pk)
