"""A person is erased: what others have a share in."""

from __future__ import annotations

import pytest
from django.utils import timezone

from audit.models import MemoryLog
from audit.services.erasure import erase_user, plan_erasure
from audit.services.verification import verify_team
from memory.domain.audience import Viewer
from memory.models import Contradiction, Memory, MemoryRelation
from memory.understanding.tools import Tools
from memory.writing.decisions.disputes import resolve_contradiction
from teams.ids import new_id
from teams.models import EndUser
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast
from tests.support.erasure import ERASED, NEEDLE, dispute, erase, found_in_tables, said, seal


def test_a_dispute_with_another_memory_ends_and_that_one_stands(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        nobodys = factories.MemoryFactory.create(team=town.team, content="The limit is 100.")
        third = factories.MemoryFactory.create(team=town.team, content="The limit is 300.")
        row = dispute(town, nobodys, mine)
        dispute(town, third, nobodys)

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        row.refresh_from_db()
        nobodys.refresh_from_db()
        assert (row.resolution, row.reason) == ("a_wins", ERASED)
        assert (nobodys.status, nobodys.contradicts) == ("disputed", [third.pk])
        assert nobodys.content == "The limit is 100."
    assert verify_team(team_id=town.team.id).findings == []


def test_the_last_dispute_of_another_memory_leaves_it_active(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        nobodys = factories.MemoryFactory.create(team=town.team)
        dispute(town, mine, nobodys)

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        nobodys.refresh_from_db()
        assert (nobodys.status, nobodys.contradicts) == ("active", [])
        last = MemoryLog.objects.filter(memory_id=nobodys.pk).order_by("-seq")[0]
        assert (last.event, last.actor) == ("contradiction_resolved", "command:test")


def settle(town: Cast, row: Contradiction, resolution: str, tools: Tools) -> None:
    """Settle a contradiction as somebody who says why in words about Sarah."""
    resolve_contradiction(
        viewer=Viewer(team_id=town.team.id, actor="staff:rob"),
        contradiction_id=row.pk,
        resolution=resolution,
        tools=tools,
        now=timezone.now(),
        note=f"Sarah told me of {NEEDLE}",
    )


@pytest.mark.parametrize("resolution", ["a_wins", "b_wins", "both_valid"])
def test_why_a_dispute_was_settled_goes_on_both_sides_and_the_seals_stand(
    town: Cast, tools: Tools, resolution: str
) -> None:
    with team_scope(team_ids=[town.team.id], actor="test", reason="noted on Monday"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        nobodys = factories.MemoryFactory.create(team=town.team)
        third = factories.MemoryFactory.create(team=town.team, end_user=town.dmitri)
        row = dispute(town, nobodys, mine)
        dispute(town, nobodys, third)
    settle(town, row, resolution, tools)
    with team_scope(team_ids=[town.team.id], actor="test", reason="important to him"):
        third.refresh_from_db()
        third.importance = 9
        third.save()
    seal(town)
    assert "audit_memorylog" in found_in_tables(NEEDLE)

    erase(town, "sarah")

    assert found_in_tables(NEEDLE) == {}
    assert verify_team(team_id=town.team.id).findings == []
    with team_scope(team_ids=[town.team.id], actor="test"):
        rows = MemoryLog.objects.filter(memory_id=third.pk).order_by("seq")
        assert rows.filter(event="updated").get().reason == "important to him"


def test_reasons_of_others_in_the_same_commit_stay_where_no_dispute_joins_them(
    town: Cast,
) -> None:
    with team_scope(team_ids=[town.team.id], actor="test", reason="spring cleaning"):
        factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        his = factories.MemoryFactory.create(team=town.team, end_user=town.dmitri)

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert MemoryLog.objects.get(memory_id=his.pk).reason == "spring cleaning"


def merged_of(town: Cast, owner: EndUser | None, *sides: Memory) -> Memory:
    """A memory that was merged from others."""
    merged = factories.MemoryFactory.create(
        team=town.team, end_user=owner, content=f"Merged {new_id()}."
    )
    for side in sides:
        MemoryRelation.objects.create(
            team=town.team,
            from_memory=merged,
            to_memory=side,
            relation_type="merged_from",
            strength=1.0,
        )
    return merged


def test_a_merge_that_belongs_to_nobody_goes_and_what_others_gave_to_it_stays(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        nobodys = factories.MemoryFactory.create(team=town.team, content="Kept.")
        merged = merged_of(town, None, mine, nobodys)
        twice = merged_of(town, None, merged, nobodys)

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        for memory in (mine, merged, twice, nobodys):
            memory.refresh_from_db()
        assert [each.content for each in (mine, merged, twice)] == [ERASED] * 3
        assert nobodys.content == "Kept."


def test_a_merge_that_belongs_to_another_person_stays_and_is_named(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        his = merged_of(town, town.dmitri, mine)

    plan = plan_erasure(team_id=town.team.id, external_id="sarah", actor="test")
    done = erase_user(team_id=town.team.id, external_id="sarah", actor="test")

    assert plan.kept == done.kept == (his.pk,)
    with team_scope(team_ids=[town.team.id], actor="test"):
        his.refresh_from_db()
        assert his.content != ERASED


def test_what_only_that_person_said_goes_though_it_is_about_nobody(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        hers, his = said(town, town.sarah, "A."), said(town, town.dmitri, "B.")
        only = factories.MemoryFactory.create(team=town.team, source_message_ids=[hers.pk])
        both = factories.MemoryFactory.create(
            team=town.team, source_message_ids=[hers.pk, his.pk], content="Both said so."
        )
        only_his = factories.MemoryFactory.create(
            team=town.team, source_message_ids=[his.pk], content="He said so."
        )

    done = erase_user(team_id=town.team.id, external_id="sarah", actor="test")

    with team_scope(team_ids=[town.team.id], actor="test"):
        texts = {row.pk: row.content for row in Memory.objects.all()}
    assert texts == {only.pk: ERASED, both.pk: "Both said so.", only_his.pk: "He said so."}
    assert done.kept == (both.pk,)
