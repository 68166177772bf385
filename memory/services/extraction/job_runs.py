"""A run of an extraction job: window by window, each written together with how far it got."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from functools import partial
from uuid import UUID

from audit.services.events import record_events
from memory.domain.audience import Viewer
from memory.models import Job
from memory.satellites.consent.talk import ask_for_team, hold_back, settle_in_talk
from memory.satellites.workflows.proposing import look_for_workflows
from memory.selectors.zones import zone_of
from memory.services import leases
from memory.services.extraction import extraction
from memory.services.extraction.counts import (
    add_counts,
    count_results,
    counts_as_json,
    counts_from_json,
)
from memory.services.extraction.extraction import Found, find_candidates, stood_in_events
from memory.services.extraction.job_claims import (
    ACTOR,
    claim_job,
    hand_on,
    job_event,
    kept_lease,
    note_failure,
)
from memory.services.extraction.jobs import publish
from memory.services.extraction.left_out import as_json, from_json, load_sources
from memory.services.extraction.screening import (
    Screened,
    most_important,
    room_today,
    screen,
    store_events,
    without_retired,
)
from memory.services.extraction.shared_talk import share_extracted
from memory.services.extraction.taking_back import take_back_confided
from memory.services.extraction.windows import window_budget, window_end
from memory.services.extraction.work_metrics import count_work
from memory.services.retrying import run_write
from memory.services.write.inserting import PreparedDraft
from memory.services.write.write_path import prepare, store
from memory.understanding.tools import Tools
from teams.clock import database_now
from teams.tenancy import team_scope
from teams.tracing import note, step


class _Step(Enum):
    """How a window ended: the job has more, the job is done, or the job is somebody else's."""

    MORE = auto()
    DONE = auto()
    LOST = auto()


@dataclass(frozen=True, slots=True)
class _Window:
    """What a job is to write next: extracted and embedded, not stored yet.

    Once all messages are read, it is what the caps kept out before: `is_rest`.
    """

    job: Job
    first: int
    last: int
    source: extraction.MessageRange
    found: Found
    screened: Screened
    prepared: Sequence[PreparedDraft]
    judging: Sequence[str]

    @property
    def is_rest(self) -> bool:
        return self.first > self.last


def run_job(
    *,
    team_id: UUID,
    job_id: UUID,
    tools: Tools,
    seconds: float | None = None,
    clock: Callable[[], datetime] = database_now,
) -> bool:
    """Run a job unless somebody else does or did; returns whether this call finished it.

    Windows follow on (`window_end`), each with the messages before it as context.
    The memories of a window and the job's progress are one transaction, guarded by the claim: a
    run that lost its lease to another writes nothing, and the next one goes on where this one
    got to. When `seconds` are over, no further window is begun and the job is queued again.

    What the caps kept out waits in the job when it is done. The next run writes it, best first, as
    far as the day's cap lets it. `clock` says which day that is and when a lease ends.
    """
    claim = claim_job(team_id=team_id, job_id=job_id, now=clock())
    if claim is None:
        return False
    return run_claimed(
        team_id=team_id, job_id=job_id, claim=claim, tools=tools, seconds=seconds, clock=clock
    )


def run_claimed(
    *,
    team_id: UUID,
    job_id: UUID,
    claim: UUID,
    tools: Tools,
    seconds: float | None = None,
    clock: Callable[[], datetime] = database_now,
) -> bool:
    """Run a job that was claimed; as `run_job` otherwise."""
    started = time.monotonic()
    try:
        while True:
            step = _run_window(
                team_id=team_id, job_id=job_id, claim=claim, tools=tools, clock=clock
            )
            if step is _Step.DONE:
                look_for_workflows(team_id=team_id, job_id=job_id)
            if step is not _Step.MORE:
                return step is _Step.DONE
            if seconds is not None and time.monotonic() - started >= seconds:
                hand_on(team_id=team_id, job_id=job_id, claim=claim)
                return False
    except Exception as error:
        note_failure(team_id=team_id, job_id=job_id, claim=claim, error=error, clock=clock)
        raise


@step("extraction.window")
def _run_window(
    *, team_id: UUID, job_id: UUID, claim: UUID, tools: Tools, clock: Callable[[], datetime]
) -> _Step:
    with team_scope(team_ids=[team_id], actor=ACTOR):
        job = (
            Job.objects.select_related("conversation__agent", "conversation__end_user")
            .filter(team_id=team_id, id=job_id, state=Job.State.RUNNING, claim=claim)
            .first()
        )
        if job is None:
            return _Step.LOST
        first = max(job.from_position, job.done_position + 1)
        last = window_end(job=job, first=first) if first <= job.to_position else job.to_position
        zone = zone_of(team_id=team_id, now=clock())
        rest = from_json(job.waiting) if first > last else []
        if first > last:
            source = load_sources(job=job, candidates=rest, zone=zone)
        else:
            source = extraction.load_range(
                conversation=job.conversation, first=first, last=last, zone=zone
            )
    with kept_lease(team_id=team_id, job_id=job_id, claim=claim), window_budget():
        if first > last:
            found, screened = Found(), Screened(rest)
        else:
            found = find_candidates(source=source, tools=tools)
            screened = screen(source=source, candidates=found.candidates, capped=job.is_capped)
        drafts = extraction.drafts_of(
            source=source,
            candidates=screened.candidates,
            extractor=tools.extractor.name,
            tags=job.tags,
            ends_at=job.valid_to,
        )
        judging: list[str] = []
        prepared = prepare(drafts=drafts, tools=tools, note=judging.append)
    note({"messages": last - first + 1, "candidates": len(found.candidates)})
    window = _Window(job, first, last, source, found, screened, prepared, judging)
    step = run_write(partial(_write_window, window, claim=claim, tools=tools, clock=clock))
    if step is not _Step.LOST and not window.is_rest:
        take_back_confided(source=source, confided=found.confided, tools=tools, actor=ACTOR)
    if step is not _Step.LOST:
        settle_in_talk(source=source, tools=tools)
    return step


def _write_window(
    window: _Window, *, claim: UUID, tools: Tools, clock: Callable[[], datetime]
) -> _Step:
    """Store a window's memories and note how far the job got, if the job is still this run's."""
    job, team_id = window.job, window.job.team_id
    first = job.from_position if window.is_rest else window.first
    with team_scope(
        team_ids=[team_id],
        actor=ACTOR,
        reason=f"extracted from messages {first} to {window.last}",
        conversation_id=job.conversation_id,
    ):
        mine = (
            Job.objects.select_for_update()
            .filter(team_id=team_id, id=job.pk, state=Job.State.RUNNING, claim=claim)
            .first()
        )
        if mine is None:
            return _Step.LOST
        now = clock()
        fresh = {id(item) for item in without_retired(window.prepared)}
        found = zip(window.screened.candidates, window.prepared, strict=True)
        wanted = hold_back(
            source=window.source,
            found=[pair for pair in found if id(pair[1]) in fresh],
            actor=ACTOR,
            now=now,
        )
        written = wanted
        if job.is_capped:
            room = room_today(team_id=team_id, end_user_id=job.conversation.end_user_id, now=now)
            written = most_important(wanted, room)
        results = store(viewer=Viewer(team_id=team_id, actor=ACTOR), prepared=written, tools=tools)
        ask_for_team(written=zip(written, results, strict=True), actor=ACTOR, now=now)
        record_events(
            team_id=team_id,
            events=[
                job_event(job, messages=window.last - window.first + 1, written=len(results)),
                *stood_in_events(source=window.source, found=window.found),
                *window.screened.events,
                *store_events(prepared=wanted, results=results),
            ],
        )
        count_work(window.found.work)
        counts = count_results(
            candidates=window.found.candidates,
            results=results,
            extractor="" if window.is_rest else tools.extractor.name,
            work=window.found.work,
            messages_read=window.last - window.first + 1,
            secrets_masked=window.screened.masked,
            held_back=len(fresh) - len(wanted),
            refused=window.screened.refused,
            judging=window.judging,
        )
        _note_written(mine, counts.created + counts.versioned, now=now)
        no_room = {id(item) for item in wanted} - {id(item) for item in written}
        over_day = [
            candidate
            for candidate, item in zip(window.screened.candidates, window.prepared, strict=True)
            if id(item) in no_room
        ]
        left_out = as_json([*window.screened.over_cap, *over_day], extractor=tools.extractor.name)
        mine.waiting = left_out if window.is_rest else [*mine.waiting, *left_out]
        mine.left_out = len(mine.waiting)
        if mine.result:
            counts = add_counts(counts_from_json(mine.result), counts)
        mine.result = counts_as_json(replace(counts, left_out=mine.left_out))
        mine.done_position = window.last
        mine.error = ""
        if is_done := window.last >= mine.to_position:
            mine.state = Job.State.DONE
            mine.claim = None
            # What the day has no room for waits for the next one.
            mine.lease_until = _next_day(now) if over_day else None
            mine.finished_at = now
            if window.is_rest:
                mine.attempts = 1
            if mine.waiting and not over_day:
                publish(mine)
        else:
            mine.lease_until = leases.lease_end(now=now)
            # Attempts are counted from the last success on.
            mine.attempts = 1
        mine.save()
        if not window.is_rest:
            share_extracted(
                job=mine,
                first=window.first,
                last=window.last,
                candidates=window.found.candidates,
                now=now,
            )
    return _Step.DONE if is_done else _Step.MORE


def _note_written(job: Job, count: int, *, now: datetime) -> None:
    """Count what the job wrote today, which takes room of the day's cap."""
    today = now.astimezone(UTC).date()
    job.written_that_day = count + (job.written_that_day if job.written_on == today else 0)
    job.written_on = today


def _next_day(now: datetime) -> datetime:
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day + timedelta(days=1)
