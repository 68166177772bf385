"""Each message is extracted once, whatever is retried, raced or killed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from threading import Event, Lock
from typing import Any
from uuid import UUID, uuid4

import pytest
from celery import current_app
from django.conf import settings
from django.utils import timezone

from audit.models import MemoryLog
from memory.clients.tools import Tools
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from memory.domain.viewer import Viewer
from memory.models import Job, Memory
from memory.services import job_runs
from memory.services.conversations import close_conversation, post_messages
from memory.services.extraction import ExtractionCounts
from memory.services.job_runs import run_job
from memory.services.jobs import overdue_jobs, start_extraction
from memory.services.waiting import extract_now
from memory.tasks import run_extraction_job, sweep_jobs
from teams.models import Conversation
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast
from tests.teams.test_conversations import race


class CountingExtractor:
    """Makes one memory of each message and counts how often it read each; fails when told to."""

    name = "counting"

    def __init__(self, *, failures: int = 0, hold: Event | None = None) -> None:
        self.failures = failures
        self.hold = hold
        self.read: list[UUID] = []
        self.context: list[UUID] = []
        self.began = Event()
        self._lock = Lock()

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """One memory a message, with a number of its own in its text."""
        with self._lock:
            self.read += [message.id for message in messages]
            self.context += [message.id for message in context]
            fails = self.failures > 0
            self.failures -= fails
        self.began.set()
        if fails:
            raise ValueError("the extractor is broken")
        if self.hold is not None:
            assert self.hold.wait(timeout=30)
        return [
            Candidate(
                content=f"Note {message.id}: {message.content}",
                memory_type=MemoryType.EPISODIC,
                importance=5,
                confidence=1.0,
                message_ids=(message.id,),
            )
            for message in messages
        ]

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Nothing was missed."""
        return []


def with_extractor(tools: Tools, extractor: CountingExtractor) -> Tools:
    """The usual tools with this extractor."""
    return replace(tools, extractor=extractor)


class OrthogonalEmbedder:
    """Gives every text a direction of its own, so that no two are near."""

    name = "orthogonal"
    dimensions = 64
    opposition_similarity = 0.9

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors along different axes."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            with self._lock:
                axis = self._seen.setdefault(text, len(self._seen))
            row[axis % self.dimensions] = 1.0
        return rows


@pytest.fixture
def plain(tools: Tools) -> Tools:
    """Tools under which every message becomes exactly one memory of its own."""
    return replace(tools, embedder=OrthogonalEmbedder(), extractor=CountingExtractor())


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team."""
    return make_cast(f"town-{uuid4().hex}")


@pytest.fixture
def conversation(town: Cast) -> Conversation:
    """A committed conversation of Kyra with Sarah."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        return factories.ConversationFactory.create(
            team=town.team, agent=town.kyra, end_user=town.sarah
        )


def viewer_of(conversation: Conversation) -> Viewer:
    """The conversation's team."""
    return Viewer(team_id=conversation.team_id, actor="test")


def say(conversation: Conversation, count: int) -> list[UUID]:
    """Post that many messages; their ids."""
    rows = post_messages(
        viewer=viewer_of(conversation),
        conversation_id=conversation.pk,
        messages=[NewMessage("user", f"Message {number}.") for number in range(count)],
        now=timezone.now(),
    )
    return [row.pk for row in rows]


def queued(conversation: Conversation, count: int = 3) -> Job:
    """A job over that many new messages."""
    say(conversation, count)
    return start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)


def run(job: Job, tools: Tools) -> bool:
    """Run the job as a worker does."""
    return run_job(team_id=job.team_id, job_id=job.pk, tools=tools)


def now_is(job: Job) -> Job:
    """The job as the database has it."""
    with team_scope(team_ids=[job.team_id], actor="test"):
        return Job.objects.get(pk=job.pk)


def set_job(job: Job, **values: object) -> None:
    """Put the job into a state."""
    with team_scope(team_ids=[job.team_id], actor="test"):
        Job.objects.filter(pk=job.pk).update(**values)


def extracted(conversation: Conversation) -> list[UUID]:
    """The source messages of the conversation's memories, each as often as it was extracted."""
    with team_scope(team_ids=[conversation.team_id], actor="test"):
        rows = Memory.objects.filter(conversation=conversation)
        return sorted(each for row in rows for each in row.source_message_ids)


def jobs_of(conversation: Conversation) -> list[Job]:
    """Its jobs, oldest first."""
    with team_scope(team_ids=[conversation.team_id], actor="test"):
        return list(Job.objects.filter(conversation=conversation).order_by("id"))


def published() -> list[str]:
    """The ids of the jobs that wait in the queue, which is empty afterwards."""
    found = []
    name = settings.CELERY_TASK_DEFAULT_QUEUE
    with (
        current_app.connection_for_read() as broker,
        broker.SimpleQueue(name) as queue,
        suppress(queue.Empty),
    ):
        while True:
            message = queue.get_nowait()
            arguments, _, _ = message.payload
            found.append(arguments[1])
            message.ack()
    return found


# -- once ------------------------------------------------------------------------------------


def test_a_job_makes_its_memories_and_ends(conversation: Conversation, plain: Tools) -> None:
    messages = say(conversation, 3)
    job = start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)

    assert run(job, plain)

    done = now_is(job)
    assert (done.state, done.attempts, done.claim, done.error) == ("done", 1, None, "")
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


# -- leases ----------------------------------------------------------------------------------


def test_a_run_that_died_is_taken_over_when_its_lease_ends(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)
    assert job_runs._claim(team_id=job.team_id, job_id=job.pk) is not None  # and the worker dies
    held = run(job, plain)

    set_job(job, lease_until=timezone.now() - timedelta(seconds=1))
    taken_over = run(job, plain)

    assert (held, taken_over) == (False, True)
    done = now_is(job)
    assert (done.state, done.attempts) == ("done", 2)
    assert len(extracted(conversation)) == 3


def test_an_expired_lease_is_taken_by_one_of_eight(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)
    job_runs._claim(team_id=job.team_id, job_id=job.pk)
    set_job(job, lease_until=timezone.now() - timedelta(seconds=1))

    assert race(8, lambda _: run(job, plain)).count(True) == 1
    assert len(extracted(conversation)) == 3


def test_a_run_that_lost_its_lease_writes_nothing(
    conversation: Conversation, plain: Tools, tools: Tools
) -> None:
    """The slow worker wakes up after another one has taken over and finished."""
    job = queued(conversation)
    hold = Event()
    slow = CountingExtractor(hold=hold)

    def act(number: int) -> bool:
        if number == 0:
            return run(job, replace(plain, extractor=slow))
        assert slow.began.wait(timeout=30)
        set_job(job, lease_until=timezone.now() - timedelta(seconds=1))
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
    claim = job_runs._claim(team_id=job.team_id, job_id=job.pk)
    assert claim is not None
    set_job(job, lease_until=timezone.now() - timedelta(seconds=1))
    run(job, plain)

    job_runs._note_failure(
        team_id=job.team_id, job_id=job.pk, claim=claim, error=ValueError("too late")
    )

    assert (now_is(job).state, now_is(job).error) == ("done", "")


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
    assert waiting.lease_until is not None
    assert waiting.lease_until > timezone.now() - timedelta(seconds=1)
    assert now_is(job).state == "done"
    assert len(extracted(conversation)) == 3


def test_pauses_between_attempts_grow(conversation: Conversation, plain: Tools) -> None:
    job = queued(conversation)
    broken = replace(plain, extractor=CountingExtractor(failures=9))
    pauses = []
    for _ in range(settings.JOB_MAX_ATTEMPTS - 1):
        before = timezone.now()
        with pytest.raises(ValueError, match="broken"):
            run(job, broken)
        lease = now_is(job).lease_until
        assert lease is not None
        pauses.append(round((lease - before).total_seconds()))

    assert pauses == sorted(set(pauses))


def test_a_job_is_given_up_after_its_attempts(conversation: Conversation, plain: Tools) -> None:
    job = queued(conversation)
    broken = replace(plain, extractor=CountingExtractor(failures=99))
    for _ in range(settings.JOB_MAX_ATTEMPTS):
        with pytest.raises(ValueError, match="broken"):
            run(job, broken)

    given_up = now_is(job)

    assert (given_up.state, given_up.attempts) == ("failed", settings.JOB_MAX_ATTEMPTS)
    assert given_up.finished_at is not None
    assert not run(job, plain)
    assert extracted(conversation) == []


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


# -- what begins by itself -------------------------------------------------------------------


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


def test_posting_at_once_starts_each_interval_once(conversation: Conversation) -> None:
    race(8, lambda _: say(conversation, 10))

    ranges = [(job.from_position, job.to_position) for job in jobs_of(conversation)]
    assert ranges == [(1, 20), (21, 40), (41, 60), (61, 80)]


def test_the_task_runs_a_job_and_survives_running_again(conversation: Conversation) -> None:
    job = queued(conversation)

    for _ in range(2):
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
    job_runs._claim(team_id=running.team_id, job_id=running.pk)
    published()

    sweep_jobs()

    assert not {str(done.pk), str(running.pk)} & set(published())
