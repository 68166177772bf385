"""Each team has one place in the workers' queue, and each of its conversations has its turn."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import override_settings
from django.utils import timezone

from memory.models import Job
from memory.selectors.conversations import oldest_wait, team_queues
from memory.tasks import run_extraction_jobs, sweep_jobs
from memory.understanding.tools import Tools
from memory.writing.jobs import due_jobs, taken
from teams.models import Conversation, Team
from teams.services.people import all_team_ids
from teams.tenancy import database_now, team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.extraction import now_is, plain, published, queued, run, set_job
from tests.support.waiting import race

__all__ = ["plain"]


@pytest.fixture
def nothing_waits(committed_db: None) -> None:
    """End what other tests of this file left."""
    with team_scope(team_ids=all_team_ids(), actor="test"):
        Job.objects.update(state="done", left_out=0)
    published()


@pytest.fixture
def busy(nothing_waits: None) -> Cast:
    """A team that queues much."""
    return make_cast(f"busy-{uuid4().hex}")


@pytest.fixture
def calm(nothing_waits: None) -> Cast:
    """A team that queues little."""
    return make_cast(f"calm-{uuid4().hex}")


def talk_of(cast: Cast) -> Conversation:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah
        )


def states(*jobs: Job) -> list[str]:
    return [now_is(job).state for job in jobs]


def test_a_team_with_one_job_does_not_wait_behind_one_with_many(busy: Cast, calm: Cast) -> None:
    for _ in range(4):
        queued(talk_of(busy))
    queued(talk_of(calm))

    assert published() == [str(busy.team.id), str(calm.team.id)]


@override_settings(JOB_SLICE_SECONDS=0.0)
def test_a_team_goes_to_the_end_of_the_queue_after_its_slice(busy: Cast, calm: Cast) -> None:
    many = [queued(talk_of(busy)) for _ in range(3)]
    published()
    queued(talk_of(calm))

    run_extraction_jobs(str(busy.team.id))

    assert sorted(states(*many)) == ["done", "queued", "queued"]
    assert published() == [str(calm.team.id), str(busy.team.id)]


@override_settings(JOB_SLICE_SECONDS=0.0, EXTRACTION_WINDOW_MESSAGES=1)
def test_the_conversations_of_a_team_take_turns(busy: Cast) -> None:
    long, short = queued(talk_of(busy), 3), queued(talk_of(busy), 1)

    for _ in range(2):
        run_extraction_jobs(str(busy.team.id))

    assert [now_is(job).messages_done for job in (long, short)] == [1, 1]


def test_while_a_team_has_more_work_another_worker_may_help(busy: Cast) -> None:
    first, second = queued(talk_of(busy)), queued(talk_of(busy))
    published()

    with taken(job=first):
        run_extraction_jobs(str(busy.team.id))

    assert states(first, second) == ["running", "done"]
    assert published() == [str(busy.team.id)]


def test_a_conversation_at_work_holds_no_second_worker(busy: Cast) -> None:
    slow, other = talk_of(busy), talk_of(busy)
    first, second, third = queued(slow), queued(slow), queued(other)

    with taken(job=first):
        run_extraction_jobs(str(busy.team.id))

    assert states(first, second, third) == ["running", "queued", "done"]


def test_a_worker_leaves_a_job_its_pause(busy: Cast) -> None:
    job = queued(talk_of(busy))
    set_job(job, attempts=1, due_at=timezone.now() + timedelta(minutes=1))

    run_extraction_jobs(str(busy.team.id))
    paused = states(job)
    set_job(job, due_at=timezone.now())
    run_extraction_jobs(str(busy.team.id))

    assert (paused, states(job)) == (["queued"], ["done"])


def test_a_caller_who_waited_leaves_the_next_job_to_the_workers(busy: Cast, plain: Tools) -> None:
    talk = talk_of(busy)
    first, _ = queued(talk), queued(talk)
    published()

    run(first, plain)

    assert published() == [str(busy.team.id)]


def test_what_the_caps_left_is_written_too(busy: Cast) -> None:
    left = queued(talk_of(busy))
    set_job(left, state="done", left_out=1, waiting=[], done_position=left.to_position)

    run_extraction_jobs(str(busy.team.id))

    assert now_is(left).left_out == 0


def test_what_waits_until_the_next_day_asks_for_no_worker(busy: Cast) -> None:
    left = queued(talk_of(busy))
    tomorrow = timezone.now() + timedelta(hours=20)
    set_job(left, state="done", left_out=1, waiting=[{}], due_at=tomorrow)

    assert team_queues() == []


def test_workers_that_begin_at_once_take_jobs_of_their_own(busy: Cast) -> None:
    jobs = [queued(talk_of(busy)) for _ in range(3)]

    race(3, lambda _: run_extraction_jobs(str(busy.team.id)))

    assert states(*jobs) == ["done"] * 3


def test_a_place_in_the_queue_is_not_taken_twice_by_the_sweep(busy: Cast) -> None:
    queued(talk_of(busy))

    sweep_jobs()

    assert published() == [str(busy.team.id)]


def test_teams_without_memory_have_no_turn_and_no_age(calm: Cast) -> None:
    queued(talk_of(calm))
    with team_scope(team_ids=[calm.team.id], actor="test"):
        Team.objects.filter(pk=calm.team.id).update(feature_flags={"memory": False})

    assert due_jobs(team_id=calm.team.id, now=database_now()) == []
    assert oldest_wait() is None


def test_the_age_of_the_oldest_waiting_job_is_told(calm: Cast) -> None:
    none = oldest_wait()
    old, _ = queued(talk_of(calm)), queued(talk_of(calm))
    set_job(old, due_at=timezone.now() - timedelta(hours=2))
    waits = oldest_wait()

    assert none is None
    assert waits is not None
    assert 7200 <= waits < 7300
