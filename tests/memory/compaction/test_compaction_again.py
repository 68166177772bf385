"""Compactions that follow on: each builds on the last, and on what people changed in between."""

from __future__ import annotations

import pytest
from django.utils import timezone

from audit.models import MemoryLog
from memory.models import Compaction, Contradiction, Job, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory
from memory.writing.jobs import start_extraction
from memory.writing.pipeline import run_job
from memory.writing.waiting import extract_now
from teams.models import Conversation
from tests.support.compaction import (
    FACTS,
    compact,
    facts_of,
    noted,
    plain,
    read_by,
    recorder,
    say,
    summaries_of,
    talk,
    told,
    viewer_of,
)

__all__ = ["plain", "talk"]


def test_the_second_builds_on_the_first(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:4])
    compact(talk, plain, keep_last=2)
    say(talk, *FACTS[4:6])

    done = compact(talk, plain, keep_last=1)

    assert (done.first, done.last, done.count) == (3, 5, 3)
    assert done.summary == told(*noted(*FACTS[:5]))
    assert [len(points) for points in recorder(plain).given] == [2, 5]
    first, second = summaries_of(talk)
    assert (first.status, first.superseded_by_id) == ("superseded", second.pk)
    assert (second.status, second.supersedes_id, second.version) == ("active", first.pk, 2)
    assert not Contradiction.objects.exists()


def test_twice_doubles_nothing(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:4])
    first = compact(talk, plain, keep_last=1)
    rows, log = Memory.objects.count(), MemoryLog.objects.count()

    again = compact(talk, plain, keep_last=1)

    assert (again.count, again.summary, again.kept) == (0, first.summary, first.kept)
    assert (again.first, again.last) == (first.first, first.last)
    assert again.extraction.created == 0
    assert (Memory.objects.count(), MemoryLog.objects.count()) == (rows, log)
    assert Compaction.objects.count() == 1


def test_keeping_more_than_before_brings_nothing_back(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:4])
    compact(talk, plain, keep_last=1)

    done = compact(talk, plain, keep_last=3)

    assert [each.position for each in done.kept] == [4]
    assert done.count == 0


def test_ranges_of_compactions_follow_on(talk: Conversation, plain: Tools) -> None:
    for text in FACTS:
        say(talk, text)
        compact(talk, plain, keep_last=1)
    compact(talk, plain)

    ranges = Compaction.objects.order_by("from_position").values_list(
        "from_position", "to_position"
    )
    assert list(ranges) == [(n, n) for n in range(1, len(FACTS) + 1)]
    assert len(facts_of(talk)) == len(FACTS)
    assert [each.status for each in summaries_of(talk)].count("active") == 1


def test_what_a_job_extracted_before_is_not_doubled(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:3])
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)

    done = compact(talk, plain)

    assert (done.extraction.created, done.extraction.duplicates_skipped) == (0, 0)
    assert done.summary == told(*noted(*FACTS[:3]))
    assert read_by(plain) == [1, 2, 3]
    assert len(facts_of(talk)) == 3
    assert [each.corroboration for each in facts_of(talk)] == [0, 0, 0]


def test_what_was_compacted_is_not_extracted_again(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:3])
    compact(talk, plain, keep_last=1)

    counts = extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)

    assert counts.created == 1
    assert len(facts_of(talk)) == 3
    ranges = Job.objects.order_by("id").values_list("from_position", "to_position", "state")
    assert list(ranges) == [(1, 2, "done"), (3, 3, "done")]


@pytest.mark.parametrize("state", ["queued", "failed"])
def test_a_job_that_waits_or_was_given_up_is_done_by_the_compaction(
    talk: Conversation, plain: Tools, state: str
) -> None:
    say(talk, *FACTS[:3])
    job = start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)
    Job.objects.filter(pk=job.pk).update(state=state)
    compact(talk, plain)

    ran = run_job(team_id=talk.team_id, job_id=job.pk, tools=plain)

    assert not ran
    assert Job.objects.get().state == "done"
    assert read_by(plain) == [1, 2, 3]
    counts = extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)
    assert (counts.created, counts.duplicates_skipped) == (0, 0)


def test_a_job_that_reaches_beyond_what_goes_is_run_whole_and_once(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:4])
    job = start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)

    done = compact(talk, plain, keep_last=1)

    assert not run_job(team_id=talk.team_id, job_id=job.pk, tools=plain)
    assert read_by(plain) == [1, 2, 3, 4]
    assert done.summary == told(*noted(*FACTS[:3]))
    assert len(facts_of(talk)) == 4


def test_what_a_job_of_the_last_range_read_too_far_is_summed_up_next_time(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:4])
    start_extraction(viewer=viewer_of(talk), conversation_id=talk.pk)
    compact(talk, plain, keep_last=1)

    done = compact(talk, plain)

    assert read_by(plain) == [1, 2, 3, 4]
    assert done.summary == told(*noted(*FACTS[:4]))


def test_a_deleted_memory_does_not_come_back(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:2])
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)
    gone = facts_of(talk)[0]
    delete_memory(viewer=viewer_of(talk), memory_id=gone.pk)

    done = compact(talk, plain)

    assert done.extraction.created == 0
    assert done.summary == told(*noted(FACTS[1]))
    assert [each.status for each in facts_of(talk)] == ["soft_deleted", "active"]


def test_a_corrected_memory_does_not_come_back(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:2])
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)
    wrong = facts_of(talk)[0]
    correct_memory(
        viewer=viewer_of(talk),
        memory_id=wrong.pk,
        corrected_content="Sarah moved to Potsdam.",
        reason="",
        tools=plain,
        now=timezone.now(),
    )

    done = compact(talk, plain)

    live = [each.content for each in facts_of(talk) if each.is_live]
    assert sorted(live) == ["Sarah moved to Potsdam.", *noted(FACTS[1])]
    assert done.summary == told("Sarah moved to Potsdam.", *noted(FACTS[1]))


def test_what_is_said_again_after_a_deletion_is_new(talk: Conversation, plain: Tools) -> None:
    say(talk, FACTS[0])
    extract_now(viewer=viewer_of(talk), conversation_id=talk.pk, tools=plain)
    delete_memory(viewer=viewer_of(talk), memory_id=facts_of(talk)[0].pk)
    compact(talk, plain)
    say(talk, FACTS[0])

    compact(talk, plain)

    assert [each.status for each in facts_of(talk)] == ["soft_deleted", "active"]


def test_a_corrected_summary_is_what_the_next_one_builds_on(
    talk: Conversation, plain: Tools
) -> None:
    say(talk, *FACTS[:2])
    compact(talk, plain)
    (first,) = summaries_of(talk)
    fixed = "Sarah introduced herself."
    correct_memory(
        viewer=viewer_of(talk),
        memory_id=first.pk,
        corrected_content=fixed,
        reason="",
        tools=plain,
        now=timezone.now(),
    )
    between = compact(talk, plain).summary
    say(talk, *FACTS[2:4])

    done = compact(talk, plain)

    assert between == fixed
    assert done.summary == told(fixed, *noted(*FACTS[2:4]))
    live = [each for each in summaries_of(talk) if each.is_live]
    assert [each.content for each in live] == [done.summary]
    assert live[0].version == 3


def test_a_deleted_summary_is_not_told_or_built_on(talk: Conversation, plain: Tools) -> None:
    say(talk, *FACTS[:2])
    compact(talk, plain)
    delete_memory(viewer=viewer_of(talk), memory_id=summaries_of(talk)[0].pk)
    between = compact(talk, plain).summary
    say(talk, *FACTS[2:4])

    done = compact(talk, plain)

    assert between == ""
    assert done.summary == told(*noted(*FACTS[2:4]))
    assert [each.status for each in summaries_of(talk)] == ["soft_deleted", "active"]
