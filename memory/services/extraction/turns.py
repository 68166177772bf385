"""Whose turn it is: workers take the jobs of teams, and of their conversations, in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef

from memory.models import Job
from memory.selectors.job_queue import team_queues
from memory.services.extraction.job_claims import claim_job
from memory.services.extraction.job_runs import run_claimed
from memory.services.extraction.jobs import is_waiting, publish
from memory.understanding.tools import Tools
from routing.clients.quick_redis import quick_redis
from teams.clock import database_now
from teams.tenancy import team_scope

ACTOR = "task:extract"
# A sorted set of whom a worker served, by the number of the turn: a count and no time.
_SERVED = f"{settings.REDIS_PREFIX}:served"
_TURNS = f"{settings.REDIS_PREFIX}:turns"
# Of more teams and conversations than this, those served longest ago count as not served yet.
_KEPT = 20_000
_LOOKED_AT = 500
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """The job that is next."""

    team_id: UUID
    job_id: UUID


def work_in_turn(*, tools: Tools, seconds: float) -> None:
    """Go on for `seconds` with the job whose turn it is, if one waits.

    Where other workers take the same job at the same moment, the next one is taken. The tasks of
    jobs that waited for their conversation are gone by then: once it is free the next one of
    them is published.
    """
    for turn in _turns():
        claim = claim_job(team_id=turn.team_id, job_id=turn.job_id, now=database_now())
        if claim is not None:
            if run_claimed(
                team_id=turn.team_id, job_id=turn.job_id, claim=claim, tools=tools, seconds=seconds
            ):
                _publish_next(turn)
            return


def _turns() -> Iterator[Turn]:
    for _ in range(_TRIES):
        turn = next_turn(now=database_now())
        if turn is None:
            return
        yield turn


def _publish_next(done: Turn) -> None:
    with team_scope(team_ids=[done.team_id], actor=ACTOR):
        jobs = Job.objects.extractions().filter(team_id=done.team_id)
        job = (
            jobs.filter(
                is_waiting(now=database_now()),
                state=Job.State.QUEUED,
                conversation__in=jobs.filter(pk=done.job_id).values("conversation"),
            )
            .order_by("id")
            .first()
        )
        if job is not None:
            publish(job)


def next_turn(*, now: datetime) -> Turn | None:
    """The extraction that a free worker should go on with; None where none waits.

    Teams for which fewer workers are at work come first, then those that were served longest ago;
    in a team the conversation that was, and of its jobs the oldest. A conversation on which a
    worker is at work waits, so that a slow one holds one worker at most. Without Redis the order is
    that of the database. `now` is the database's time.
    """
    queues = team_queues()
    served = _served(each.team_id for each in queues)
    for queue in sorted(queues, key=lambda each: (each.running, served.get(each.team_id, 0))):
        job_id = _next_of(queue.team_id, now)
        if job_id is not None:
            return Turn(queue.team_id, job_id)
    return None


def _next_of(team_id: UUID, now: datetime) -> UUID | None:
    with team_scope(team_ids=[team_id], actor=ACTOR):
        jobs = Job.objects.extractions().filter(team_id=team_id)
        at_work = jobs.filter(state=Job.State.RUNNING).exclude(is_waiting(now=now))
        oldest = (
            jobs.filter(
                ~Exists(at_work.filter(conversation=OuterRef("conversation"))),
                is_waiting(now=now),
            )
            .order_by("conversation_id", "id")
            .distinct("conversation_id")
        )
        found = dict(oldest.values_list("conversation_id", "id")[:_LOOKED_AT])
    served = _served(found)
    chosen = min(found, key=lambda each: (served.get(each, 0), found[each]), default=None)
    if chosen is None:
        return None
    _note_served(team_id, chosen)
    return found[chosen]


def _served(ids: Iterable[UUID]) -> dict[UUID, float]:
    """In which turn each was served last, as far as that is known."""
    asked = list(ids)
    if not asked:
        return {}
    scores = quick_redis().ask(lambda client: client.zmscore(_SERVED, [each.hex for each in asked]))
    return {each: score for each, score in zip(asked, scores or (), strict=False) if score}


def _note_served(team_id: UUID, conversation_id: UUID) -> None:
    turn = quick_redis().ask(lambda client: client.incr(_TURNS))
    if turn is None:
        return
    pipe = quick_redis().pipeline()
    pipe.zadd(_SERVED, {team_id.hex: turn, conversation_id.hex: turn})
    pipe.zremrangebyrank(_SERVED, 0, -_KEPT - 1)
    quick_redis().ask(lambda _: pipe.execute())
