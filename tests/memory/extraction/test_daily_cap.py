"""The daily cap: what counts against it, and that it holds when jobs end at the same moment."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, connections
from django.test import override_settings
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from memory.models import Job, Memory
from memory.understanding.tools import Tools
from memory.writing.compaction import compact_conversation
from memory.writing.jobs import queue_extraction, visible_conversation
from memory.writing.pipeline import run_job
from memory.writing.rules import room_today
from memory.writing.waiting import extract_now
from memory.writing.write_path import prepare, store
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.extraction import talk
from tests.support.extractors import OnePass
from tests.support.waiting import until
from tests.support.writing import draft

FACTS = ("The kiln holds forty bowls.", "The glaze supplier is Marlow.")


def told(word: str) -> str:
    """A message of both facts that begins with the word."""
    return " ".join([f"{word}.", *FACTS])


class TwoFacts(OnePass):
    """An extractor that finds two facts in the last message, told apart by what it says."""

    name = "two"

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        return [
            Candidate(
                content=f"{messages[-1].content.split('.')[0]}: {text}",
                memory_type=MemoryType.SEMANTIC,
                importance=5,
                confidence=0.9,
                message_ids=(messages[-1].id,),
            )
            for text in FACTS
        ]


@pytest.fixture
def two(tools: Tools) -> Tools:
    """Tools that find two facts in each conversation."""
    return replace(tools, extractor=TwoFacts())


def room(cast: Cast) -> int | None:
    """Returns what is left of Sarah's daily cap."""
    return room_today(team_id=cast.team.id, end_user_id=cast.sarah.pk, now=timezone.now())


@override_settings(MAX_MEMORIES_PER_USER_DAY=10)
def test_what_talk_wrote_counts_and_what_another_person_wrote_does_not(
    acme: Cast, viewer: Viewer, two: Tools
) -> None:
    extract_now(viewer=viewer, conversation_id=talk(viewer, told("One")).pk, tools=two)

    assert room(acme) == 8
    assert room_today(team_id=acme.team.id, end_user_id=acme.dmitri.pk, now=timezone.now()) == 10


@override_settings(MAX_MEMORIES_PER_USER_DAY=10)
def test_an_import_does_not_count(acme: Cast, viewer: Viewer, two: Tools) -> None:
    extract_now(
        viewer=viewer, conversation_id=talk(viewer, told("One")).pk, tools=two, is_capped=False
    )

    assert Memory.objects.count() == 2
    assert room(acme) == 10


@override_settings(MAX_MEMORIES_PER_USER_DAY=10)
def test_a_compaction_does_not_count(acme: Cast, viewer: Viewer, two: Tools) -> None:
    compact_conversation(
        viewer=viewer, conversation_id=talk(viewer, told("One")).pk, keep_last=0, tools=two
    )

    assert Memory.objects.exclude(tags__contains=["summary"]).count() == 2
    assert room(acme) == 10


@override_settings(MAX_MEMORIES_PER_USER_DAY=10)
def test_what_was_said_again_takes_no_room(acme: Cast, viewer: Viewer, two: Tools) -> None:
    for _ in range(2):
        extract_now(viewer=viewer, conversation_id=talk(viewer, told("One")).pk, tools=two)

    assert room(acme) == 8


@override_settings(MAX_MEMORIES_PER_USER_DAY=10)
def test_the_next_day_has_its_own_room(acme: Cast, viewer: Viewer, two: Tools) -> None:
    extract_now(viewer=viewer, conversation_id=talk(viewer, told("One")).pk, tools=two)
    tomorrow = timezone.now() + timedelta(days=1)

    left = room_today(team_id=acme.team.id, end_user_id=acme.sarah.pk, now=tomorrow)

    assert left == 10


def waiting_for_a_turn() -> int:
    """Returns the number of this database's connections that wait for an advisory lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0


@override_settings(MAX_MEMORIES_PER_USER_DAY=3)
def test_two_jobs_that_end_together_do_not_share_the_same_room(
    committed_db: None, two: Tools
) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    viewer = Viewer(team_id=town.team.id, actor="test")
    jobs = []
    for words in ("One", "Two"):
        conversation = talk(viewer, told(words))
        with team_scope(team_ids=[town.team.id], actor="test"):
            locked = visible_conversation(viewer=viewer, conversation_id=conversation.pk)
            jobs.append(queue_extraction(conversation=locked))
    stated = prepare(
        drafts=[draft(town, "The studio is blue.", end_user_id=town.sarah.pk)], tools=two
    )

    def run(job: Job | None) -> bool:
        assert job is not None
        try:
            return run_job(team_id=town.team.id, job_id=job.pk, tools=two)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        # A writer about the same person is under way: both jobs get as far as they can meanwhile.
        with team_scope(team_ids=[town.team.id], actor="test"):
            store(viewer=viewer, prepared=stated, tools=two)
            runs = [pool.submit(run, job) for job in jobs]
            until(lambda: waiting_for_a_turn() == 2)
        assert [each.result() for each in runs] == [True, True]

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.filter(extraction_pass__isnull=False).count() == 3
        assert {job.left_out for job in Job.objects.all()} == {0, 1}
