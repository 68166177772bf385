"""The clock was 40 days ahead and has been set back: nothing waits for those days to pass."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from memory.domain.types import Status
from memory.models import Job, Memory
from memory.satellites.lifecycle.models import ConsolidationRun
from memory.satellites.lifecycle.purging import purge_due
from memory.satellites.lifecycle.runs import claim_run, start_due_runs
from memory.services.extraction.job_claims import claim_job
from memory.services.extraction.jobs import overdue_jobs, queue_rested
from memory.understanding.tools import Tools
from teams.clock import careful, database_now
from teams.errors import ConflictError
from teams.models import Conversation, IdempotentRequest
from teams.services.idempotency import ClaimedRequest, claim_request
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.extraction import (
    conversation,
    extracted,
    jobs_of,
    plain,
    queued,
    run,
    say,
    set_job,
    town,
)
from tests.support.seals import by_owner
from tests.support.writing import NEW_LIMIT, OLD_LIMIT, draft, write

__all__ = ["conversation", "plain", "town"]
AHEAD = timedelta(days=40)


@pytest.mark.parametrize("state", ["queued", "running"])
@pytest.mark.parametrize("jump", [AHEAD, timedelta(hours=1)])
def test_a_job_whose_lease_or_pause_lies_in_the_future_is_run(
    conversation: Conversation, plain: Tools, state: str, jump: timedelta
) -> None:
    job = queued(conversation)
    until = timezone.now() + jump
    set_job(job, state=state, lease_until=until, claim=uuid4(), queued_at=until)

    with team_scope(team_ids=[job.team_id], actor="test"):
        found = overdue_jobs(team_id=job.team_id, now=database_now())
    run(job, plain)

    assert found == [job.pk]
    assert len(extracted(conversation)) == 3


def test_what_a_full_day_left_for_a_far_day_is_run(conversation: Conversation) -> None:
    job = queued(conversation)
    left = {"state": Job.State.DONE, "left_out": 1, "waiting": [{}]}

    set_job(job, **left, lease_until=timezone.now() + timedelta(hours=23))
    tomorrow = claim_job(team_id=job.team_id, job_id=job.pk, now=database_now())
    set_job(job, **left, lease_until=timezone.now() + AHEAD)
    far = claim_job(team_id=job.team_id, job_id=job.pk, now=database_now())

    assert tomorrow is None
    assert far is not None


def test_talk_that_came_while_the_clock_was_ahead_is_at_rest(conversation: Conversation) -> None:
    say(conversation, 2)

    queue_rested(team_id=conversation.team_id, now=timezone.now())
    at_once = jobs_of(conversation)
    queue_rested(team_id=conversation.team_id, now=timezone.now() - AHEAD)

    assert at_once == []
    assert [job.messages for job in jobs_of(conversation)] == [2]


def test_a_request_under_way_since_the_future_may_be_sent_again(committed_db: None) -> None:
    team_id = make_cast(f"town-{uuid4().hex}").team.id

    def claimed() -> object:
        return claim_request(
            team_id=team_id, agent_id=None, key="one", digest=b"same", now=database_now()
        )

    first = claimed()
    with pytest.raises(ConflictError):
        claimed()
    with team_scope(team_ids=[team_id], actor="test"):
        ahead = timezone.now() + AHEAD
        IdempotentRequest.objects.update(lease_until=ahead, made_at=ahead)
    second = claimed()

    assert isinstance(first, ClaimedRequest)
    assert isinstance(second, ClaimedRequest)


def test_a_consolidation_of_the_future_holds_up_none_of_today(committed_db: None) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    evening = timezone.now().replace(hour=23, minute=59)
    with team_scope(team_ids=[town.team.id], actor="test"):
        ahead = ConsolidationRun.objects.create(
            team=town.team,
            actor="task:consolidate",
            steps=[],
            created_at=evening + AHEAD,
            state="running",
            lease_until=evening + AHEAD,
            claim=uuid4(),
        )
    claim = claim_run(team_id=town.team.id, run_id=ahead.pk, now=database_now())
    with team_scope(team_ids=[town.team.id], actor="test"):
        ConsolidationRun.objects.filter(pk=ahead.pk).update(state="done", lease_until=None)
    start_due_runs(now=evening)

    assert claim is not None
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert ConsolidationRun.objects.filter(created_at=evening).count() == 1


def test_what_is_told_now_replaces_what_was_told_while_the_clock_was_ahead(
    town: Cast, tools: Tools
) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        (old,) = write(town, tools, draft(town, OLD_LIMIT, created_at=timezone.now()))
    by_owner(
        "UPDATE memory_memory SET created_at = created_at + interval '40 days'"
        f" WHERE id = '{old.memory.pk}'"
    )
    with team_scope(team_ids=[town.team.id], actor="test"):
        (new,) = write(town, tools, draft(town, NEW_LIMIT, created_at=timezone.now()))
        old.memory.refresh_from_db()

    assert new.memory.status == Status.ACTIVE
    assert old.memory.status == Status.SUPERSEDED


# -- ahead -----------------------------------------------------------------------------------


def test_a_clock_that_jumped_ahead_purges_nothing_before_its_time(town: Cast, tools: Tools) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        (kept,) = write(town, tools, draft(town, OLD_LIMIT))
        (gone,) = write(town, tools, draft(town, "Sarah owns a boat."))
        for result, days in ((kept, 30), (gone, 0)):
            Memory.objects.filter(pk=result.memory.pk).update(
                status=Status.SOFT_DELETED.value,
                purge_at=timezone.now() + timedelta(days=days),
            )

    purge_due(now=careful(timezone.now() + AHEAD))

    with team_scope(team_ids=[town.team.id], actor="test"):
        states = dict(Memory.objects.values_list("id", "status"))
    assert states[kept.memory.pk] == Status.SOFT_DELETED
    assert states[gone.memory.pk] == Status.PURGED
    assert careful(timezone.now()) <= timezone.now()
