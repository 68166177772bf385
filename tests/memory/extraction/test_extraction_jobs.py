"""Each message is extracted once, whatever is retried, raced or killed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from threading import Event
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import DatabaseError, OperationalError, connection
from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.types import Candidate, Participants, SourceMessage
from memory.understanding.tools import Tools
from memory.writing.jobs import start_extraction, taken
from memory.writing.outcomes import ExtractionCounts
from memory.writing.waiting import extract_now
from teams.errors import UnavailableError
from teams.models import Conversation
from teams.tenancy import team_scope
from tests.support.embedders import OrthogonalEmbedder
from tests.support.extraction import (
    CountingExtractor,
    conversation,
    die,
    extracted,
    jobs_of,
    now_is,
    plain,
    queued,
    run,
    say,
    set_job,
    town,
    viewer_of,
    with_extractor,
)
from tests.support.waiting import race

__all__ = ["conversation", "plain", "town"]


# -- once ------------------------------------------------------------------------------------


def test_a_job_makes_its_memories_and_ends(conversation: Conversation, plain: Tools) -> None:
    messages = say(conversation, 3)
    job = start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)

    assert run(job, plain)

    done = now_is(job)
    assert (done.state, done.attempts, done.error) == ("done", 1, "")
    assert done.result["created"] == 3
    assert extracted(conversation) == sorted(messages)


def test_a_finished_job_does_nothing_more(conversation: Conversation, plain: Tools) -> None:
    job = queued(conversation)
    run(job, plain)
    before = now_is(job)

    assert not run(job, plain)

    assert now_is(job).finished_at == before.finished_at
    assert len(extracted(conversation)) == 3


def test_one_job_run_by_eight_at_once_is_finished_by_one(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation, 5)

    finished = race(8, lambda _: run(job, plain))

    assert sorted(finished) == [False] * 7 + [True]
    assert len(extracted(conversation)) == len(set(extracted(conversation))) == 5
    extractor = plain.extractor
    assert isinstance(extractor, CountingExtractor)
    assert len(extractor.read) == 5


def test_posting_and_extracting_at_once_covers_each_message_once(
    conversation: Conversation, plain: Tools
) -> None:
    posted: list[UUID] = []

    def act(number: int) -> None:
        if number % 2:
            extract_now(
                viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=plain
            )
        else:
            posted.extend(say(conversation, 7))

    race(6, act)
    extract_now(viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=plain)

    assert extracted(conversation) == sorted(posted)
    ranges = [(job.from_position, job.to_position) for job in jobs_of(conversation)]
    assert [first for first, _ in ranges] == [1, *[last + 1 for _, last in ranges[:-1]]]
    assert ranges[-1][1] == 21


def test_two_waiting_callers_are_told_of_each_memory_once(
    conversation: Conversation, plain: Tools
) -> None:
    say(conversation, 6)

    answers: list[ExtractionCounts] = race(
        4,
        lambda _: extract_now(
            viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=plain
        ),
    )

    assert sum(each.created for each in answers) == 6
    assert sum(len(each.memories) for each in answers) == 6


def test_a_job_reads_what_went_before_but_does_not_extract_it(
    conversation: Conversation, tools: Tools
) -> None:
    extractor = CountingExtractor()
    earlier = say(conversation, 15)
    mine = replace(with_extractor(tools, extractor), embedder=OrthogonalEmbedder())
    extract_now(viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=mine)
    extractor.read.clear()
    later = say(conversation, 2)

    extract_now(viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=mine)

    assert extractor.read == later
    assert extractor.context == earlier[-12:]


# -- locks -----------------------------------------------------------------------------------


def lose_locks() -> None:
    """Break every connection that holds a lock of a run; the runs themselves go on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE locktype = 'advisory' AND datname = current_database()"
            " AND state = 'idle in transaction'"
        )


def test_a_run_whose_process_died_is_taken_over_at_once(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)
    die(job)

    assert run(job, plain)

    done = now_is(job)
    assert (done.state, done.attempts) == ("done", 2)
    assert len(extracted(conversation)) == 3


def test_a_dead_run_is_taken_over_by_one_of_eight(conversation: Conversation, plain: Tools) -> None:
    job = queued(conversation)
    die(job)

    assert race(8, lambda _: run(job, plain)).count(True) == 1
    assert len(extracted(conversation)) == 3


def test_a_run_that_lost_its_lock_to_another_writes_nothing(
    conversation: Conversation, plain: Tools, tools: Tools
) -> None:
    job = queued(conversation)
    hold = Event()
    slow = CountingExtractor(hold=hold)

    def act(number: int) -> bool:
        if number == 0:
            return run(job, replace(plain, extractor=slow))
        assert slow.began.wait(timeout=30)
        lose_locks()
        try:
            return run(job, plain)
        finally:
            hold.set()

    lost, won = race(2, act)

    assert (lost, won) == (False, True)
    assert len(extracted(conversation)) == len(set(extracted(conversation))) == 3
    with team_scope(team_ids=[job.team_id], actor="test"):
        assert MemoryLog.objects.count() == 3
    assert now_is(job).state == "done"


def test_a_late_failure_does_not_undo_another_runs_success(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)

    def fail_late() -> None:
        with taken(job=job):
            lose_locks()
            assert run(job, plain)
            raise ValueError("too late")

    with pytest.raises(ValueError, match="too late"):
        fail_late()

    assert (now_is(job).state, now_is(job).error) == ("done", "")


def test_messages_behind_those_that_failed_wait_for_them(
    conversation: Conversation, plain: Tools
) -> None:
    first, second = queued(conversation), queued(conversation)
    with pytest.raises(ValueError, match="broken"):
        run(first, replace(plain, extractor=CountingExtractor(failures=1)))

    early = run(second, plain)
    late = [run(first, plain), run(second, plain)]

    assert (early, late) == (False, [True, True])


# -- failures --------------------------------------------------------------------------------


def test_a_failed_run_is_queued_again_and_loses_nothing(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)
    broken = replace(plain, extractor=CountingExtractor(failures=1))

    with pytest.raises(ValueError, match="broken"):
        run(job, broken)
    waiting = now_is(job)
    run(job, broken)

    assert (waiting.state, waiting.attempts) == ("queued", 1)
    assert waiting.error == "ValueError: the extractor is broken"
    assert waiting.due_at > job.created_at + timedelta(seconds=1)
    assert now_is(job).state == "done"
    assert len(extracted(conversation)) == 3


class AwayEmbedder(OrthogonalEmbedder):
    """An embedding service that does not answer."""

    def embed(self, texts: Sequence[str]) -> Any:
        raise UnavailableError("the service is away")


def test_pauses_between_attempts_grow(conversation: Conversation, plain: Tools) -> None:
    job = queued(conversation)
    broken = replace(plain, embedder=AwayEmbedder())
    pauses = []
    for _ in range(settings.JOB_MAX_ATTEMPTS - 1):
        before = timezone.now()
        with pytest.raises(UnavailableError):
            run(job, broken)
        pauses.append(round((now_is(job).due_at - before).total_seconds()))

    assert pauses == sorted(set(pauses))


def test_a_job_whose_service_stays_away_is_given_up_whole(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)
    broken = replace(plain, embedder=AwayEmbedder())
    for _ in range(settings.JOB_MAX_ATTEMPTS):
        with pytest.raises(UnavailableError):
            run(job, broken)

    given_up = now_is(job)

    assert (given_up.state, given_up.attempts) == ("failed", settings.JOB_MAX_ATTEMPTS)
    assert given_up.finished_at is not None
    assert [each.pk for each in jobs_of(conversation)] == [job.pk]
    assert not run(job, plain)
    assert extracted(conversation) == []


class QueryingExtractor(CountingExtractor):
    """Asks PostgreSQL first, as the reading of some messages might."""

    def __init__(self, query: str) -> None:
        super().__init__()
        self.query = query

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        with connection.cursor() as cursor:
            cursor.execute(self.query)
        return super().extract(messages=messages, context=context, participants=participants)


def test_a_lost_connection_sets_no_message_aside(conversation: Conversation, plain: Tools) -> None:
    job = queued(conversation)
    lost = QueryingExtractor("SELECT pg_terminate_backend(pg_backend_pid())")
    for _ in range(settings.JOB_MAX_ATTEMPTS - 1):
        with pytest.raises(OperationalError):
            run(job, replace(plain, extractor=lost))

    waiting = now_is(job)

    assert (waiting.state, waiting.one_by_one_to) == ("queued", 0)
    assert waiting.error.startswith("OperationalError")
    assert run(job, plain)
    assert len(extracted(conversation)) == 3


def test_restarts_while_a_service_is_away_set_no_message_aside(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)
    lost = QueryingExtractor("SELECT pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(OperationalError):
        run(job, replace(plain, extractor=lost))
    set_job(job, due_at=job.created_at)
    for _ in range(3):
        die(job)

    waiting = now_is(job)

    assert (waiting.state, waiting.one_by_one_to) == ("running", 0)
    assert run(job, plain)
    assert len(extracted(conversation)) == 3


@pytest.mark.parametrize(
    "query", ["SELECT 1 / 0", f"SELECT {'(' * 100_000}1{')' * 100_000}"], ids=["value", "limit"]
)
def test_a_statement_that_postgresql_refuses_is_a_failure_of_its_messages(
    conversation: Conversation, plain: Tools, query: str
) -> None:
    job = queued(conversation)
    for _ in range(2):
        with pytest.raises(DatabaseError):
            run(job, replace(plain, extractor=QueryingExtractor(query)))

    assert (now_is(job).state, now_is(job).one_by_one_to) == ("queued", 3)


def test_an_explicit_extract_revives_what_was_given_up(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)
    set_job(job, state="failed", attempts=5, finished_at=timezone.now(), error="ValueError: x")

    counts = extract_now(
        viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=plain
    )

    assert counts.created == 3
    assert (now_is(job).state, now_is(job).error) == ("done", "")
