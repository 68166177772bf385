"""Which jobs begin by themselves, and which the sweep finds."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import override_settings
from django.utils import timezone

from memory.models import Job
from memory.tasks import extract_rested, run_extraction_jobs, sweep_jobs
from memory.understanding.tools import Tools
from memory.writing.jobs import due_jobs, queue_rested
from memory.writing.posting import close_conversation
from teams.models import Conversation, Team
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast
from tests.support.extraction import (
    conversation,
    jobs_of,
    now_is,
    plain,
    published,
    queued,
    run,
    say,
    set_job,
    town,
    viewer_of,
)
from tests.support.waiting import race

__all__ = ["conversation", "plain", "town"]


def test_the_interval_makes_a_job_and_publishes_it(conversation: Conversation) -> None:
    say(conversation, 19)
    before = (jobs_of(conversation), published())

    say(conversation, 1)

    (job,) = jobs_of(conversation)
    assert before == ([], [])
    assert (job.from_position, job.to_position, job.state) == (1, 20, "queued")
    assert published() == [str(job.team_id)]


def test_closing_makes_a_job_and_publishes_it(conversation: Conversation) -> None:
    say(conversation, 2)

    close_conversation(
        viewer=viewer_of(conversation), conversation_id=conversation.pk, now=timezone.now()
    )

    (job,) = jobs_of(conversation)
    assert (job.from_position, job.to_position) == (1, 2)
    assert published() == [str(job.team_id)]


def test_a_conversation_at_rest_is_extracted(conversation: Conversation) -> None:
    say(conversation, 2)
    said_at = timezone.now()

    found = []
    for minutes in (9, 11, 30):
        queue_rested(team_id=conversation.team_id, now=said_at + timedelta(minutes=minutes))
        found.append([(job.from_position, job.to_position) for job in jobs_of(conversation)])

    assert found == [[], [(1, 2)], [(1, 2)]]
    assert published() == [str(conversation.team_id)]


@override_settings(CONVERSATION_REST_MINUTES=0.0)
def test_the_task_finds_each_conversation_at_rest_and_goes_on_where_it_ended(
    conversation: Conversation, town: Cast
) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        other = factories.ConversationFactory.create(
            team=town.team, agent=town.kyra, end_user=town.dmitri
        )
    say(conversation, 1)
    say(other, 1)

    queue_rested(team_id=town.team.id, now=timezone.now(), limit=1)
    begun = [len(jobs_of(each)) for each in (conversation, other)]
    extract_rested()

    assert begun == [1, 0]
    assert [len(jobs_of(each)) for each in (conversation, other)] == [1, 1]


@override_settings(CONVERSATION_REST_MINUTES=0.0)
def test_a_team_without_memory_leaves_its_conversations_at_rest(
    conversation: Conversation,
) -> None:
    say(conversation, 2)
    with team_scope(team_ids=[conversation.team_id], actor="test"):
        Team.objects.filter(pk=conversation.team_id).update(feature_flags={"memory": False})

    queue_rested(team_id=conversation.team_id, now=timezone.now())

    assert jobs_of(conversation) == []


def test_posting_at_once_starts_each_interval_once(conversation: Conversation) -> None:
    race(8, lambda _: say(conversation, 10))

    ranges = [(job.from_position, job.to_position) for job in jobs_of(conversation)]
    assert ranges == [(1, 20), (21, 40), (41, 60), (61, 80)]


def test_the_task_runs_a_job_and_survives_running_again(conversation: Conversation) -> None:
    job = queued(conversation)

    run_extraction_jobs(str(job.team_id))
    run_extraction_jobs(str(job.team_id))

    assert (now_is(job).state, now_is(job).attempts) == ("done", 1)


def test_the_task_survives_a_team_that_is_gone(town: Cast) -> None:
    run_extraction_jobs(str(uuid4()))

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("state", "seconds", "is_due"),
    [
        ("queued", -1, True),
        ("queued", 60, False),
        # Its worker may have died.
        ("running", -1, True),
        ("done", -1, False),
        ("failed", -1, False),
        ("set_aside", -1, False),
    ],
)
def test_due_is_what_waits_and_has_no_pause(
    conversation: Conversation, state: str, seconds: int, is_due: bool
) -> None:
    job = queued(conversation)
    now = timezone.now()
    set_job(job, state=state, due_at=now + timedelta(seconds=seconds))

    assert due_jobs(team_id=job.team_id, now=now) == [job] * is_due


def test_the_sweep_publishes_what_the_queue_lost(conversation: Conversation) -> None:
    job = queued(conversation)
    published()  # and lost

    sweep_jobs()

    assert str(job.team_id) in published()


def test_the_sweep_leaves_what_is_done(conversation: Conversation, plain: Tools) -> None:
    run(queued(conversation), plain)
    published()

    sweep_jobs()

    assert str(conversation.team_id) not in published()
