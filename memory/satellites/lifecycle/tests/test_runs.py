"""Runs are planned, carried out exactly as planned, resumed, and taken back as a whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from audit.models import MemoryLog
from memory.domain.types import Judgement, Statement, Verdict
from memory.models import Contradiction, Memory
from memory.satellites.lifecycle.models import ConsolidationRun, JudgedPair, Step
from memory.satellites.lifecycle.running import run_consolidation, undo_run
from memory.satellites.lifecycle.runs import start_due_runs, start_run
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import delete_memory, pin_memory
from memory.writing.decisions.undoing import ChangedSinceError
from teams.errors import ConflictError, NotFoundError
from teams.services.people import ensure_project
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.judges import PairJudge
from tests.support.lifecycle import NOW, again, changes, run, store_deleted, viewer_of
from tests.support.writing import live, store

TEA = "Sarah drinks her green tea in the morning."
TEA_AGAIN = "Sarah drinks green tea in the morning."
LIMIT = "The API limit is 100 requests per minute."
OTHER_LIMIT = "The API limit is 500 requests per minute."


def states(cast: Cast) -> dict[UUID, tuple[Any, ...]]:
    names = ("status", "tier", "importance", "is_pinned", "version", "superseded_by", "contradicts")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = Memory.objects.order_by("id").values_list("id", *names, "corroboration")
        return {pk: state for pk, *state in rows}


def test_what_says_the_same_is_merged_with_the_sources_of_both(acme: Cast, tools: Tools) -> None:
    first, second = store(acme, tools, TEA, TEA_AGAIN)

    done = run(acme, tools, steps=[Step.DEDUPLICATE])

    assert done.state == ConsolidationRun.State.DONE
    assert done.counts["deduplicate"]["made"] == 1
    assert live(acme) == [TEA]
    with team_scope(team_ids=[acme.team.id], actor="test"):
        gone = Memory.objects.get(pk=second.pk)
        reasons = set(MemoryLog.objects.filter(reason__contains=str(done.pk)).values_list("reason"))
    assert (gone.status, gone.superseded_by_id) == ("superseded", first.pk)
    assert reasons == {(f"consolidation: deduplicate, run {done.pk}",)}


def test_a_dry_run_changes_nothing_and_a_run_after_it_does_just_that(
    acme: Cast, tools: Tools
) -> None:
    store(acme, tools, TEA, TEA_AGAIN, LIMIT, OTHER_LIMIT)
    before = states(acme)

    dry = run(acme, tools, is_dry=True)
    unchanged = states(acme)
    real = run(acme, tools, now=NOW + timedelta(minutes=5))

    assert unchanged == before
    assert changes(dry)
    assert changes(real) == changes(dry)
    assert real.judged == dry.judged > 0, "a dry run leaves no judgement behind"
    assert states(acme) != before


def test_a_run_is_taken_back_as_a_whole(acme: Cast, tools: Tools) -> None:
    store(acme, tools, TEA, TEA_AGAIN, LIMIT, OTHER_LIMIT)
    before = states(acme)
    done = run(acme, tools)
    assert states(acme) != before

    undone = undo_run(viewer=viewer_of(acme), run_id=done.pk, tools=tools, now=NOW)

    assert states(acme) == before
    assert undone.state == ConsolidationRun.State.UNDONE
    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert not Contradiction.objects.filter(resolved_at=None).exists()
    with pytest.raises(ConflictError, match="already"):
        undo_run(viewer=viewer_of(acme), run_id=done.pk, tools=tools, now=NOW)


def test_what_was_taken_back_is_not_done_again_the_next_day(acme: Cast, tools: Tools) -> None:
    store(acme, tools, TEA, TEA_AGAIN)
    done = run(acme, tools)
    undo_run(viewer=viewer_of(acme), run_id=done.pk, tools=tools, now=NOW)

    tomorrow = run(acme, tools, now=NOW + timedelta(days=1))
    later = run(acme, tools, now=NOW + timedelta(days=40))

    assert tomorrow.counts["deduplicate"]["planned"] == 0
    assert later.counts["deduplicate"]["made"] == 1


def test_a_run_of_other_steps_does_not_hide_what_changed(acme: Cast, tools: Tools) -> None:
    store(acme, tools, TEA, TEA_AGAIN)
    run(acme, tools, now=NOW + timedelta(days=400), steps=[Step.CONTRADICTIONS])

    done = run(acme, tools, now=NOW + timedelta(days=401))

    assert done.counts["deduplicate"]["looked_at"] == 2


def test_memories_behind_many_deleted_ones_are_looked_at(acme: Cast, tools: Tools) -> None:
    run(acme, tools, steps=[Step.DEDUPLICATE])
    store_deleted(acme, 2_000)
    store(acme, tools, TEA, TEA_AGAIN)

    done = run(acme, tools, now=NOW + timedelta(days=1), steps=[Step.DEDUPLICATE])

    assert done.counts["deduplicate"]["made"] == 1


def test_a_run_whose_memories_changed_since_is_not_taken_back(acme: Cast, tools: Tools) -> None:
    first, *_ = store(acme, tools, TEA, TEA_AGAIN, LIMIT, OTHER_LIMIT)
    done = run(acme, tools)
    delete_memory(viewer=viewer_of(acme), memory_id=first.pk)
    before = states(acme)

    with pytest.raises(ChangedSinceError) as refused:
        undo_run(viewer=viewer_of(acme), run_id=done.pk, tools=tools, now=NOW)

    assert [each.memory.pk for each in refused.value.changed] == [first.pk]
    assert states(acme) == before


def test_what_changed_after_the_plan_is_left_out(acme: Cast, tools: Tools) -> None:
    _, second = store(acme, tools, TEA, TEA_AGAIN)
    started = start_run(viewer=viewer_of(acme), now=NOW, steps=[Step.DEDUPLICATE])
    # Nothing but the plan: no time is left for a batch.
    while not again(started).is_planned:
        run_consolidation(team_id=acme.team.id, run_id=started.pk, tools=tools, seconds=0)
    pin_memory(viewer=viewer_of(acme), memory_id=second.pk, pinned=True)

    run_consolidation(team_id=acme.team.id, run_id=started.pk, tools=tools)

    assert again(started).counts["deduplicate"]["left_out"] == 1
    assert len(live(acme)) == 2


def test_a_run_that_was_killed_goes_on_where_it_was(acme: Cast, tools: Tools) -> None:
    store(acme, tools, TEA, TEA_AGAIN)
    started = start_run(viewer=viewer_of(acme), now=NOW)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        ConsolidationRun.objects.filter(pk=started.pk).update(state="running")

    assert run_consolidation(team_id=acme.team.id, run_id=started.pk, tools=tools)
    assert not run_consolidation(team_id=acme.team.id, run_id=started.pk, tools=tools)
    assert live(acme) == [TEA]


class Counting(PairJudge):
    """A judge that calls nothing a conflict and counts what it is asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        self.asked += 1
        return Judgement(Verdict.COEXIST, "both hold", judge=self.name)


def test_the_judge_is_asked_about_so_many_pairs_a_person_and_day(acme: Cast, tools: Tools) -> None:
    with team_scope(team_ids=[acme.team.id], actor="test"):
        acme.team.lifecycle_settings = {"pairs_per_person": 3}
        acme.team.save()
    store(acme, tools, *(f"The API limit is {n}00 requests per minute." for n in range(1, 9)))
    judge = Counting()
    asking = replace(tools, judge=judge)

    run(acme, asking)
    run(acme, asking, now=NOW + timedelta(hours=1))
    assert judge.asked == 3
    run(acme, asking, now=NOW + timedelta(days=1))
    assert judge.asked == 6

    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert JudgedPair.objects.count() == 6


def test_a_project_takes_no_pairs_from_another(acme: Cast, tools: Tools) -> None:
    with team_scope(team_ids=[acme.team.id], actor="test"):
        acme.team.lifecycle_settings = {"pairs_per_person": 3}
        acme.team.save()
        projects = [ensure_project(team_id=acme.team.id, slug=slug) for slug in ("large", "small")]
    for project, count in zip(projects, (9, 2), strict=True):
        texts = (f"The API limit is {n}00 requests per minute." for n in range(1, count + 1))
        store(acme, tools, *texts, project_id=project.pk)

    run(acme, replace(tools, judge=Counting()))

    with team_scope(team_ids=[acme.team.id], actor="test"):
        judged = Counter(JudgedPair.objects.values_list("later__project__slug", flat=True))
    assert judged == {"large": 3, "small": 1}


def test_dry_runs_take_nothing_from_the_pairs_of_a_day(acme: Cast, tools: Tools) -> None:
    with team_scope(team_ids=[acme.team.id], actor="test"):
        acme.team.lifecycle_settings = {"pairs_per_person": 3}
        acme.team.save()
    store(acme, tools, *(f"The API limit is {n}00 requests per minute." for n in range(1, 9)))
    asking = replace(tools, judge=Counting())

    dry = [run(acme, asking, now=NOW + timedelta(hours=n), is_dry=True) for n in range(2)]
    real = run(acme, asking, now=NOW + timedelta(hours=2))

    assert [each.judged for each in (*dry, real)] == [3, 3, 3]


def test_judgements_are_kept_for_14_days(acme: Cast, tools: Tools) -> None:
    store(acme, tools, LIMIT, OTHER_LIMIT)
    asking = replace(tools, judge=Counting())

    run(acme, asking)
    run(acme, asking, now=NOW + timedelta(days=13))
    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert JudgedPair.objects.count() == 1
    run(acme, asking, now=NOW + timedelta(days=15), steps=[Step.RANK])

    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert JudgedPair.objects.count() == 0


def test_each_team_has_a_run_a_day(acme: Cast, tools: Tools) -> None:
    evening = NOW.replace(hour=23, minute=59)

    assert start_due_runs(now=evening) >= 1
    with team_scope(team_ids=[acme.team.id], actor="test"):
        (daily,) = ConsolidationRun.objects.all()
    run_consolidation(team_id=acme.team.id, run_id=daily.pk, tools=tools)
    start_due_runs(now=evening)

    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert ConsolidationRun.objects.count() == 1


def test_one_run_of_a_team_at_a_time_and_none_of_another(
    acme: Cast, globex: Cast, tools: Tools
) -> None:
    first = start_run(viewer=viewer_of(acme), now=NOW)

    with pytest.raises(ConflictError, match=str(first.pk)):
        start_run(viewer=viewer_of(acme), now=NOW)
    with pytest.raises(NotFoundError):
        undo_run(viewer=viewer_of(globex), run_id=first.pk, tools=tools, now=NOW)


class Unsure(Counting):
    """A judge that calls everything a conflict, as sure as a write has to be."""

    name = "unsure"

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        return Judgement(Verdict.DISPUTE, "perhaps", 0.6)


def test_a_run_disputes_nothing_of_which_the_judge_is_unsure(acme: Cast, tools: Tools) -> None:
    store(acme, tools, LIMIT, OTHER_LIMIT)

    done = run(acme, replace(tools, judge=Unsure()), steps=[Step.CONTRADICTIONS])

    assert (done.judged, done.counts["contradictions"]["planned"]) == (1, 0)
