"""From a job to memories: take the job, read a window, apply the rules, write, note the outcome."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from django.db.models.functions import Now

from audit.services.events import record_events
from memory.domain.audience import Viewer
from memory.domain.types import Candidate
from memory.models import Job
from memory.selectors.ttl_cache import zone_of
from memory.understanding.tools import Tools
from memory.writing.background import run_write
from memory.writing.counters import count_work
from memory.writing.drafts import PreparedDraft, WriteResult
from memory.writing.jobs import ACTOR, Run, due_jobs, is_due, publish, taken, unchanged
from memory.writing.outcomes import (
    add_counts,
    count_results,
    counts_as_json,
    counts_from_json,
    window_events,
)
from memory.writing.rules import (
    CANDIDATES,
    HELD,
    OVER_DAY,
    Ready,
    Window,
    apply_last_rules,
    apply_rules,
    rank,
)
from memory.writing.sharing import share_extracted, withdraw_confided
from memory.writing.windows import (
    MessageRange,
    draft_of,
    find_candidates,
    load_range,
    load_sources,
    window_end,
)
from memory.writing.write_path import prepare, store
from teams.tenancy import database_now, team_scope
from teams.tracing import note, step

# So many of them are written in a transaction: each is judged beside its neighbours.
_REST = 30
# Hooks of satellites: in the transaction that writes, after each window, and after a job.
ON_WRITTEN: list[Callable[[Sequence[tuple[PreparedDraft, WriteResult]], str, datetime], None]] = []
AFTER_WINDOW: list[Callable[[MessageRange, Tools], None]] = []
AFTER_JOB: list[Callable[[Job], None]] = []


def run_job(
    *,
    team_id: UUID,
    job_id: UUID,
    tools: Tools,
    seconds: float | None = None,
    clock: Callable[[], datetime] = database_now,
) -> bool:
    """Runs a job unless it is not due or another run has it; returns whether this call finished it.

    After `seconds` no further window is begun, and the workers go on. `clock` gives the day of the
    daily cap, and the time at which jobs are due.
    """
    with team_scope(team_ids=[team_id], actor=ACTOR):
        job = Job.objects.filter(is_due(now=clock()), team_id=team_id, pk=job_id).first()
    if job is None:
        return False
    until = None if seconds is None else time.monotonic() + seconds
    with taken(job=job, clock=clock) as run:
        if run is None:
            return False
        is_done = run_windows(run, tools=tools, until=until, clock=clock)
    if due_jobs(team_id=team_id, now=clock(), limit=1):
        publish(team_id=team_id)
    return is_done


def run_windows(
    run: Run,
    *,
    tools: Tools,
    until: float | None = None,
    clock: Callable[[], datetime] = database_now,
) -> bool:
    """Reads the job's messages window by window; returns whether the job is done.

    The memories of a window and the job's progress are one transaction: the next run continues
    from there. At `until`, a time of `time.monotonic`, the job is queued again.
    """
    while _run_window(run, tools=tools, clock=clock):
        job = run.job
        if job.state == Job.State.DONE:
            for act in AFTER_JOB:
                act(job)
            return True
        if until is not None and time.monotonic() >= until:
            with team_scope(team_ids=[job.team_id], actor=ACTOR):
                if mine := unchanged(job=job):
                    mine.state, mine.attempts, mine.due_at = Job.State.QUEUED, 0, Now()
                    mine.save()
            return False
    return False


@step("extraction.window")
def _run_window(run: Run, *, tools: Tools, clock: Callable[[], datetime]) -> bool:
    """Extracts the next window of a job; returns False where another run went on with the job.

    Models are asked outside any transaction.
    """
    window = _load(run.job, now=clock())
    if not window.is_rest:
        window.found = find_candidates(source=window.source, tools=tools)
        apply_rules(window)
    judging: list[str] = []
    drafts = [
        draft_of(each, source=window.source, job=run.job, extractor=tools.extractor.name)
        for each in window.candidates
    ]
    prepared = prepare(drafts=drafts, tools=tools, note=judging.append)
    ready = [Ready(*pair) for pair in zip(window.candidates, prepared, strict=True)]
    note({"messages": window.messages, "candidates": len(window.found.candidates)})
    # Before the progress, so that a run which is killed here does it again.
    confided = window.found.confided
    withdraw_confided(source=window.source, confided=confided, tools=tools, actor=ACTOR)
    job = run_write(partial(_write, window, ready, judging, tools=tools, clock=clock))
    if job is None:
        return False
    run.job = job
    for act in AFTER_WINDOW:
        act(window.source, tools)
    return True


def _load(job: Job, *, now: datetime) -> Window:
    first = max(job.from_position, job.done_position + 1)
    with team_scope(team_ids=[job.team_id], actor=ACTOR):
        zone = zone_of(team_id=job.team_id, now=now)
        if first <= job.to_position:
            last = window_end(job=job, first=first)
            conversation = job.conversation
            source = load_range(conversation=conversation, first=first, last=last, zone=zone)
            return Window(job, first, last, source)
        rest, _ = _parted(job.waiting)
        source = load_sources(job=job, candidates=rest, zone=zone)
        return Window(job, first, job.to_position, source, candidates=rest)


def _parted(waiting: Sequence[object]) -> tuple[list[Candidate], list[object]]:
    """Returns the candidates to write next, the most important ones, and what goes on waiting."""
    candidates = CANDIDATES.validate_python(waiting)
    ranked = sorted(range(len(candidates)), key=lambda place: rank(candidates[place]))
    chosen = set(ranked[:_REST])
    written = [each for place, each in enumerate(candidates) if place in chosen]
    return written, [each for place, each in enumerate(waiting) if place not in chosen]


def _write(
    window: Window,
    ready: Sequence[Ready],
    judging: Sequence[str],
    *,
    tools: Tools,
    clock: Callable[[], datetime],
) -> Job | None:
    """Stores a window's memories and the job's progress, unless another run went on with it."""
    job, extractor = window.job, tools.extractor.name
    first = job.from_position if window.is_rest else window.first
    with team_scope(
        team_ids=[job.team_id],
        actor=ACTOR,
        reason=f"extracted from messages {first} to {window.last}",
        conversation_id=job.conversation_id,
    ):
        mine = unchanged(job=job)
        if mine is None:
            return None
        now = clock()
        written, left = apply_last_rules(ready, window=window, actor=ACTOR, now=now)
        prepared = [each.prepared for each in written]
        viewer = Viewer(team_id=job.team_id, actor=ACTOR)
        results = store(viewer=viewer, prepared=prepared, tools=tools)
        for act in ON_WRITTEN:
            act(list(zip(prepared, results, strict=True)), ACTOR, now)
        over_day = [each.candidate for each, why in left if why is OVER_DAY]
        held = sum(why is HELD for _, why in left)
        late = Counter(why.reason for _, why in left if why not in (HELD, OVER_DAY))
        # The window stays as it is: this transaction may be run again.
        window = replace(window, refused=window.refused + late)
        counts = count_results(
            window=window, results=results, held=held, extractor=extractor, judging=judging
        )
        events = window_events(window=window, results=results, over_day=len(over_day))
        record_events(team_id=job.team_id, events=events)
        count_work(window.found.work)
        today, made = now.astimezone(UTC).date(), counts.created + counts.versioned
        mine.written_that_day = made + (mine.written_that_day if mine.written_on == today else 0)
        mine.written_on = today
        waiting = [
            replace(each, extractor=each.extractor or extractor)
            for each in (*window.over_turn, *over_day)
        ]
        kept = _parted(mine.waiting)[1] if window.is_rest else mine.waiting
        mine.waiting = [*kept, *CANDIDATES.dump_python(waiting, mode="json")]
        mine.left_out = len(mine.waiting)
        if mine.result:
            counts = add_counts(counts_from_json(mine.result), counts)
        mine.result = counts_as_json(replace(counts, left_out=mine.left_out))
        mine.done_position, mine.error = window.last, ""
        is_done = window.last >= mine.to_position and not (window.is_rest and kept and not over_day)
        if window.is_rest or not is_done:
            # Attempts are counted from the last success on.
            mine.attempts = 1
        if is_done:
            mine.state, mine.finished_at = Job.State.DONE, now
            # Candidates over the daily cap wait for the next day.
            mine.due_at = _next_day(now) if over_day else now
        mine.save()
        if not window.is_rest:
            share_extracted(
                job=mine, first=window.first, last=window.last, private=window.private, now=now
            )
    return mine


def _next_day(now: datetime) -> datetime:
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day + timedelta(days=1)
