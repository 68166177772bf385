"""Conversations, their jobs, and extractors that count what they read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Event, Lock
from uuid import UUID, uuid4

import pytest
from celery import current_app
from django.conf import settings
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from memory.models import Job, Memory
from memory.understanding.tools import Tools
from memory.writing.background import leave_queue
from memory.writing.jobs import RUN_JOB_TASK, start_extraction, taken
from memory.writing.pipeline import run_job
from memory.writing.posting import open_conversation, post_messages
from teams.models import Conversation
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.embedders import OrthogonalEmbedder
from tests.support.extractors import OnePass


class CountingExtractor(OnePass):
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
        """One memory a message, in its words."""
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
                content=message.content,
                memory_type=MemoryType.EPISODIC,
                importance=5,
                confidence=1.0,
                message_ids=(message.id,),
            )
            for message in messages
        ]


def with_extractor(tools: Tools, extractor: CountingExtractor) -> Tools:
    """The usual tools with this extractor."""
    return replace(tools, extractor=extractor)


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
    """Post that many messages, each with a text of its own; their ids."""
    rows = post_messages(
        viewer=viewer_of(conversation),
        conversation_id=conversation.pk,
        messages=[NewMessage("user", f"Note {uuid4()} of {number}.") for number in range(count)],
        now=timezone.now(),
    )
    return [row.pk for row in rows]


def queued(conversation: Conversation, count: int = 3) -> Job:
    """A job over that many new messages."""
    say(conversation, count)
    return start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)


def run(job: Job, tools: Tools) -> bool:
    """Run the job as a worker does, once its pause after a failure is over."""
    with team_scope(team_ids=[job.team_id], actor="test"):
        Job.objects.filter(pk=job.pk, state=Job.State.QUEUED).update(due_at=job.created_at)
    return run_job(team_id=job.team_id, job_id=job.pk, tools=tools)


def die(job: Job) -> None:
    """Begin a run of the job whose worker is killed."""
    with taken(job=job) as run:
        assert run is not None


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
    """The ids of the teams that are in the queue, which is empty afterwards."""
    found = []
    name = settings.CELERY_TASK_DEFAULT_QUEUE
    with (
        current_app.connection_for_read() as broker,
        broker.SimpleQueue(name) as queue,
        suppress(queue.Empty),
    ):
        while True:
            message = queue.get_nowait()
            (team_id,), _, _ = message.payload
            found.append(team_id)
            leave_queue(RUN_JOB_TASK, UUID(team_id))
            message.ack()
    return found


def talk(viewer: Viewer, words: str) -> Conversation:
    """A conversation of Sarah's with one message."""
    with team_scope(team_ids=[viewer.team_id], actor="test"):
        conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content=words)],
        now=timezone.now(),
    )
    return conversation
