"""The clock jumps ahead and is set back: the state at any time is still what a reader saw."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import call_command
from django.db import ProgrammingError
from django.utils import timezone

from audit.models import LogCommit, MemoryLog, OperationalEvent
from audit.selectors.activity import changes_between_bounds
from audit.selectors.instants import instant_at, last_number_up_to, note_set_back
from audit.services.verification import verify_team
from audit.tasks import seal_log
from memory.domain.types import MemoryType
from memory.domain.viewer import Viewer
from memory.models import Memory, SearchEntry
from memory.selectors.history.past import as_of
from memory.services.repairing_times import repair_times
from memory.services.write.explicit import StatedMemory, remember
from memory.understanding.tools import Tools
from teams.clock import database_now
from teams.errors import InvalidError
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast
from tests.support.seals import by_owner, seal, town

__all__ = ["town"]
AHEAD = timedelta(days=40)


def told(town: Cast, **values: Any) -> Memory:
    """A memory in a transaction of its own."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory: Memory = factories.MemoryFactory.create(
            team=town.team, content=f"Fact {uuid4()}.", **values
        )
    return memory


def told_ahead(town: Cast) -> Memory:
    """A memory that was told while the clock was 40 days ahead; since then it was set back."""
    return move_ahead(town, told(town))


def move_ahead(town: Cast, memory: Memory) -> Memory:
    """The memory as if it had been told while the clock was 40 days ahead."""
    by_owner(
        f"UPDATE memory_memory SET created_at = created_at + interval '40 days',"
        f" updated_at = updated_at + interval '40 days' WHERE id = '{memory.pk}'",
        f"UPDATE audit_memorylog SET at = at + interval '40 days', state = jsonb_set(state,"
        f" '{{created_at}}', to_jsonb((state->>'created_at')::timestamptz + interval '40 days'))"
        f" WHERE memory_id = '{memory.pk}'",
        f"UPDATE audit_logcommit SET at = at + interval '40 days' WHERE id ="
        f" (SELECT commit_id FROM audit_memorylog WHERE memory_id = '{memory.pk}')",
        f"UPDATE audit_commitclock SET at = at + interval '40 days'"
        f" WHERE team_id = '{town.team.id}'",
    )
    return memory


def table_of(town: Cast) -> set[UUID]:
    """What a reader of the table sees."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        return set(Memory.objects.values_list("id", flat=True))


def state_at(town: Cast, at: datetime | None) -> set[UUID]:
    """What the log says that a reader saw then."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        instant = instant_at(team_id=town.team.id, at=at)
        return set(as_of(Memory.objects.all(), instant).values_list("id", flat=True))


def commits(town: Cast) -> list[LogCommit]:
    with team_scope(team_ids=[town.team.id], actor="test"):
        return list(LogCommit.objects.order_by("position"))


# -- reading ---------------------------------------------------------------------------------


def test_the_state_at_now_is_what_a_reader_sees_before_anything_is_written_again(
    town: Cast,
) -> None:
    told(town)
    told_ahead(town)

    asked = timezone.now()  # a little before the server is asked

    assert state_at(town, asked) == state_at(town, None) == table_of(town)
    assert len(table_of(town)) == 2


def test_what_is_written_after_the_jump_is_in_the_state_and_times_go_on_from_now(
    town: Cast,
) -> None:
    told(town)
    before = database_now()
    told_ahead(town)
    after = told(town)
    now = database_now()
    later = told(town)

    assert state_at(town, now) == table_of(town) - {later.pk}
    assert after.pk in state_at(town, now)
    times = [each.at for each in commits(town) if each.at and each.at <= database_now()]
    assert len(times) == 4  # and the one that is ahead
    assert times == sorted(times)
    assert before < now
    with (
        pytest.raises(InvalidError, match="a time to come"),
        team_scope(team_ids=[town.team.id], actor="test"),
    ):
        instant_at(team_id=town.team.id, at=now + AHEAD)


def test_moments_before_the_jump_stay_as_they_were(town: Cast) -> None:
    first = told(town)
    by_owner(
        f"UPDATE audit_logcommit SET at = at - interval '1 day' WHERE team_id = '{town.team.id}'",
        f"UPDATE audit_commitclock SET at = at - interval '1 day' WHERE team_id = '{town.team.id}'",
    )
    an_hour_ago = database_now() - timedelta(hours=1)
    before = state_at(town, an_hour_ago)
    told_ahead(town)
    told(town)

    assert before == state_at(town, an_hour_ago) == {first.pk}


def test_of_an_hour_that_came_twice_the_second_time_holds(town: Cast) -> None:
    """The clock was right, went back by an hour, and what was written then has its times."""
    told(town)
    by_owner(
        f"UPDATE audit_logcommit SET at = at + interval '1 hour' WHERE team_id = '{town.team.id}'",
        f"UPDATE audit_commitclock SET at = at + interval '1 hour'"
        f" WHERE team_id = '{town.team.id}'",
    )
    told(town)

    assert state_at(town, database_now()) == table_of(town)


def test_the_log_says_what_happened_and_stays_intact(town: Cast) -> None:
    told(town)
    told_ahead(town)
    seal_log()
    told(town)
    seal(town)

    marks = [each for each in commits(town) if each.is_set_back]
    with team_scope(team_ids=[town.team.id], actor="test"):
        (event,) = OperationalEvent.objects.filter(op="clock_set_back")
    assert len(marks) == 1
    assert abs(event.meta["seconds"] - AHEAD.total_seconds()) < 60
    assert verify_team(team_id=town.team.id).findings == []


def test_a_set_back_that_never_was_is_found(town: Cast) -> None:
    told(town)
    by_owner(
        "INSERT INTO audit_logcommit (team_id, transaction_number, began_at, is_last, position,"
        " at, last_seq, last_memory_id, is_set_back)"
        " SELECT team_id, -2, now(), true, position + 1, at + interval '1 second', last_seq,"
        f" last_memory_id, true FROM audit_commitclock WHERE team_id = '{town.team.id}'",
        "UPDATE audit_commitclock SET position = position + 1, at = at + interval '1 second'"
        f" WHERE team_id = '{town.team.id}'",
    )

    assert [each.kind for each in verify_team(team_id=town.team.id).findings] == ["commit_changed"]


def test_a_clock_that_is_right_is_not_noted(town: Cast) -> None:
    told(town)

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert note_set_back(team_id=town.team.id) is None
    assert len(commits(town)) == 1


def test_outside_of_a_team_s_scope_nothing_is_noted(town: Cast) -> None:
    told(town)

    with (
        pytest.raises(ProgrammingError, match="outside the transaction's scope"),
        team_scope(team_ids=[uuid4()], actor="test"),
    ):
        note_set_back(team_id=town.team.id)


def test_counts_and_bounds_of_the_log_follow_the_positions(town: Cast) -> None:
    told(town)
    told_ahead(town)
    last = told(town)
    now = database_now()

    with team_scope(team_ids=[town.team.id], actor="test"):
        (changes,) = changes_between_bounds(
            team_id=town.team.id, bounds=[datetime(2020, 1, 1, tzinfo=UTC), now]
        )
        number = last_number_up_to(team_id=town.team.id, at=now)
        newest = MemoryLog.objects.get(memory_id=last.pk).seq
    assert changes == 4
    assert number == newest


# -- repairing -------------------------------------------------------------------------------


def test_times_from_the_future_are_listed_and_then_mended(town: Cast) -> None:
    told(town)
    memory = told_ahead(town)
    told(town)
    seal(town)
    dry, wet, again = StringIO(), StringIO(), StringIO()

    call_command("repair_times", team=town.team.slug, stdout=dry)
    with team_scope(team_ids=[town.team.id], actor="test"):
        untouched = Memory.objects.get(pk=memory.pk).created_at
    call_command("repair_times", team=town.team.slug, apply=True, stdout=wet)
    call_command("repair_times", team=town.team.slug, stdout=again)

    assert untouched > timezone.now()
    assert "memories: 1 (to mend)" in dry.getvalue()
    assert "entries of the log: 1 (stays as it is)" in wet.getvalue()
    assert "memories: 1 (mended)" in wet.getvalue()
    assert "memories" not in again.getvalue()
    with team_scope(team_ids=[town.team.id], actor="test"):
        mended = Memory.objects.get(pk=memory.pk)
        entry = MemoryLog.objects.filter(memory_id=memory.pk).order_by("-seq").first()
        assert entry is not None
        assert (entry.event, entry.reason) == ("updated", "its time was ahead of the clock")
    assert timezone.now() - timedelta(minutes=2) < mended.created_at <= timezone.now()
    seal(town)
    assert verify_team(team_id=town.team.id).findings == []


def test_what_a_search_knows_of_the_time_is_mended_too(town: Cast, tools: Tools) -> None:
    (result,) = remember(
        viewer=Viewer(team_id=town.team.id, actor="test"),
        stated=[StatedMemory(content="The shop sells figs.", memory_type=MemoryType.SEMANTIC)],
        tools=tools,
        now=timezone.now(),
    )
    memory = move_ahead(town, result.memory)
    list(repair_times(team_id=town.team.id, now=database_now(), is_dry=False))

    with team_scope(team_ids=[town.team.id], actor="test"):
        entry = SearchEntry.objects.get(memory=memory)
        assert entry.said_at == Memory.objects.get(pk=memory.pk).created_at <= timezone.now()


def test_a_time_that_has_been_stays_for_ever(town: Cast) -> None:
    memory = told(town)

    with (
        pytest.raises(Exception, match="never change"),
        team_scope(team_ids=[town.team.id], actor="test"),
    ):
        Memory.objects.filter(pk=memory.pk).update(created_at=memory.created_at - timedelta(days=1))
