"""The writing of an import: batch by batch, each with how far it got, so that none is lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import F, QuerySet

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import Job
from memory.satellites.transfer.formats.items import Item, is_message
from memory.satellites.transfer.imports import IMPORT_TASK, UNFINISHED, forget_batches, publish
from memory.satellites.transfer.models import ImportBatch, ImportRun
from memory.understanding.tools import Tools
from memory.writing.background import exclusively, leave_queue, pause_after, run_write
from memory.writing.drafts import Outcome
from memory.writing.jobs import queue_extraction, visible_conversation
from memory.writing.posting import open_conversation
from memory.writing.stating import StatedMemory, remember
from teams.errors import DomainError, UnavailableError
from teams.services.conversations import NewMessage, append_messages
from teams.services.team_settings import flags_of_id
from teams.tenancy import database_now, team_scope

ACTOR = "task:import"
EXTRACTOR = "import"
# Of the items that could not be written, so many are named.
MAX_ERRORS = 50
_NOT_NEW = (Outcome.DUPLICATE, Outcome.HELD)

logger = logging.getLogger(__name__)
Failures = list[dict[str, str]]


def run_import(
    *,
    team_id: UUID,
    run_id: UUID,
    tools: Tools,
    seconds: float | None = None,
    clock: Callable[[], datetime] = database_now,
    on_progress: Callable[[int], object] = lambda _: None,
) -> bool:
    """Go on with an import unless somebody else does or it has ended; whether this finished it.

    Items leave the queue together with their count: a run that is killed is taken over where it
    was, and nothing is stored twice. A batch that is refused, or fails at its last attempt, is
    written in halves, so that what is wrong with one item keeps out that one alone. When `seconds`
    are over, the rest is queued again. `on_progress` is told the number of items done.
    """
    leave_queue(IMPORT_TASK, team_id, run_id)
    with exclusively(f"import|{run_id}") as is_free:
        run = _begun(team_id, run_id, clock()) if is_free else None
        if run is None:
            return False
        started = time.monotonic()
        try:
            while (done := _write_next(team_id, run_id, tools, clock)) is not None:
                on_progress(done)
                if seconds is not None and time.monotonic() - started >= seconds:
                    with team_scope(team_ids=[team_id], actor=ACTOR):
                        mine = _under_way(team_id, run_id)
                        mine.update(state=ImportRun.State.QUEUED, attempts=0)
                    break
            else:
                return True
        except (InterfaceError, OperationalError, UnavailableError):
            # The next sweep publishes the import again.
            raise
        except Exception as error:
            _note_failure(team_id, run_id, error, clock())
            raise
    publish(run)
    return False


def _write_next(
    team_id: UUID, run_id: UUID, tools: Tools, clock: Callable[[], datetime]
) -> int | None:
    """Write the next batch; returns its items, None when none is left or it was cancelled."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        mine = _under_way(team_id, run_id)
        run = mine.first()
        if run is None:
            return None
        waiting = ImportBatch.objects.filter(team_id=team_id, run=run)
        batch = waiting.order_by("number").first()
        if batch is None:
            mine.update(state=ImportRun.State.DONE, finished_at=clock())
            return None
        if not batch.items:  # an erasure took them
            batch.delete()
            return 0
    write = _write_messages if is_message(batch.items[0]) else _write_memories
    parts = [batch.items]
    while parts:
        part = parts.pop()
        try:
            write(run, batch, part, tools, clock())
            continue
        except (InterfaceError, OperationalError, UnavailableError):
            raise
        except _ChangedError:
            return 0  # it is read again
        except DomainError as error:
            problem = error.message
        except Exception as error:
            if run.attempts < settings.JOB_MAX_ATTEMPTS:
                raise
            logger.exception("A part of import %s failed for the last time.", run.pk)
            problem = f"It failed again and again: {type(error).__name__}."
        if len(part) > 1:
            middle = len(part) // 2
            parts += [part[middle:], part[:middle]]
        else:
            _skip(run, batch, part[0], problem)
    return len(batch.items)


class _ChangedError(Exception):
    """The batch is not what was read: an erasure took out what is somebody's."""


def _write_messages(
    run: ImportRun, batch: ImportBatch, part: list[Item], _: Tools, now: datetime
) -> None:
    """Store messages of one conversation and a job of their extraction, in one transaction."""
    run_write(lambda: _store_messages(run, batch, part, now))


def _store_messages(run: ImportRun, batch: ImportBatch, part: list[Item], now: datetime) -> None:
    viewer = Viewer(team_id=run.team_id, actor=run.actor)
    with team_scope(team_ids=[run.team_id], actor=run.actor):
        if not _under_way(run.team_id, run.pk).select_for_update().exists():
            return
        # An erasure takes items out of it: before this, or after they are messages.
        items = _take(run, batch, part)
        if not items:
            return
        first = items[0]
        opened, _ = open_conversation(
            team_id=run.team_id,
            agent=first["agent"],
            user=first["user"],
            project=first.get("project"),
            thread_id=first["thread_id"],
        )
        conversation = visible_conversation(viewer=viewer, conversation_id=opened.pk)
        last = conversation.last_position
        given = [
            NewMessage(
                role=item["role"],
                content=item["content"],
                name=item["name"],
                created_at=_time(item),
                external_id=item["external_id"],
            )
            for item in items
        ]
        rows = append_messages(conversation=conversation, messages=given, now=now)
        failures = [
            {"place": item["at"], "problem": "A message of this id is stored with another text."}
            for item, row in zip(items, rows, strict=True)
            if row.content != item["content"]
        ]
        if flags_of_id(team_id=run.team_id).memory:
            # The sweep publishes the jobs, some at a time: thousands at once would hold up the
            # tasks of others, and the rest of this import.
            job = queue_extraction(conversation=conversation, is_capped=False)
            if job is not None and not run.does_extract:
                Job.objects.filter(team_id=run.team_id, pk=job.pk).update(
                    state=Job.State.DONE, done_position=job.to_position, finished_at=now
                )
        new = conversation.last_position - last
        _note_done(run, count=len(items), new=new, failures=failures)


def _write_memories(
    run: ImportRun, batch: ImportBatch, part: list[Item], tools: Tools, now: datetime
) -> None:
    """Write memories by the write path, then count them: a repetition is stored once."""

    def confirm() -> None:
        rows = ImportBatch.objects.filter(team_id=run.team_id, run=run, number=batch.number)
        if not rows.filter(users=batch.users).exists():
            raise _ChangedError

    results = remember(
        viewer=Viewer(team_id=run.team_id, actor=run.actor),
        stated=[_stated(item) for item in part],
        tools=tools,
        now=now,
        reason=f"imported from {run.format}",
        extractor=EXTRACTOR,
        is_import=True,
        confirm=confirm,
    )
    with team_scope(team_ids=[run.team_id], actor=ACTOR):
        # What is written is counted although the import was cancelled meanwhile.
        if _under_way(run.team_id, run.pk, ended=True).select_for_update().exists():
            _take(run, batch, part)
            new = sum(result.outcome not in _NOT_NEW for result in results)
            _note_done(run, count=len(part), new=new, failures=[])


def _skip(run: ImportRun, batch: ImportBatch, item: Item, problem: str) -> None:
    """Count an item that cannot be written and go on without it."""
    with team_scope(team_ids=[run.team_id], actor=ACTOR):
        if _under_way(run.team_id, run.pk).select_for_update().exists():
            failures = [{"place": item["at"], "problem": problem}]
            if _take(run, batch, [item]):
                _note_done(run, count=1, new=0, failures=failures)


def _take(run: ImportRun, batch: ImportBatch, part: list[Item]) -> list[Item]:
    """Take items off the queue and return those that stood there still; call it in the scope.

    The row stays until it is empty: an erasure that waits for it takes out what is left.
    """
    rows = ImportBatch.objects.filter(team_id=run.team_id, run=run, number=batch.number)
    row = rows.select_for_update().first()
    if row is None:
        return []
    wanted = {_key(item) for item in part}
    rest = [item for item in row.items if _key(item) not in wanted]
    if rest:
        rows.update(items=rest)
    else:
        rows.delete()
    return [item for item in row.items if _key(item) in wanted]


def _key(item: Item) -> tuple[str, str]:
    return item["at"], item["external_id"]


def _stated(item: Item) -> StatedMemory:
    given = {
        name: item[name] for name in ("agent", "user", "project", "importance") if name in item
    }
    return StatedMemory(
        content=item["content"],
        memory_type=MemoryType(item["memory_type"]),
        subject=item["subject"],
        tags=tuple(item["tags"]),
        external_id=item["external_id"],
        created_at=_time(item),
        **given,
    )


def _time(item: Item) -> datetime | None:
    return datetime.fromisoformat(item["created_at"]) if item["created_at"] else None


def _note_done(run: ImportRun, *, count: int, new: int, failures: Failures) -> None:
    """Count items that left the queue; call it in the scope, with the run locked."""
    run.refresh_from_db(fields=["errors"])
    _under_way(run.team_id, run.pk, ended=True).update(
        done=F("done") + count - len(failures),
        new=F("new") + new,
        failed=F("failed") + len(failures),
        errors=[*run.errors, *failures][:MAX_ERRORS],
        attempts=0,
    )


def _begun(team_id: UUID, run_id: UUID, now: datetime) -> ImportRun | None:
    """Count an attempt at an import that is due; None for any other."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = ImportRun.objects.filter(
            team_id=team_id, pk=run_id, state__in=UNFINISHED, due_at__lte=now
        )
        rows.update(state=ImportRun.State.RUNNING, attempts=F("attempts") + 1)
        return _under_way(team_id, run_id).first()


def _under_way(
    team_id: UUID, run_id: UUID, *, ended: bool = False
) -> QuerySet[ImportRun, ImportRun]:
    """The import, while it is running; with `ended`, if it was cancelled as well."""
    states = [ImportRun.State.RUNNING, *([ImportRun.State.CANCELLED] if ended else [])]
    return ImportRun.objects.filter(team_id=team_id, pk=run_id, state__in=states)


def _note_failure(team_id: UUID, run_id: UUID, error: Exception, now: datetime) -> None:
    """Let the import wait for a pause that doubles, or give it up after the last attempt."""
    logger.exception("Import %s failed.", run_id)
    with team_scope(team_ids=[team_id], actor=ACTOR):
        mine = _under_way(team_id, run_id)
        run = mine.first()
        if run is None:
            return
        given_up = run.attempts >= settings.JOB_MAX_ATTEMPTS
        problem = {"place": "", "problem": f"It failed again and again: {type(error).__name__}."}
        mine.update(
            state=ImportRun.State.FAILED if given_up else ImportRun.State.QUEUED,
            errors=[problem, *run.errors][:MAX_ERRORS] if given_up else run.errors,
            due_at=now + pause_after(run.attempts),
            finished_at=now if given_up else None,
        )
        if given_up:
            forget_batches(run)
