"""Links between memories of the same readers: found, bounded, weakened, removed, taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory.domain.types import MemoryType
from memory.models import Memory, MemoryRelation
from memory.reading.usage import flush_noted_usage, note_retrieved, told_together
from memory.satellites.lifecycle.models import Step
from memory.satellites.lifecycle.running import undo_run
from memory.understanding.tools import Tools
from teams.ids import new_id
from teams.tenancy import team_scope
from tests import factories
from tests.support import lifecycle
from tests.support.cast import Cast
from tests.support.erasure import erase
from tests.support.lifecycle import NOW, changes, viewer_of
from tests.support.writing import draft, store, write

ONE = "The nightly export of invoices runs on Vostok."
OTHER = "A spare power supply for Vostok lies in the cellar."


def run(cast: Cast, tools: Tools, **given: Any) -> Any:
    return lifecycle.run(cast, tools, steps=[Step.LINK], **given)


def edges(cast: Cast) -> list[tuple[Any, ...]]:
    """All edges: the ids they join, how strongly and why."""
    names = ("from_memory", "to_memory", "strength", "grounds")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return sorted(MemoryRelation.objects.values_list(*names))


def joined(cast: Cast) -> set[frozenset[Any]]:
    return {frozenset(each[:2]) for each in edges(cast)}


def test_a_rare_name_joins_two_memories(acme: Cast, globex: Cast, tools: Tools) -> None:
    one, other = store(acme, tools, ONE, OTHER)
    store(acme, tools, "Lunch is at noon.")
    store(globex, tools, ONE, OTHER)

    done = run(acme, tools)

    ((_, _, strength, grounds),) = edges(acme)
    assert joined(acme) == {frozenset({one.pk, other.pk})}
    assert 0 < strength <= 1
    assert "entity" in grounds.split(",")
    assert done.counts["link"]["made"] == 1
    assert edges(globex) == []
    assert run(acme, tools, now=NOW + timedelta(minutes=1)).counts["link"]["planned"] == 0


def test_an_artifact_joins_two_memories(acme: Cast, tools: Tools) -> None:
    given = [("The build is slow.", "src/pay.py"), ("Nobody owns refunds.", "src/pay.py")]
    with team_scope(team_ids=[acme.team.id], actor="test"):
        rows = [
            factories.MemoryFactory.create(
                team=acme.team,
                content=content,
                form="episode",
                memory_type="episodic",
                payload={"title": content, "artifacts": [{"kind": "file", "ref": ref}]},
            )
            for content, ref in given
        ]

    run(acme, tools)

    ((*_, grounds),) = edges(acme)
    assert joined(acme) == {frozenset(row.pk for row in rows)}
    assert grounds == "artifact"


def test_what_is_told_together_is_joined(acme: Cast, tools: Tools) -> None:
    one, other, third = store(acme, tools, "Bread at six.", "Rain gauge broken.", "Tar roof.")
    for times, ids in ((3, [one.pk, other.pk]), (1, [one.pk, third.pk])):
        for _ in range(times):
            note_retrieved(team_id=acme.team.id, memory_ids=ids, now=NOW)
    flush_noted_usage()
    assert told_together(team_id=acme.team.id, now=NOW) == {frozenset({one.pk, other.pk}): 3}

    run(acme, tools)

    assert frozenset({one.pk, other.pk}) in joined(acme)
    assert frozenset({one.pk, third.pk}) not in joined(acme)


@pytest.mark.parametrize("case", ["person", "agent", "project", "private", "allowlist"])
def test_nothing_joins_what_others_may_not_see(acme: Cast, tools: Tools, case: str) -> None:
    with team_scope(team_ids=[acme.team.id], actor="test"):
        project = factories.ProjectFactory.create(team=acme.team)
        acme.luke.allowed_categories = ["ops"]
        acme.luke.save()
    cases: dict[str, dict[str, Any]] = {
        "person": {"end_user_id": acme.sarah.pk},
        "agent": {"agent_id": acme.kyra.pk},
        "project": {"project_id": project.pk},
        "private": {"agent_id": acme.kyra.pk, "memory_type": MemoryType.AGENT_PRIVATE},
        "allowlist": {"category": "finance"},
    }
    store(acme, tools, ONE, **cases[case])
    store(acme, tools, OTHER)

    run(acme, tools)

    assert edges(acme) == []


def test_a_memory_gets_five_at_most_and_a_common_name_joins_none(acme: Cast, tools: Tools) -> None:
    names = ["Ada", "Bors", "Cyre", "Dorn", "Evek", "Fens", "Gorm"]
    store(acme, tools, f"On the list are {', '.join(names)} and Zorg.")
    for number, name in enumerate(names):
        store(acme, tools, f"Room {'abcdefg'[number] * 9} went to {name} and Zorg.")

    run(acme, tools)

    with team_scope(team_ids=[acme.team.id], actor="test"):
        hub = Memory.objects.get(content__startswith="On the list")
    assert sum(hub.pk in pair for pair in joined(acme)) <= 5
    counted = [pk for pair in joined(acme) for pk in pair]
    assert max(counted.count(pk) for pk in counted) <= 5


def test_a_dry_run_says_what_the_next_run_does(acme: Cast, tools: Tools) -> None:
    store(acme, tools, ONE, OTHER)

    dry = run(acme, tools, is_dry=True)
    assert edges(acme) == []
    real = run(acme, tools, now=NOW + timedelta(minutes=1))

    assert changes(real) == changes(dry)
    assert len(changes(dry)) == 1


def found_edge(cast: Cast, one: Memory, other: Memory, strength: float = 0.6) -> MemoryRelation:
    """An edge of an earlier run that rests on nothing."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return MemoryRelation.objects.create(
            team=cast.team,
            from_memory=one,
            to_memory=other,
            strength=strength,
            grounds="entity",
        )


def test_a_wrong_edge_weighs_less_with_each_run_until_it_is_removed(
    acme: Cast, tools: Tools
) -> None:
    one, other = store(acme, tools, "Bread at six.", "Rain gauge broken.")
    found_edge(acme, one, other)
    weights = []
    for day in range(2):
        run(acme, tools, now=NOW + timedelta(days=day))
        weights += [strength for _, _, strength, _ in edges(acme)]

    assert weights == [0.3]
    assert edges(acme) == []


def test_an_edge_that_was_of_no_use_for_a_month_weighs_less(acme: Cast, tools: Tools) -> None:
    one, other = store(acme, tools, ONE, OTHER)
    third, fourth = store(acme, tools, "A jar for Quillon.", "Trains to Quillon are late.")
    run(acme, tools)
    before = {frozenset(each[:2]): each[2] for each in edges(acme)}
    later = timezone.now() + timedelta(days=40)
    note_retrieved(team_id=acme.team.id, memory_ids=[one.pk], now=later - timedelta(days=1))
    flush_noted_usage()

    run(acme, tools, now=later)

    after = {frozenset(each[:2]): each[2] for each in edges(acme)}
    useful, useless = frozenset({one.pk, other.pk}), frozenset({third.pk, fourth.pk})
    assert after[useful] == before[useful]
    assert after[useless] == pytest.approx(before[useless] / 2, abs=0.001)


def test_edges_of_the_write_path_and_of_provenance_are_never_touched(
    acme: Cast, tools: Tools
) -> None:
    one, other = store(acme, tools, "Bread at six.", "Rain gauge broken.")
    with team_scope(team_ids=[acme.team.id], actor="test"):
        for kind in ("related_to", "merged_from", "derived_from", "supersedes"):
            MemoryRelation.objects.create(
                team=acme.team,
                from_memory=one,
                to_memory=other,
                relation_type=kind,
                strength=0.1,
            )
    before = edges(acme)

    run(acme, tools)

    assert edges(acme) == before


@pytest.mark.parametrize("strength", [0.6, 0.3])
def test_weakened_and_removed_edges_are_taken_back(
    acme: Cast, tools: Tools, strength: float
) -> None:
    one, other, *_ = store(acme, tools, "Bread at six.", "Rain gauge broken.", ONE, OTHER)
    edge = found_edge(acme, one, other, strength)
    before = edges(acme)
    done = run(acme, tools)
    assert edges(acme) != before

    undo_run(viewer=viewer_of(acme), run_id=done.pk, tools=tools, now=NOW)

    assert edges(acme) == before
    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert MemoryRelation.objects.get().created_at == edge.created_at


def test_what_the_write_path_links_is_not_linked_again(acme: Cast, tools: Tools) -> None:
    write(acme, tools, draft(acme, ONE))
    write(acme, tools, draft(acme, f"{ONE[:-1]} every night."))
    before = edges(acme)

    run(acme, tools)

    assert edges(acme) == before != []


def test_an_erasure_leaves_no_edge_that_weighs(acme: Cast, tools: Tools) -> None:
    store(acme, tools, ONE, OTHER, end_user_id=acme.sarah.pk)
    run(acme, tools)
    assert len(edges(acme)) == 1

    erase(acme, "sarah")
    for day in range(1, 4):
        run(acme, tools, now=NOW + timedelta(days=day))

    assert edges(acme) == []


def test_pairs_are_kept_for_two_months(acme: Cast) -> None:
    ids = [new_id() for _ in range(2)]
    for _ in range(3):
        at = datetime(2026, 3, 30, tzinfo=UTC)
        note_retrieved(team_id=acme.team.id, memory_ids=ids, now=at)
    flush_noted_usage()

    april, may = datetime(2026, 4, 2, tzinfo=UTC), datetime(2026, 5, 2, tzinfo=UTC)
    assert told_together(team_id=acme.team.id, now=april) == {frozenset(ids): 3}
    assert told_together(team_id=acme.team.id, now=may) == {}
