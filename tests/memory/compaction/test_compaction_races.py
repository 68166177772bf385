"""Compactions beside workers, beside each other, and killed at any step: each message once."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from threading import Event
from time import sleep
from typing import Any

import pytest
from django.db import connections

from memory.domain.talk import WrittenSummary
from memory.domain.types import Asker, Candidate, Participants, Point, SourceMessage
from memory.models import Compaction, Memory
from memory.understanding.tools import Tools
from memory.writing.compaction import Compacted, compact_conversation
from memory.writing.jobs import start_extraction
from memory.writing.pipeline import run_job
from memory.writing.waiting import StillExtractingError, extract_now
from teams.models import Conversation, Message
from teams.tenancy import team_scope
from tests.support.compaction import (
    FACTS,
    FactExtractor,
    Recorder,
    compact,
    facts_of,
    noted,
    plain,
    say,
    summaries_of,
    talk,
    told,
    town_talk,
    viewer_of,
)
from tests.support.embedders import OrthogonalEmbedder
from tests.support.extraction import die
from tests.support.waiting import race

__all__ = ["plain", "talk", "town_talk"]


class SlowExtractor(FactExtractor):
    """Waits in its first pass until it is let go."""

    def __init__(self, hold: Event) -> None:
        super().__init__(hold=hold)


def read_by(talk: Conversation, *extractors: FactExtractor) -> list[int]:
    """The positions of the messages that the extractors read as sources, sorted."""
    with team_scope(team_ids=[talk.team_id], actor="test"):
        rows = dict(Message.objects.filter(conversation=talk).values_list("pk", "position"))
    return sorted(rows[each] for extractor in extractors for each in extractor.read)


def extractor_of(tools: Tools) -> FactExtractor:
    """The counting extractor of these tools."""
    assert isinstance(tools.extractor, FactExtractor)
    return tools.extractor


def check_whole(talk: Conversation, count: int) -> None:
    """Every message gave one memory, one summary stands, and ranges follow on."""
    with team_scope(team_ids=[talk.team_id], actor="test"):
        sources = [each.source_message_ids for each in facts_of(talk)]
        ids = Message.objects.filter(conversation=talk, position__lte=count)
        assert sorted(sources) == sorted([each] for each in ids.values_list("id", flat=True))
        assert [each.status for each in summaries_of(talk)].count("active") == 1
        ranges = Compaction.objects.filter(conversation=talk).order_by("from_position")
        ends = [0, *ranges.values_list("to_position", flat=True)]
        assert list(ranges.values_list("from_position", flat=True)) == [n + 1 for n in ends[:-1]]


def beside_a_slow_worker(
    talk: Conversation, plain: Tools, **how: int
) -> tuple[SlowExtractor, object, object]:
    """Compact four messages while a worker extracts them; what the worker and the compaction say.

    The worker is let go when the compaction had time to begin waiting for it.
    """
    say(talk, *FACTS[:4])
    job = start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)
    hold = Event()
    slow = SlowExtractor(hold)

    def act(number: int) -> object:
        if number == 0:
            tools = replace(plain, extractor=slow)
            return run_job(team_id=talk.team_id, job_id=job.pk, tools=tools)
        assert slow.began.wait(timeout=30)
        if number == 1:
            sleep(0.3)
            hold.set()
            return None
        return compact(talk, plain, **how)

    finished, _, done = race(3, act)
    return slow, finished, done


# -- beside a worker -------------------------------------------------------------------------


@pytest.mark.parametrize("keep_last", [0, 1])
def test_a_compaction_waits_for_the_worker_that_extracts_the_same(
    town_talk: Conversation, plain: Tools, keep_last: int
) -> None:
    slow, finished, done = beside_a_slow_worker(town_talk, plain, keep_last=keep_last)

    assert finished
    assert isinstance(done, Compacted)
    assert (done.count, done.summary) == (4 - keep_last, told(*noted(*FACTS[: 4 - keep_last])))
    assert read_by(town_talk, slow, extractor_of(plain)) == [1, 2, 3, 4]
    check_whole(town_talk, 4)


def test_a_worker_that_takes_too_long_is_named_and_nothing_is_compacted(
    town_talk: Conversation, plain: Tools
) -> None:
    say(town_talk, *FACTS[:4])
    job = start_extraction(viewer=viewer_of(town_talk), conversation_id=town_talk.pk)
    hold = Event()
    slow = SlowExtractor(hold)

    def act(number: int) -> object:
        if number == 0:
            tools = replace(plain, extractor=slow)
            return run_job(team_id=town_talk.team_id, job_id=job.pk, tools=tools)
        assert slow.began.wait(timeout=30)
        try:
            with pytest.raises(StillExtractingError) as still:
                compact_conversation(
                    viewer=viewer_of(town_talk),
                    conversation_id=town_talk.pk,
                    tools=plain,
                    keep_last=1,
                    seconds=0.1,
                )
            return still.value.job.pk
        finally:
            hold.set()

    _, named = race(2, act)

    assert named == job.pk
    with team_scope(team_ids=[town_talk.team_id], actor="test"):
        assert not Compaction.objects.filter(conversation=town_talk).exists()
    assert compact(town_talk, plain, keep_last=1).count == 3
    assert read_by(town_talk, slow, extractor_of(plain)) == [1, 2, 3, 4]
    check_whole(town_talk, 4)


def test_a_dead_workers_job_is_taken_over_at_once(town_talk: Conversation, plain: Tools) -> None:
    say(town_talk, *FACTS[:4])
    job = start_extraction(viewer=viewer_of(town_talk), conversation_id=town_talk.pk)
    die(job)

    assert compact(town_talk, plain, keep_last=1).count == 3
    check_whole(town_talk, 4)


@pytest.mark.parametrize("round_number", range(3))
def test_a_compaction_and_a_worker_that_begin_at_once_read_each_message_once(
    town_talk: Conversation, plain: Tools, round_number: int
) -> None:
    say(town_talk, *FACTS)
    job = start_extraction(viewer=viewer_of(town_talk), conversation_id=town_talk.pk)

    def act(number: int) -> object:
        if number < 2:
            return run_job(team_id=town_talk.team_id, job_id=job.pk, tools=plain)
        return compact(town_talk, plain, keep_last=2 + round_number)

    race(4, act)

    assert read_by(town_talk, extractor_of(plain)) == list(range(1, 9))
    check_whole(town_talk, 8)


def test_what_the_caps_keep_out_of_a_running_job_is_not_lost(
    town_talk: Conversation, plain: Tools, settings: Any
) -> None:
    # Any: pytest-django's settings wrapper
    settings.MAX_MEMORIES_PER_USER_DAY = 1

    *_, done = beside_a_slow_worker(town_talk, plain)

    assert isinstance(done, Compacted)
    assert done.summary == told(*noted(*FACTS[:4]))
    check_whole(town_talk, 4)


def test_a_waiting_extract_and_a_compaction_at_once_report_each_memory_once(
    town_talk: Conversation, plain: Tools
) -> None:
    say(town_talk, *FACTS)
    viewer = viewer_of(town_talk)

    def act(number: int) -> int:
        if number % 2:
            return compact(town_talk, plain).extraction.created
        counts = extract_now(viewer=viewer, conversation_id=town_talk.pk, tools=plain)
        return counts.created

    assert sum(race(4, act)) == 8
    check_whole(town_talk, 8)


# -- what changes while it is summed up ------------------------------------------------------


def test_what_is_deleted_while_it_is_summed_up_is_not_in_the_summary(
    town_talk: Conversation, plain: Tools
) -> None:
    class Meddled(Recorder):
        def summarise(
            self, *, points: Sequence[Point], since: datetime, until: datetime, asker: Asker
        ) -> WrittenSummary:
            if not self.given:
                with team_scope(team_ids=[town_talk.team_id], actor="test"):
                    Memory.objects.filter(pk=points[0].memory_ids[0]).update(status="soft_deleted")
            return super().summarise(points=points, since=since, until=until, asker=asker)

    say(town_talk, *FACTS[:3])

    done = compact(town_talk, replace(plain, summariser=Meddled()))

    assert done.summary == told(*noted(*FACTS[1:3]))
    with team_scope(team_ids=[town_talk.team_id], actor="test"):
        assert Compaction.objects.get(conversation=town_talk).summary == done.summary
        assert len(summaries_of(town_talk)) == 1


# -- killed ----------------------------------------------------------------------------------


class Killer:
    """Kills its own process the given time that a step comes by."""

    def __init__(self, step: str, times: int = 1) -> None:
        self.step = step
        self.left = times

    def passes(self, step: str) -> None:
        """Nothing happens, or nothing happens any more."""
        if step == self.step:
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


class KilledExtractor(FactExtractor):
    """Comes by in both passes."""

    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self.killer = killer

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """As usual."""
        self.killer.passes("first pass")
        return super().extract(messages=messages, context=context, participants=participants)

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """As usual."""
        self.killer.passes("second pass")
        return []


class KilledEmbedder(OrthogonalEmbedder):
    """Comes by when texts are embedded and, by its name, when memories are being stored."""

    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self.killer = killer

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name that is stored beside vectors."""
        self.killer.passes("storing")
        return "orthogonal"

    def embed(self, texts: Sequence[str]) -> Any:
        """As usual."""
        self.killer.passes("embedding")
        return super().embed(texts)


class KilledSummariser(Recorder):
    """Comes by when it is asked; what is stored from then on is the summary."""

    def __init__(self, killer: Killer) -> None:
        super().__init__()
        self.killer = killer

    def summarise(
        self, *, points: Sequence[Point], since: datetime, until: datetime, asker: Asker
    ) -> WrittenSummary:
        """As usual."""
        self.killer.passes("summary")
        if self.killer.step == "storing the summary":
            self.killer.step = "storing"
        return super().summarise(points=points, since=since, until=until, asker=asker)


KILLS = [
    ("first pass", 1),
    ("first pass", 2),
    ("second pass", 2),
    ("embedding", 1),
    ("embedding", 2),
    ("embedding", 4),
    ("storing", 1),
    ("storing", 2),
    ("summary", 1),
    ("embedding", 5),
    ("storing the summary", 1),
]


@pytest.mark.parametrize(("step", "times"), KILLS)
def test_a_compaction_killed_at_any_step_loses_and_doubles_nothing(
    town_talk: Conversation, plain: Tools, settings: Any, step: str, times: int
) -> None:
    # Any: pytest-django's settings wrapper
    settings.EXTRACTION_WINDOW_MESSAGES = 4
    say(town_talk, *FACTS)
    killer = Killer(step, times)
    deadly = replace(
        plain,
        extractor=KilledExtractor(killer),
        embedder=KilledEmbedder(killer),
        summariser=KilledSummariser(killer),
    )
    connections.close_all()  # the child must not share them

    child = os.fork()
    if not child:
        try:
            compact(town_talk, deadly, keep_last=1)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    with team_scope(team_ids=[town_talk.team_id], actor="test"):
        compacted = Compaction.objects.filter(conversation=town_talk).exists()
        summed_up = summaries_of(town_talk)
    done = compact(town_talk, plain, keep_last=1)

    assert os.WIFSIGNALED(status)
    assert not compacted
    assert not summed_up
    assert done.count == 7
    assert done.summary == told(*noted(*FACTS[:7]))
    extract_now(viewer=viewer_of(town_talk), conversation_id=town_talk.pk, tools=plain)
    check_whole(town_talk, 8)
