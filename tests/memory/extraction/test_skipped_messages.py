"""Messages that cannot be extracted are skipped, and all others are extracted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.test import override_settings
from django.utils import timezone

from memory.domain.types import Candidate, Participants, SourceMessage
from memory.models import Job, Memory
from memory.understanding.tools import Tools
from memory.writing.jobs import queue_again, start_extraction
from memory.writing.posting import post_messages
from memory.writing.waiting import StillExtractingError, extract_now
from teams.errors import ConflictError
from teams.models import Conversation
from teams.services.conversations import NewMessage
from teams.tenancy import team_scope
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
    town,
    viewer_of,
)

__all__ = ["conversation", "plain", "town"]


class PoisonedExtractor(CountingExtractor):
    """Fails at each window that reads one of these messages, as context too."""

    def __init__(self, *poison: UUID) -> None:
        super().__init__()
        self.poison = set(poison)

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        found = super().extract(messages=messages, context=context, participants=participants)
        if self.poison & {each.id for each in (*context, *messages)}:
            raise ValueError("poison: Sarah lives in Oslo")
        return found


class SlowExtractor(CountingExtractor):
    """Reads until Celery's limit of time ends it."""

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        raise SoftTimeLimitExceeded


def run_all(conversation: Conversation, tools: Tools) -> int:
    """Run what waits, as the workers do, until nothing does; how many runs failed."""
    failed = 0
    while True:
        waiting = [each for each in jobs_of(conversation) if each.state == Job.State.QUEUED]
        if not waiting:
            return failed
        for job in waiting:
            try:
                run(job, tools)
            except ValueError:
                failed += 1


def ranges(conversation: Conversation) -> list[tuple[int, int, str]]:
    """The conversation's jobs by their messages."""
    rows = jobs_of(conversation)
    return sorted((job.from_position, job.to_position, job.state) for job in rows)


# -- isolation -------------------------------------------------------------------------------


def test_one_message_that_fails_is_skipped_after_two_attempts_and_the_rest_extracted(
    conversation: Conversation, plain: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    messages = say(conversation, 8)
    start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)
    poisoned = replace(plain, extractor=PoisonedExtractor(messages[3]))

    failed = run_all(conversation, poisoned)

    # Twice the window, and twice the message.
    assert failed == 4
    assert ranges(conversation) == [(1, 3, "done"), (4, 4, "set_aside"), (5, 8, "done")]
    assert extracted(conversation) == sorted({*messages} - {messages[3]})
    (aside,) = [job for job in jobs_of(conversation) if job.state == "set_aside"]
    assert aside.error == "ValueError: poison: Sarah lives in Oslo"
    assert "Messages 4 to 4 of job" in caplog.text
    assert "failed: ValueError." in caplog.text
    assert "Oslo" not in caplog.text


def test_a_window_in_which_all_fails_is_skipped_and_later_windows_are_extracted(
    conversation: Conversation, plain: Tools
) -> None:
    messages = say(conversation, 18)
    start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)
    poisoned = replace(plain, extractor=PoisonedExtractor(*messages[:9]))

    with override_settings(EXTRACTION_WINDOW_MESSAGES=9):
        failed = run_all(conversation, poisoned)

    assert failed == 5
    assert ranges(conversation) == [
        (1, 1, "set_aside"),
        (2, 2, "set_aside"),
        (3, 9, "set_aside"),
        (10, 18, "done"),
    ]
    assert extracted(conversation) == sorted(messages[9:])


def test_a_run_that_was_killed_twice_counts_as_two_failures(
    conversation: Conversation, plain: Tools
) -> None:
    messages = say(conversation, 3)
    job = start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)
    for _ in range(2):
        die(job)
    # From now on one message at a time; the first one kills its worker again.
    die(job)

    run_all(conversation, plain)
    assert not run(job, plain)
    run_all(conversation, plain)

    assert ranges(conversation) == [(1, 1, "set_aside"), (2, 3, "done")]
    assert extracted(conversation) == sorted(messages[1:])
    assert "killed" in now_is(job).error


def test_what_is_skipped_runs_again_by_hand_alone(conversation: Conversation, plain: Tools) -> None:
    messages = say(conversation, 4)
    start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)
    run_all(conversation, replace(plain, extractor=PoisonedExtractor(messages[1])))

    counts = extract_now(
        viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=plain
    )
    before = ranges(conversation)
    (aside,) = [job for job in jobs_of(conversation) if job.state == "set_aside"]
    with team_scope(team_ids=[aside.team_id], actor="test"):
        queue_again(job=aside)
        with pytest.raises(ConflictError):
            queue_again(job=aside)
    run_all(conversation, plain)

    assert any("Messages 2 to 2" in each for each in counts.warnings)
    assert (2, 2, "set_aside") in before
    assert now_is(aside).state == "done"
    assert extracted(conversation) == sorted(messages)


def test_a_request_for_silence_that_is_skipped_still_protects_what_it_speaks_of(
    conversation: Conversation, plain: Tools
) -> None:
    texts = (
        "The new job starts in May.",
        "Please don't tell the others.",
        "And what's the weather like?",
        "Thank you!",
        "The dog is Rex.",
    )
    rows = post_messages(
        viewer=viewer_of(conversation),
        conversation_id=conversation.pk,
        messages=[NewMessage("user", text) for text in texts],
        now=timezone.now(),
    )
    start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)

    run_all(conversation, replace(plain, extractor=PoisonedExtractor(rows[1].pk)))

    with team_scope(team_ids=[conversation.team_id], actor="test"):
        found = dict(Memory.objects.values_list("content", "memory_type"))
    assert (found[texts[0]], found[texts[-1]]) == ("agent_private", "episodic")


def test_a_caller_who_waits_gets_all_others_and_is_told_of_what_is_skipped(
    conversation: Conversation, plain: Tools
) -> None:
    messages = say(conversation, 4)

    with override_settings(JOB_PAUSE_SECONDS=0.01):
        counts = extract_now(
            viewer=viewer_of(conversation),
            conversation_id=conversation.pk,
            tools=replace(plain, extractor=PoisonedExtractor(messages[0])),
        )

    assert counts.created == 3
    assert [each.split(" could")[0] for each in counts.warnings] == ["Messages 1 to 1"]
    assert ranges(conversation) == [(1, 1, "set_aside"), (2, 4, "done")]


def test_a_caller_who_waits_leaves_a_job_its_pause(
    conversation: Conversation, plain: Tools
) -> None:
    messages = say(conversation, 4)

    with pytest.raises(StillExtractingError):
        extract_now(
            viewer=viewer_of(conversation),
            conversation_id=conversation.pk,
            tools=replace(plain, extractor=PoisonedExtractor(*messages)),
            seconds=0.5,
        )

    (job,) = jobs_of(conversation)
    assert (job.state, job.attempts) == ("queued", 1)


# -- budgets ---------------------------------------------------------------------------------


def test_a_window_ends_where_its_texts_get_too_long(
    conversation: Conversation, plain: Tools
) -> None:
    messages = say(conversation, 5)  # of 46 characters each
    job = start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)

    with override_settings(EXTRACTION_WINDOW_CHARACTERS=100):
        run_job_once(job, plain)
        first = now_is(job).done_position
    with override_settings(EXTRACTION_WINDOW_CHARACTERS=10):
        run_job_once(job, plain)
        second = now_is(job).done_position
    run(job, plain)

    assert (first, second) == (2, 3)
    assert extracted(conversation) == sorted(messages)


def test_a_window_that_takes_too_long_is_a_failure_of_its_messages(
    conversation: Conversation, plain: Tools
) -> None:
    job = queued(conversation)

    for _ in range(2):
        with pytest.raises(SoftTimeLimitExceeded):
            run(job, replace(plain, extractor=SlowExtractor()))

    assert (now_is(job).state, now_is(job).one_by_one_to) == ("queued", 3)
    assert run(job, plain)


def run_job_once(job: Job, tools: Tools) -> None:
    """One window of the job."""
    from memory.writing.pipeline import run_job

    run_job(team_id=job.team_id, job_id=job.pk, tools=tools, seconds=0)
