"""A long conversation is extracted window by window: each message once, with those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memory.domain.types import Candidate, Participants, SourceMessage
from memory.understanding.tools import Tools
from memory.writing.compaction import Compacted, compact_conversation
from memory.writing.jobs import start_extraction
from memory.writing.pipeline import run_job
from memory.writing.waiting import StillExtractingError, extract_now
from teams.models import Conversation
from tests.support.extraction import (
    CountingExtractor,
    conversation,
    extracted,
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

__all__ = ["conversation", "plain", "town"]


class WindowNoting(CountingExtractor):
    """Notes each window: the messages before it and its own."""

    def __init__(self, *, breaks_at: int = 0) -> None:
        super().__init__()
        self.windows: list[tuple[list[int], list[int]]] = []
        self.breaks_at = breaks_at

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """As usual, until it breaks."""
        before, own = [each.position for each in context], [each.position for each in messages]
        if self.breaks_at in own:
            raise ValueError("the extractor broke")
        self.windows.append((before, own))
        return super().extract(messages=messages, context=context, participants=participants)


def noting(tools: Tools, **how: int) -> tuple[Tools, WindowNoting]:
    """Tools whose extractor notes its windows, and that extractor."""
    extractor = WindowNoting(**how)
    return replace(tools, extractor=extractor), extractor


@pytest.mark.parametrize("count", [1, 9, 10, 11, 30, 47])
def test_windows_cover_each_message_once_with_what_was_said_before(
    conversation: Conversation, plain: Tools, settings: Any, count: int
) -> None:
    # Any: pytest-django's settings wrapper
    settings.EXTRACTION_WINDOW_MESSAGES = 10
    tools, extractor = noting(plain)
    job = queued(conversation, count)

    assert run(job, tools)

    assert [each for _, own in extractor.windows for each in own] == list(range(1, count + 1))
    for before, own in extractor.windows:
        assert len(own) <= 10
        assert before == list(range(max(1, own[0] - 12), own[0]))
    assert len(extracted(conversation)) == count


def test_a_long_job_is_one_result(conversation: Conversation, plain: Tools, settings: Any) -> None:
    settings.EXTRACTION_WINDOW_MESSAGES = 4
    say(conversation, 10)

    counts = extract_now(
        viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=plain
    )

    assert (counts.created, counts.pass1_count, len(set(counts.memories))) == (10, 10, 10)
    assert counts.extractor == "counting"


def test_each_extractor_that_spoke_in_any_window_is_named(
    conversation: Conversation, plain: Tools, settings: Any
) -> None:
    settings.EXTRACTION_WINDOW_MESSAGES = 2

    class StoodIn(CountingExtractor):
        name = "model"

        def extract(
            self,
            *,
            messages: Sequence[SourceMessage],
            context: Sequence[SourceMessage],
            participants: Participants,
        ) -> list[Candidate]:
            found = super().extract(messages=messages, context=context, participants=participants)
            who = "rules" if messages[0].position == 3 else "model"
            return [replace(each, extractor=who) for each in found]

    say(conversation, 6)

    counts = extract_now(
        viewer=viewer_of(conversation),
        conversation_id=conversation.pk,
        tools=replace(plain, extractor=StoodIn()),
    )

    assert counts.extractor == "model+rules"


def test_a_run_that_fails_half_way_is_continued_where_it_got_to(
    conversation: Conversation, plain: Tools, settings: Any
) -> None:
    settings.EXTRACTION_WINDOW_MESSAGES = 4
    job = queued(conversation, 10)
    broken, _ = noting(plain, breaks_at=7)
    with pytest.raises(ValueError, match="broke"):
        run(job, broken)
    half = now_is(job)

    tools, extractor = noting(plain)
    run(job, tools)

    assert (half.state, half.messages_done, len(half.result["memories"])) == ("queued", 4, 4)
    assert [own for _, own in extractor.windows] == [[5, 6, 7, 8], [9, 10]]
    done = now_is(job)
    assert (done.state, done.messages_done, done.result["created"]) == ("done", 10, 10)
    assert len(extracted(conversation)) == len(set(extracted(conversation))) == 10


def test_attempts_are_counted_from_the_last_success(
    conversation: Conversation, plain: Tools, settings: Any
) -> None:
    """A long conversation must not be given up because its windows failed once each."""
    settings.EXTRACTION_WINDOW_MESSAGES = 1
    settings.JOB_MAX_ATTEMPTS = 2
    job = queued(conversation, 4)

    for position in (1, 2, 3, 4):
        broken, _ = noting(plain, breaks_at=position)
        with pytest.raises(ValueError, match="broke"):
            run(job, broken)

    assert now_is(job).state == "queued"
    assert run(job, plain)
    assert len(extracted(conversation)) == 4


def test_a_run_whose_time_is_up_hands_the_rest_on(
    conversation: Conversation, plain: Tools, settings: Any
) -> None:
    settings.EXTRACTION_WINDOW_MESSAGES = 4
    job = queued(conversation, 10)
    published()

    finished = run_job(team_id=job.team_id, job_id=job.pk, tools=plain, seconds=0.0)

    left = now_is(job)
    assert not finished
    assert (left.state, left.messages_done, left.attempts) == ("queued", 4, 0)
    assert published() == [str(job.team_id)]
    assert run(job, plain)
    assert len(extracted(conversation)) == 10


def test_a_run_that_lost_its_job_between_windows_stops(
    conversation: Conversation, plain: Tools, settings: Any
) -> None:
    settings.EXTRACTION_WINDOW_MESSAGES = 4
    job = queued(conversation, 10)

    class Loses(CountingExtractor):
        def review(
            self,
            *,
            messages: Sequence[SourceMessage],
            context: Sequence[SourceMessage],
            participants: Participants,
            first_pass: Sequence[Candidate],
        ) -> list[Candidate]:
            if messages[0].position == 5:
                set_job(job, state="queued")
            return []

    assert not run(job, replace(plain, extractor=Loses()))

    assert now_is(job).messages_done == 4
    assert run(job, plain)
    assert len(extracted(conversation)) == len(set(extracted(conversation))) == 10


def test_a_waiting_call_that_takes_too_long_names_the_job_that_goes_on(
    conversation: Conversation, plain: Tools, settings: Any
) -> None:
    settings.EXTRACTION_WINDOW_MESSAGES = 4
    settings.EXTRACT_WAIT_SECONDS = 0.0
    say(conversation, 10)
    published()

    with pytest.raises(StillExtractingError) as still:
        extract_now(viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=plain)

    job = still.value.job
    assert now_is(job).messages_done == 4
    assert published() == [str(job.team_id)]
    run(job, plain)
    counts = extract_now(
        viewer=viewer_of(conversation), conversation_id=conversation.pk, tools=plain
    )
    assert counts.created == 10


def test_a_compaction_too_long_to_wait_for_is_repeated_until_it_is_done(
    conversation: Conversation, plain: Tools, settings: Any
) -> None:
    settings.EXTRACTION_WINDOW_MESSAGES = 4
    say(conversation, 11)
    tools, extractor = noting(plain)

    def ask() -> Compacted:
        return compact_conversation(
            viewer=viewer_of(conversation),
            conversation_id=conversation.pk,
            tools=tools,
            keep_last=1,
            seconds=0.0,
        )

    for extracted_by_then in (4, 8):
        with pytest.raises(StillExtractingError) as still:
            ask()
        assert now_is(still.value.job).messages_done == extracted_by_then
    done = ask()

    assert (done.count, done.extraction.created) == (10, 10)
    assert [own for _, own in extractor.windows] == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]


def test_what_starts_an_extraction_names_the_job_that_reaches_furthest(
    conversation: Conversation, plain: Tools
) -> None:
    first = queued(conversation)
    second = queued(conversation)
    run(first, plain)
    named = start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)
    run(second, plain)
    after = start_extraction(viewer=viewer_of(conversation), conversation_id=conversation.pk)

    assert named.pk == second.pk
    assert after.pk == second.pk
