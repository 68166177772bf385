"""Which jobs begin by themselves, and which the sweep finds."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import override_settings
from django.utils import timezone

from memory.models import Job
from memory.services.extraction.job_claims import claim_job
from memory.services.extraction.jobs import overdue_jobs, queue_rested
from memory.services.messages.posting import close_conversation
from memory.tasks import extract_rested, run_extraction_job, sweep_jobs
from memory.understanding.tools import Tools
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
from tests.support.waiting import race, until

__all__ = ["conversation", "plain", "town"]


def test_the_interval_makes_a_job_and_publishes_it(conversation: Conversation) -> None:
    say(conversation, 19)
    before = (jobs_of(conversation), published())

    say(conversation, 1)

    (job,) = jobs_of(conversation)
    assert before == ([], [])
    assert (job.from_position, job.to_position, job.state) == (1, 20, "queued")
    assert published() == [str(job.pk)]


def test_closing_makes_a_job_and_publishes_it(conversation: Conversation) -> None:
    say(conversation, 2)

    close_conversation(
        viewer=viewer_of(conversation), conversation_id=conversation.pk, now=timezone.now()
    )

    (job,) = jobs_of(conversation)
    assert (job.from_position, job.to_position) == (1, 2)
    assert published() == [str(job.pk)]


def test_a_conversation_at_rest_is_extracted(conversation: Conversation) -> None:
    say(conversation, 2)
    said_at = timezone.now()

    found = []
    for minutes in (9, 11, 30):
        queue_rested(team_id=conversation.team_id, now=said_at + timedelta(minutes=minutes))
        found.append([(job.from_position, job.to_position) for job in jobs_of(conversation)])

    assert found == [[], [(1, 2)], [(1, 2)]]
    assert published() == [str(job.pk) for job in jobs_of(conversation)]


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

    def is_done() -> bool:
        # Another job may be the one whose turn it is.
        run_extraction_job(str(job.team_id), str(job.pk))
        return now_is(job).state == "done"

    until(is_done)
    run_extraction_job(str(job.team_id), str(job.pk))

    assert (now_is(job).state, now_is(job).attempts) == ("done", 1)


def test_the_task_survives_a_job_that_is_gone(town: Cast) -> None:
    run_extraction_job(str(town.team.id), str(uuid4()))
    run_extraction_job(str(uuid4()), str(uuid4()))

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("state", "lease", "is_overdue"),
    [
        ("queued", None, True),
        ("queued", -1, True),
        ("queued", 60, False),
        ("running", -1, True),
        ("running", 60, False),
        ("done", None, False),
        ("failed", None, False),
    ],
)
def test_overdue_is_what_waits_or_lost_its_lease(
    conversation: Conversation, state: str, lease: int | None, is_overdue: bool
) -> None:
    job = queued(conversation)
    now = timezone.now()
    until = None if lease is None else now + timedelta(seconds=lease)
    set_job(job, state=state, lease_until=until)

    with team_scope(team_ids=[job.team_id], actor="test"):
        found = overdue_jobs(team_id=job.team_id, now=now)

    assert (job.pk in found) == is_overdue


def test_the_sweep_publishes_what_the_queue_lost(conversation: Conversation) -> None:
    job = queued(conversation)
    published()  # and lost

    sweep_jobs()

    assert str(job.pk) in published()


def test_the_sweep_leaves_what_is_running_and_what_is_done(
    conversation: Conversation, plain: Tools
) -> None:
    done, running = queued(conversation), queued(conversation)
    run(done, plain)
    claim_job(team_id=running.team_id, job_id=running.pk, now=timezone.now())
    published()

    sweep_jobs()

    assert not {str(done.pk), str(running.pk)} & set(published())
