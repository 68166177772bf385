"""Workers take the jobs of teams and conversations in turn."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from memory.models import Job
from memory.selectors.job_queue import oldest_wait, team_queues
from memory.services.extraction.job_claims import claim_job
from memory.services.extraction.turns import next_turn, work_in_turn
from memory.tasks import run_extraction_job
from memory.understanding.tools import Tools
from teams.clock import database_now
from teams.models import Conversation, Team
from teams.services.people import all_team_ids
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.extraction import now_is, published, queued, set_job
from tests.support.waiting import race


@pytest.fixture
def nothing_waits(committed_db: None) -> None:
    """End what other tests of this file left."""
    with team_scope(team_ids=all_team_ids(), actor="test"):
        Job.objects.update(state="done", left_out=0)


def talk_of(cast: Cast) -> Conversation:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah
        )


def turns(count: int) -> list[UUID]:
    """Whose jobs come next, each left as it is."""
    found = [next_turn(now=database_now()) for _ in range(count)]
    return [turn.job_id for turn in found if turn is not None]


def test_a_team_with_one_job_does_not_wait_behind_one_with_many(nothing_waits: None) -> None:
    busy, calm = make_cast(f"busy-{uuid4().hex}"), make_cast(f"calm-{uuid4().hex}")
    many = {queued(talk_of(busy)).pk for _ in range(4)}
    one = queued(talk_of(calm)).pk

    served = turns(6)

    assert [each == one for each in served] in ([True, False] * 3, [False, True] * 3)
    # The busy team's conversations take turns as well.
    assert len({each for each in served if each in many}) == 3


def test_a_conversation_at_work_holds_no_second_worker(nothing_waits: None) -> None:
    cast = make_cast(f"busy-{uuid4().hex}")
    slow, other = talk_of(cast), talk_of(cast)
    first, second, third = queued(slow), queued(slow), queued(other)
    claim_job(team_id=first.team_id, job_id=first.pk, now=database_now())

    served = turns(2)
    for job in (third, second):
        run_extraction_job(str(job.team_id), str(job.pk))

    assert second.pk not in served
    assert served == [third.pk, third.pk]
    assert [now_is(each).state for each in (first, second, third)] == ["running", "queued", "done"]


def test_a_spare_worker_leaves_a_job_its_pause(nothing_waits: None, tools: Tools) -> None:
    job = queued(talk_of(make_cast(f"paused-{uuid4().hex}")))
    set_job(job, attempts=1, lease_until=timezone.now() + timedelta(minutes=1))

    work_in_turn(tools=tools, seconds=10)
    paused = now_is(job).state
    set_job(job, lease_until=None)
    work_in_turn(tools=tools, seconds=10)

    assert (paused, now_is(job).state) == ("queued", "done")


def test_the_next_job_of_a_conversation_is_published_when_it_is_free(
    nothing_waits: None, tools: Tools
) -> None:
    talk = talk_of(make_cast(f"busy-{uuid4().hex}"))
    queued(talk)
    second = queued(talk)
    published()

    work_in_turn(tools=tools, seconds=10)

    assert published() == [str(second.pk)]


def test_a_team_at_work_comes_after_one_that_waits(nothing_waits: None) -> None:
    busy, calm = make_cast(f"busy-{uuid4().hex}"), make_cast(f"calm-{uuid4().hex}")
    queued(talk_of(busy))
    running = queued(talk_of(busy))
    turns(1)
    waiting = queued(talk_of(calm))
    claim_job(team_id=running.team_id, job_id=running.pk, now=database_now())

    assert turns(2) == [waiting.pk] * 2


def test_the_task_runs_the_job_whose_turn_it_is(nothing_waits: None) -> None:
    busy, calm = make_cast(f"busy-{uuid4().hex}"), make_cast(f"calm-{uuid4().hex}")
    first, second = queued(talk_of(busy)), queued(talk_of(busy))
    one = queued(talk_of(calm))

    for job in (first, second):
        run_extraction_job(str(job.team_id), str(job.pk))

    assert sorted(now_is(job).state for job in (first, second)) == ["done", "queued"]
    assert now_is(one).state == "done"


def test_what_the_caps_left_has_its_turn_too(nothing_waits: None) -> None:
    busy, calm = make_cast(f"busy-{uuid4().hex}"), make_cast(f"calm-{uuid4().hex}")
    queued(talk_of(busy))
    left = queued(talk_of(calm))
    set_job(left, state="done", left_out=1, waiting=[{}])

    assert left.pk in turns(2)


def test_what_rests_until_the_next_day_asks_for_no_worker(nothing_waits: None) -> None:
    left = queued(talk_of(make_cast(f"capped-{uuid4().hex}")))
    soon = timezone.now() + timedelta(hours=20)
    set_job(left, state="done", left_out=1, waiting=[{}], lease_until=soon)
    resting = {each.team_id for each in team_queues()}
    set_job(left, lease_until=timezone.now() - timedelta(seconds=1))
    rested = {each.team_id for each in team_queues()}

    assert (left.team_id in resting, left.team_id in rested) == (False, True)


def test_workers_that_begin_at_once_take_jobs_of_their_own(
    nothing_waits: None, tools: Tools
) -> None:
    cast = make_cast(f"busy-{uuid4().hex}")
    jobs = [queued(talk_of(cast)) for _ in range(3)]

    race(3, lambda _: work_in_turn(tools=tools, seconds=10))

    assert [now_is(job).state for job in jobs] == ["done"] * 3


def test_teams_without_memory_have_no_turn_and_no_age(nothing_waits: None) -> None:
    cast = make_cast(f"off-{uuid4().hex}")
    queued(talk_of(cast))
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Team.objects.filter(pk=cast.team.id).update(feature_flags={"memory": False})

    assert turns(1) == []
    assert oldest_wait() is None


def test_the_age_of_the_oldest_waiting_job_is_told(nothing_waits: None) -> None:
    cast = make_cast(f"old-{uuid4().hex}")
    none = oldest_wait()
    old, new = queued(talk_of(cast)), queued(talk_of(cast))
    set_job(old, queued_at=timezone.now() - timedelta(hours=2))
    waits = oldest_wait()
    # A clock that was ahead when it was queued.
    set_job(old, queued_at=timezone.now() + timedelta(days=40))
    set_job(new, state="done")
    ahead = oldest_wait()

    assert none is None
    assert waits is not None
    assert 7200 <= waits < 7300
    assert ahead == 0
