"""Runs rank by use and forget with care; what expired comes back as it was, until it is purged."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import Erasure, MemoryLog
from audit.services.erasure import erase_purged, erase_user
from audit.services.verification import verify_team
from memory.domain.judgements import Feedback
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryRelation, MemoryUsage, SearchEntry
from memory.satellites.lifecycle.aging import purge_due
from memory.satellites.lifecycle.models import ConsolidationChange, ConsolidationRun, Step
from memory.satellites.lifecycle.running import run_consolidation, undo_run
from memory.satellites.lifecycle.runs import start_run
from memory.selectors.history.states import state_at
from memory.selectors.memories import MemoryFilters, PurgedError, filtered_memories, memory_for
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory, give_feedback, pin_memory
from memory.writing.decisions.moving import restore_memory
from teams.errors import ConflictError
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients, make_cast
from tests.support.lifecycle import NOW, choose, now_of, run, told, viewer_of
from tests.support.writing import store

LONG_AGO = NOW - timedelta(days=200)
KILN = "The kiln is in the cellar."
DUE = NOW + timedelta(days=30)


def old(cast: Cast, tools: Tools, *contents: str, **fields: Any) -> list[Memory]:
    """Unimportant memories of long ago that nobody asked for."""
    return store(cast, tools, *contents, **{"importance": 2, "created_at": LONG_AGO, **fields})


def standing(cast: Cast, memory: Memory) -> tuple[str, str]:
    found = now_of(cast, memory.pk)
    return found.status, found.tier


def planned(cast: Cast, row: ConsolidationRun) -> list[tuple[Any, ...]]:
    names = ("step", "kind", "memory_id", "before", "after", "because")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return list(ConsolidationChange.objects.filter(run=row).values_list(*names))


def test_what_is_told_often_turns_hot_and_warm_again_when_it_no_longer_is(
    acme: Cast, tools: Tools
) -> None:
    often, seldom = store(acme, tools, KILN, "The wheel squeaks.", importance=5)
    told(acme, often.pk, at=NOW, times=11)
    told(acme, seldom.pk, at=NOW, times=10)

    run(acme, tools, steps=[Step.RANK])
    assert [standing(acme, each)[1] for each in (often, seldom)] == ["hot", "warm"]

    week = NOW + timedelta(days=7)
    run(acme, tools, now=week, steps=[Step.RANK])
    assert standing(acme, often) == ("active", "warm")
    with team_scope(team_ids=[acme.team.id], actor="test"):
        rows = MemoryLog.objects.filter(memory_id=often.pk).order_by("seq")
        assert list(rows.values_list("event", flat=True)) == ["created", "promoted", "demoted"]


def test_feedback_and_unpinning_leave_what_is_hot_by_its_use_hot(acme: Cast, tools: Tools) -> None:
    (memory,) = store(acme, tools, KILN, importance=5)
    now = datetime.now(tz=NOW.tzinfo)
    told(acme, memory.pk, at=now, times=11)
    run(acme, tools, now=now, steps=[Step.RANK])

    give_feedback(viewer=viewer_of(acme), memory_id=memory.pk, signal=Feedback.HELPFUL, note="")
    pin_memory(viewer=viewer_of(acme), memory_id=memory.pk, pinned=True)
    pin_memory(viewer=viewer_of(acme), memory_id=memory.pk, pinned=False)

    assert now_of(acme, memory.pk).tier == "hot"


def test_helpful_feedback_promotes_at_once(acme: Cast, tools: Tools) -> None:
    (memory,) = store(acme, tools, KILN, importance=8)

    give_feedback(viewer=viewer_of(acme), memory_id=memory.pk, signal=Feedback.HELPFUL, note="")

    found = now_of(acme, memory.pk)
    assert (found.importance, found.tier) == (9, "hot")


def test_what_is_cold_and_asked_for_again_is_warm(acme: Cast, tools: Tools) -> None:
    choose(acme, off=["expire"])
    by_use, by_feedback, left = old(acme, tools, KILN, "The wheel squeaks.", "Clay is grey.")
    run(acme, tools, steps=[Step.FORGET])
    assert {standing(acme, each) for each in (by_use, by_feedback, left)} == {("active", "cold")}

    told(acme, by_use.pk, at=NOW, times=2)
    told(acme, by_feedback.pk, at=NOW)
    give_feedback(viewer=viewer_of(acme), memory_id=by_feedback.pk, signal=Feedback.CITED, note="")
    run(acme, tools, now=NOW + timedelta(hours=1), steps=[Step.RANK, Step.FORGET])

    tiers = [standing(acme, each)[1] for each in (by_use, by_feedback, left)]
    assert tiers == ["warm", "warm", "cold"]


def test_what_is_superseded_or_outdated_turns_cold(acme: Cast, tools: Tools) -> None:
    past, outdated, valid = store(
        acme, tools, KILN, "Sarah is away until April.", "Clay is grey.", importance=7
    )
    with team_scope(team_ids=[acme.team.id], actor="test"):
        Memory.objects.filter(pk=past.pk).update(status="superseded", tier="warm")
        Memory.objects.filter(pk=outdated.pk).update(valid_to=NOW - timedelta(days=8))
        Memory.objects.filter(pk=valid.pk).update(valid_to=NOW - timedelta(days=6))

    run(acme, tools, steps=[Step.FORGET])

    assert [standing(acme, each) for each in (past, outdated, valid)] == [
        ("superseded", "cold"),
        ("active", "cold"),
        ("active", "warm"),
    ]


def test_what_nobody_asked_for_expires_and_comes_back_as_it_was(acme: Cast, tools: Tools) -> None:
    unused, used = old(acme, tools, KILN, "The wheel squeaks.")
    told(acme, used.pk, at=NOW - timedelta(days=59))

    done = run(acme, tools, steps=[Step.FORGET])

    gone = now_of(acme, unused.pk)
    assert (gone.status, gone.tier, gone.purge_at) == ("soft_deleted", "cold", DUE)
    assert standing(acme, used) == ("active", "cold"), "told once in 200 days"
    assert done.counts["forget"]["made"] == 2

    back = restore_memory(viewer=viewer_of(acme), memory_id=unused.pk, tools=tools, now=NOW)
    assert (back.status, back.tier, back.purge_at) == ("active", "warm", None)
    choose(acme, cold_after_days=3_000)
    run(acme, tools, now=NOW + timedelta(days=1), steps=[Step.FORGET])
    assert standing(acme, unused) == ("active", "warm"), "somebody asked for it a day ago"


def test_what_was_cold_when_it_expired_comes_back_cold(acme: Cast, tools: Tools) -> None:
    (memory,) = old(acme, tools, KILN)
    choose(acme, off=["expire"])
    run(acme, tools, steps=[Step.FORGET])
    choose(acme)
    run(acme, tools, now=NOW + timedelta(days=1), steps=[Step.FORGET])
    assert standing(acme, memory) == ("soft_deleted", "cold")

    restore_memory(viewer=viewer_of(acme), memory_id=memory.pk, tools=tools, now=NOW)

    assert standing(acme, memory) == ("active", "cold")


def test_a_team_sets_what_expires_and_when(acme: Cast, tools: Tools) -> None:
    choose(acme, expire_after_days=10, expire_below=6, purge_after_days=5)
    recent = NOW - timedelta(days=11)
    five, six = store(acme, tools, KILN, "Clay is grey.", importance=5, created_at=recent)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        Memory.objects.filter(pk=six.pk).update(importance=6)

    run(acme, tools, steps=[Step.FORGET])

    assert now_of(acme, five.pk).purge_at == NOW + timedelta(days=5)
    assert standing(acme, six) == ("active", "warm")


def test_what_is_pinned_important_or_an_identity_stays(acme: Cast, tools: Tools) -> None:
    choose(acme, expire_below=8)
    kept = [
        *old(acme, tools, KILN, is_pinned=True),
        *old(acme, tools, "The wheel squeaks.", importance=8),
        *old(
            acme,
            tools,
            "Kyra is patient.",
            memory_type=MemoryType.IDENTITY,
            agent_id=acme.kyra.pk,
        ),
    ]
    with team_scope(team_ids=[acme.team.id], actor="test"):
        Memory.objects.filter(pk=kept[2].pk).update(is_pinned=False)

    run(acme, tools, steps=[Step.RANK, Step.FORGET])

    assert [standing(acme, each) for each in kept] == [
        ("active", "hot"),
        ("active", "warm"),
        ("active", "warm"),
    ]


def test_a_dry_run_lists_what_a_real_one_does_and_another_team_is_left_alone(
    acme: Cast, globex: Cast, tools: Tools
) -> None:
    old(acme, tools, KILN, "The wheel squeaks.")
    (hot,) = store(acme, tools, "Clay is grey.", importance=5)
    told(acme, hot.pk, at=NOW, times=12)
    (theirs,) = old(globex, tools, KILN)

    dry = run(acme, tools, is_dry=True, steps=[Step.RANK, Step.FORGET])
    assert standing(acme, hot) == ("active", "warm")
    real = run(acme, tools, now=NOW + timedelta(minutes=5), steps=[Step.RANK, Step.FORGET])

    assert len(planned(acme, dry)) == 3
    assert planned(acme, real) == planned(acme, dry)
    assert standing(globex, theirs) == ("active", "warm")


def test_who_is_told_it_between_plan_and_deletion_keeps_it(acme: Cast, tools: Tools) -> None:
    (memory,) = old(acme, tools, KILN)
    started = start_run(viewer=viewer_of(acme), now=NOW, steps=[Step.FORGET])
    run_consolidation(team_id=acme.team.id, run_id=started.pk, tools=tools, seconds=0)
    for _ in range(10):
        run_consolidation(team_id=acme.team.id, run_id=started.pk, tools=tools, seconds=0)
        if planned(acme, started):
            break
    told(acme, memory.pk, at=NOW)

    run_consolidation(team_id=acme.team.id, run_id=started.pk, tools=tools)

    assert standing(acme, memory) == ("active", "warm")


def test_a_run_that_forgot_is_taken_back_and_its_memories_do_not_expire_the_next_day(
    acme: Cast, tools: Tools
) -> None:
    (memory,) = old(acme, tools, KILN)
    done = run(acme, tools, steps=[Step.FORGET])

    undo_run(viewer=viewer_of(acme), run_id=done.pk, tools=tools, now=NOW)

    back = now_of(acme, memory.pk)
    assert (back.status, back.tier, back.purge_at) == ("active", "warm", None)
    run(acme, tools, now=NOW + timedelta(days=1), steps=[Step.FORGET])
    assert now_of(acme, memory.pk).status == "active"


def test_what_people_delete_is_never_purged(acme: Cast, tools: Tools) -> None:
    (memory,) = old(acme, tools, KILN)
    delete_memory(viewer=viewer_of(acme), memory_id=memory.pk)

    assert purge_due(now=NOW + timedelta(days=3_000)) == 0
    assert now_of(acme, memory.pk).purge_at is None
    with team_scope(team_ids=[acme.team.id], actor="test"), pytest.raises(IntegrityError):
        Memory.objects.filter(pk=memory.pk).update(status="purged")


def expired(cast: Cast, tools: Tools) -> Memory:
    """A memory that expired, with a link to one that stands and with counters."""
    gone, stands = old(cast, tools, KILN, "Clay is grey.")
    pin_memory(viewer=viewer_of(cast), memory_id=stands.pk, pinned=True)
    told(cast, gone.pk, at=LONG_AGO)
    with team_scope(team_ids=[cast.team.id], actor="test"):
        MemoryRelation.objects.create(
            team=cast.team, from_memory=stands, to_memory=gone, strength=0.9
        )
    run(cast, tools, steps=[Step.FORGET])
    return now_of(cast, gone.pk)


def test_what_is_purged_is_found_by_nothing_and_stays_so(acme: Cast, tools: Tools) -> None:
    gone = expired(acme, tools)
    assert purge_due(now=DUE - timedelta(seconds=1)) == 0

    assert purge_due(now=DUE) == 1
    assert purge_due(now=DUE) == 0

    viewer = viewer_of(acme)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert now_of(acme, gone.pk).status == "purged"
        assert not SearchEntry.objects.filter(memory_id=gone.pk).exists()
        assert not MemoryUsage.objects.filter(memory_id=gone.pk).exists()
        assert not MemoryRelation.objects.exists()
        with pytest.raises(PurgedError, match="was purged"):
            memory_for(viewer=viewer, memory_id=gone.pk)
        everything = filtered_memories(viewer=viewer, filters=MemoryFilters(status=("all",)))
        assert gone.pk not in everything.values_list("pk", flat=True)
        assert not Memory.objects.searchable(include_cold=True).filter(pk=gone.pk).exists()
    with (
        team_scope(team_ids=[acme.team.id], actor="test"),
        pytest.raises(IntegrityError, match="stays so"),
    ):
        Memory.objects.filter(pk=gone.pk).update(status="active", purge_at=None)


def test_what_is_due_cannot_be_restored_though_nothing_purged_it_yet(
    acme: Cast, tools: Tools
) -> None:
    gone = expired(acme, tools)
    viewer = viewer_of(acme)

    for _ in ("due", "purged"):
        with pytest.raises(ConflictError, match="purged"):
            restore_memory(viewer=viewer, memory_id=gone.pk, tools=tools, now=DUE)
        purge_due(now=DUE)


def test_a_purged_person_can_be_erased_and_the_log_verified(acme: Cast, tools: Tools) -> None:
    due, waits = old(acme, tools, KILN, "The wheel squeaks.", end_user_id=acme.sarah.pk)
    run(acme, tools, steps=[Step.FORGET])
    with team_scope(team_ids=[acme.team.id], actor="test"):
        Memory.objects.filter(pk=waits.pk).update(purge_at=DUE + timedelta(days=1))
    purge_due(now=DUE)
    assert now_of(acme, due.pk).content == KILN

    erase_user(team_id=acme.team.id, external_id="sarah", actor="test")

    assert {now_of(acme, each.pk).content for each in (due, waits)} == {"[erased]"}
    assert purge_due(now=DUE + timedelta(days=9)) == 0


def test_the_api_restores_until_the_purge_and_says_then_that_it_was(
    acme: Cast, tools: Tools, client_of: Clients
) -> None:
    api: APIClient = client_of(acme)
    first, second = old(acme, tools, KILN, "The wheel squeaks.")
    now = datetime.now(tz=NOW.tzinfo)
    run(acme, tools, now=now, steps=[Step.FORGET])

    shown = api.get(f"/v1/memories/{first.pk}").json()
    assert (shown["status"], shown["purge_at"] is not None) == ("soft_deleted", True)
    restored = api.post(f"/v1/memories/{first.pk}/restore", {}, format="json")
    assert (restored.status_code, restored.json()["purge_at"]) == (200, None)

    purge_due(now=now + timedelta(days=31))
    late = api.post(f"/v1/memories/{second.pk}/restore", {}, format="json")
    assert late.status_code == 409
    assert "purged" in late.json()["detail"]
    missing = api.get(f"/v1/memories/{second.pk}")
    assert (missing.status_code, "purged" in missing.json()["detail"]) == (404, True)
    told_past = api.get("/v1/memories?status=all").content.decode()
    assert "The wheel squeaks." not in told_past


def test_the_past_still_shows_what_was_purged_and_the_log_holds(
    committed_db: None, tools: Tools
) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    gone = expired(town, tools)
    before = timezone.now()
    purge_due(now=DUE)

    viewer = viewer_of(town)
    everything = MemoryFilters(status=("all",))
    with team_scope(team_ids=[town.team.id], actor="test"):
        past = state_at(viewer=viewer, at=before, filters=everything).memories
        today = state_at(viewer=viewer, at=None, filters=everything).memories
        shown = {row.pk: (row.content, row.status) for row in past}
        assert shown[gone.pk] == (KILN, "soft_deleted")
        assert gone.pk not in {row.pk for row in today}
    assert verify_team(team_id=town.team.id).findings == []


def erasing(cast: Cast) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Team.objects.filter(pk=cast.team.id).update(lifecycle_settings={"purge_erases": True})


def test_a_team_may_choose_that_a_purge_erases_from_the_past_as_well(
    committed_db: None, tools: Tools
) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    gone = expired(town, tools)
    before = timezone.now()
    purge_due(now=DUE)
    assert now_of(town, gone.pk).content == KILN
    erasing(town)

    purge_due(now=DUE)

    row, viewer = now_of(town, gone.pk), viewer_of(town)
    assert (row.content, row.status) == ("[erased]", "purged")
    everything = MemoryFilters(status=("all",))
    with team_scope(team_ids=[town.team.id], actor="test"):
        past = state_at(viewer=viewer, at=before, filters=everything).memories
        contents = {each.content for each in past}
        said = [str(entry.state) for entry in MemoryLog.objects.filter(memory_id=gone.pk)]
        (record,) = Erasure.objects.all()
    assert contents == {"[erased]", "Clay is grey."}
    assert KILN not in " ".join(said)
    assert (record.end_user_id, record.counts) == (None, {"memories": 1})
    assert verify_team(team_id=town.team.id).findings == []
    assert purge_due(now=DUE) == 0


@pytest.mark.parametrize("chosen", [False, True])
def test_only_a_purge_that_the_team_chose_erases_and_only_what_was_purged(
    committed_db: None, tools: Tools, chosen: bool
) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    gone = expired(town, tools)
    if chosen:  # it has only expired, and can be restored
        erasing(town)
        assert erase_purged(team_id=town.team.id, memory_ids=[gone.pk], actor="test") == 0
    else:
        purge_due(now=DUE)
        with pytest.raises(ProgrammingError, match="did not choose"):
            erase_purged(team_id=town.team.id, memory_ids=[gone.pk], actor="test")

    assert now_of(town, gone.pk).content == KILN
