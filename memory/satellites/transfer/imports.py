"""Imports of files: read and checked whole, then written batch by batch, each with its progress."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import IO, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import F, QuerySet

from memory.domain.audience import Viewer
from memory.domain.forms import Form
from memory.domain.types import MemoryType, Source, weakest
from memory.models import Job
from memory.satellites.transfer.formats.items import (
    ImportFileError,
    Item,
    ItemMaker,
    Names,
    is_message,
)
from memory.satellites.transfer.formats.reading import Format, read_items
from memory.satellites.transfer.models import ImportBatch, ImportRun
from memory.understanding.tools import Tools
from memory.writing.background import (
    exclusively,
    leave_queue,
    pause_after,
    run_write,
    send_after_commit,
)
from memory.writing.drafts import IMPORTED, Outcome
from memory.writing.jobs import queue_extraction, visible_conversation
from memory.writing.stating import StatedMemory, remember
from teams.errors import ConflictError, DomainError, NotFoundError, UnavailableError
from teams.services.conversations import NewMessage, append_messages, start_conversation
from teams.services.people import ensure_agent, ensure_end_users, ensure_project
from teams.services.team_settings import flags_of_id, require_memory
from teams.tenancy import database_now, team_scope

IMPORT_TASK = "memory.satellites.transfer.tasks.run_import"
ACTOR = "task:import"
UNFINISHED = (ImportRun.State.QUEUED, ImportRun.State.RUNNING)
# Written in one transaction.
MESSAGES_A_BATCH = 500
MEMORIES_A_BATCH = 100
# A batch takes no further item once it has so many characters, and as many batches are stored
# together as have them.
CHARS_A_BATCH = 1_000_000
_STORED_TOGETHER = 50
# Of the items that could not be written, so many are named.
MAX_ERRORS = 50
_NOT_NEW = (Outcome.DUPLICATE, Outcome.HELD)
_AWAY = (InterfaceError, OperationalError, UnavailableError)

logger = logging.getLogger(__name__)
_T = TypeVar("_T")


def start_import(
    *,
    viewer: Viewer,
    source: IO[bytes] | Path,
    names: Names,
    now: datetime,
    format: Format | None = None,  # noqa: A002 - its name in the API
    name: str = "import",
    does_extract: bool = True,
    new_role: str = "",
    is_published: bool = True,
) -> ImportRun:
    """Read a file, store its items in batches and queue their writing, all or nothing.

    Memory grows with the largest record of the file, not with the file. Without a format, the
    contents say which; `name` is the file's own. `names` are the owners of items that name none.
    With a `new_role`, "member" or "guest", people whom the team does not know are made with it.
    Raises ImportFileError for the first thing that is wrong with the file, and ForbiddenError where
    the team has memory switched off.
    """
    make = ItemMaker(names=names, now=now)
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        require_memory(flags_of_id(team_id=viewer.team_id))
        found, items = read_items(source, make=make, given=format, name=name)
        run = ImportRun.objects.create(
            team_id=viewer.team_id,
            format=found.value,
            does_extract=does_extract,
            actor=viewer.actor,
            created_at=now,
        )
        batches = _batches(run, items)
        for rows in _parted(batches, _STORED_TOGETHER, chars=lambda row: _chars(*row.items)):
            ImportBatch.objects.bulk_create(rows)
            run.total += sum(len(row.items) for row in rows)
            if new_role:
                users = {each for row in rows for each in row.users}
                ensure_end_users(team_id=viewer.team_id, external_ids=users, new_role=new_role)
        if not run.total:
            raise ImportFileError("The file holds nothing to import.")
        run.save(update_fields=["total"])
        if is_published:
            publish(run)
    return run


def _batches(run: ImportRun, items: Iterable[Item]) -> Iterator[ImportBatch]:
    """The items in their order: messages together, and memories."""
    number = 0
    for are_messages, group in groupby(items, key=is_message):
        most = MESSAGES_A_BATCH if are_messages else MEMORIES_A_BATCH
        for part in _parted(group, most, chars=_chars):
            number += 1
            users = sorted({item["user"] for item in part if "user" in item})
            yield ImportBatch(team_id=run.team_id, run=run, number=number, items=part, users=users)


def _parted(rows: Iterable[_T], most: int, *, chars: Callable[[_T], int]) -> Iterator[list[_T]]:
    """The rows in lists of at most so many, each ended by the row that fills its characters."""
    part, filled = list[_T](), 0
    for row in rows:
        part.append(row)
        filled += chars(row)
        if len(part) == most or filled >= CHARS_A_BATCH:
            yield part
            part, filled = [], 0
    if part:
        yield part


def _chars(*items: Item) -> int:
    return sum(len(item["content"]) for item in items)


def _conversation(item: Item) -> tuple[str, ...]:
    """The names of a message's conversation."""
    return tuple(str(item.get(name)) for name in ("thread_id", "agent", "user", "project"))


def _batches_of(run: ImportRun) -> QuerySet[ImportBatch, ImportBatch]:
    return ImportBatch.objects.filter(team_id=run.team_id, run=run)


def import_of(*, viewer: Viewer, run_id: UUID) -> ImportRun:
    """One import of the team; NotFoundError where it has none of that id. Call it in its scope."""
    run = ImportRun.objects.filter(team_id=viewer.team_id, pk=run_id).first()
    if run is None:
        raise NotFoundError("There is no such import.")
    return run


def cancel_import(*, viewer: Viewer, run_id: UUID, now: datetime) -> ImportRun:
    """End an import before its next batch; what it wrote stays.

    Raises NotFoundError for one that is not the team's, and ConflictError for one that has ended.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        run = import_of(viewer=viewer, run_id=run_id)
        rows = ImportRun.objects.filter(team_id=run.team_id, pk=run.pk, state__in=UNFINISHED)
        if not rows.update(state=ImportRun.State.CANCELLED, finished_at=now):
            raise ConflictError("The import has ended already.")
        _batches_of(run).delete()
        run.refresh_from_db()
        return run


def overdue_imports(*, team_id: UUID, now: datetime) -> list[ImportRun]:
    """Imports that no worker goes on with; call it in the team's scope."""
    rows = ImportRun.objects.filter(team_id=team_id, state__in=UNFINISHED, due_at__lte=now)
    return list(rows.order_by("id"))


def publish(run: ImportRun) -> None:
    """Queue an import's task once the transaction commits; the sweep finds lost ones."""
    send_after_commit(IMPORT_TASK, run.team_id, run.pk)


def run_import(
    *,
    team_id: UUID,
    run_id: UUID,
    tools: Tools,
    seconds: float | None = None,
    on_progress: Callable[[int], object] = lambda _: None,
) -> bool:
    """Go on with an import unless another worker does or it has ended; returns whether it ended.

    Items leave the queue together with their count: a run that is killed is taken over where it
    was, and nothing is stored twice. A batch that is refused, or fails at its last attempt, is
    written in halves, so that what is wrong with one item keeps out that one alone. When `seconds`
    are over, the rest is queued again. `on_progress` gets the number of items done.
    """
    leave_queue(IMPORT_TASK, team_id, run_id)
    with exclusively(f"import|{run_id}") as is_free:
        run = _begun(team_id, run_id, database_now()) if is_free else None
        if run is None:
            return False
        started = time.monotonic()
        try:
            while (done := _write_next(team_id, run_id, tools)) is not None:
                on_progress(done)
                if seconds is not None and time.monotonic() - started >= seconds:
                    with team_scope(team_ids=[team_id], actor=ACTOR):
                        mine = _under_way(team_id, run_id)
                        mine.update(state=ImportRun.State.QUEUED, attempts=0)
                    break
            else:
                return True
        except _AWAY:
            # The next sweep publishes the import again.
            raise
        except Exception as error:
            _note_failure(team_id, run_id, error, database_now())
            raise
    publish(run)
    return False


def _begun(team_id: UUID, run_id: UUID, now: datetime) -> ImportRun | None:
    """Count an attempt at an import that is due; None for any other."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = ImportRun.objects.filter(
            team_id=team_id, pk=run_id, state__in=UNFINISHED, due_at__lte=now
        )
        rows.update(state=ImportRun.State.RUNNING, attempts=F("attempts") + 1)
        return _under_way(team_id, run_id).first()


def _under_way(
    team_id: UUID, run_id: UUID, *states: ImportRun.State
) -> QuerySet[ImportRun, ImportRun]:
    """The import while it is running, or in one of the other states."""
    return ImportRun.objects.filter(
        team_id=team_id, pk=run_id, state__in=[ImportRun.State.RUNNING, *states]
    )


def _write_next(team_id: UUID, run_id: UUID, tools: Tools) -> int | None:
    """Write the next batch; returns its items, None when none is left or it was cancelled."""
    with team_scope(team_ids=[team_id], actor=ACTOR):
        mine = _under_way(team_id, run_id)
        run = mine.first()
        if run is None:
            return None
        batch = _batches_of(run).order_by("number").first()
        if batch is None:
            mine.update(state=ImportRun.State.DONE, finished_at=database_now())
            return None
        if not batch.items:  # an erasure took them
            batch.delete()
            return 0
    parts = [batch.items]
    while parts:
        part = parts.pop()
        try:
            if is_message(part[0]):
                _write_messages(run, batch, part, database_now())
            else:
                _write_memories(run, batch, part, tools, database_now())
            continue
        except _AWAY:
            raise
        except _ChangedError:
            return 0  # it is read again
        except DomainError as error:
            problem = error.message
        except Exception as error:
            if run.attempts < settings.JOB_MAX_ATTEMPTS:
                raise
            logger.exception("A part of import %s failed for the last time.", run.pk)
            problem = _failed(error)
        if len(part) > 1:
            middle = len(part) // 2
            parts += [part[middle:], part[:middle]]
            continue
        with team_scope(team_ids=[team_id], actor=ACTOR):
            is_running = _under_way(team_id, run_id).select_for_update().exists()
            if is_running and _take(run, batch, part):
                _note_done(run, part, new=0, failed=[_failure(part[0], problem)])
    return len(batch.items)


class _ChangedError(Exception):
    """An erasure took items out of the batch since it was read."""


def _write_messages(run: ImportRun, batch: ImportBatch, part: list[Item], now: datetime) -> None:
    """Store messages and jobs of their extraction in one transaction."""
    viewer = Viewer(team_id=run.team_id, actor=run.actor)

    def transaction() -> None:
        with team_scope(team_ids=[run.team_id], actor=run.actor):
            if not _under_way(run.team_id, run.pk).select_for_update().exists():
                return
            # An erasure takes items out of it: before this, or after they are messages.
            if not (items := _take(run, batch, part)):
                return
            has_memory = flags_of_id(team_id=run.team_id).memory
            users = {item["user"] for item in items}
            people = ensure_end_users(team_id=run.team_id, external_ids=users)
            agent = cache(lambda slug: ensure_agent(team_id=run.team_id, slug=slug))
            project = cache(lambda slug: ensure_project(team_id=run.team_id, slug=slug))
            new, failed, jobs = 0, list[dict[str, str]](), list[Job]()
            for _, group in groupby(items, key=_conversation):
                first, *others = group
                conversation, is_new = start_conversation(
                    team_id=run.team_id,
                    agent=agent(first["agent"]),
                    end_user=people[first["user"]],
                    project=project(first["project"]) if first.get("project") else None,
                    thread_id=first["thread_id"],
                    started_at=_time(first),
                )
                if not is_new:
                    found = conversation.pk
                    conversation = visible_conversation(viewer=viewer, conversation_id=found)
                last = conversation.last_position
                said = [first, *others]
                given = list(map(_message, said))
                rows = append_messages(conversation=conversation, messages=given, now=now)
                new += conversation.last_position - last
                failed += [
                    _failure(item, "A message of this id is stored with another text.")
                    for item, row in zip(said, rows, strict=True)
                    if row.content != item["content"]
                ]
                # The sweep publishes the jobs, some at a time: thousands at once would hold up the
                # tasks of others, and the rest of this import.
                job = has_memory and queue_extraction(conversation=conversation, is_capped=False)
                jobs += [job] if job else []
            if jobs and not run.does_extract:
                Job.objects.filter(team_id=run.team_id, pk__in=[job.pk for job in jobs]).update(
                    state=Job.State.DONE, done_position=F("to_position"), finished_at=now
                )
            _note_done(run, items, new=new, failed=failed)

    run_write(transaction)


def _message(item: Item) -> NewMessage:
    return NewMessage(
        role=item["role"],
        content=item["content"],
        name=item["name"],
        created_at=_time(item),
        external_id=item["external_id"],
        source=item.get("source", ""),
    )


def _write_memories(
    run: ImportRun, batch: ImportBatch, part: list[Item], tools: Tools, now: datetime
) -> None:
    """Write memories by the write path, then count them: a repetition is stored once."""

    def confirm() -> None:
        rows = _batches_of(run).filter(number=batch.number)
        if not rows.filter(users=batch.users).exists():
            raise _ChangedError

    results = remember(
        viewer=Viewer(team_id=run.team_id, actor=run.actor),
        stated=[_stated(item) for item in part],
        tools=tools,
        now=now,
        reason=f"imported from {run.format}",
        extractor=IMPORTED,
        is_import=True,
        confirm=confirm,
    )
    with team_scope(team_ids=[run.team_id], actor=ACTOR):
        # Written memories count although the import was cancelled meanwhile.
        mine = _under_way(run.team_id, run.pk, ImportRun.State.CANCELLED)
        if mine.select_for_update().exists():
            _take(run, batch, part)
            new = sum(result.outcome not in _NOT_NEW for result in results)
            _note_done(run, part, new=new, failed=[])


def _take(run: ImportRun, batch: ImportBatch, part: list[Item]) -> list[Item]:
    """Take items off the queue and return those that stood there still; call it in the scope.

    The row stays until it is empty: an erasure that waits for it takes out what is left.
    """
    rows = _batches_of(run).filter(number=batch.number)
    row = rows.select_for_update().first()
    if row is None:
        return []
    wanted = {(item["at"], item["external_id"]) for item in part}
    taken, rest = list[Item](), list[Item]()
    for item in row.items:
        is_wanted = (item["at"], item["external_id"]) in wanted
        (taken if is_wanted else rest).append(item)
    if rest:
        rows.update(items=rest)
    else:
        rows.delete()
    return taken


_OPTIONAL = ("agent", "user", "project", "importance", "payload", "category")


def _stated(item: Item) -> StatedMemory:
    form = Form(item["form"]) if item.get("form") else None
    is_event = form is Form.EPISODE
    given = {name: item[name] for name in _OPTIONAL if name in item}
    return StatedMemory(
        content=item["content"],
        memory_type=MemoryType(item["memory_type"]),
        subject=item["subject"],
        tags=tuple(item["tags"]),
        external_id=item["external_id"],
        created_at=_time(item),
        form=form,
        valid_from=_time(item) if is_event else _time(item, "valid_from"),
        valid_to=_time(item, "valid_to"),
        # Events never contradict each other, and a log has thousands.
        check=not is_event,
        # Whoever imports a file has not stated what is in it.
        source=weakest((Source.AGENT, Source(item.get("source", Source.AGENT)))),
        **given,
    )


def _time(item: Item, field: str = "created_at") -> datetime | None:
    return datetime.fromisoformat(item[field]) if item.get(field) else None


def _failure(item: Item, problem: str) -> dict[str, str]:
    return {"place": item["at"], "problem": problem}


def _note_done(
    run: ImportRun, items: list[Item], *, new: int, failed: list[dict[str, str]]
) -> None:
    """Count items that left the queue; call it in the scope, with the run locked."""
    run.refresh_from_db(fields=["errors"])
    _under_way(run.team_id, run.pk, ImportRun.State.CANCELLED).update(
        done=F("done") + len(items) - len(failed),
        new=F("new") + new,
        failed=F("failed") + len(failed),
        errors=[*run.errors, *failed][:MAX_ERRORS],
        attempts=0,
    )


def _note_failure(team_id: UUID, run_id: UUID, error: Exception, now: datetime) -> None:
    """Let the import wait for a pause that doubles, or give it up after the last attempt."""
    logger.exception("Import %s failed.", run_id)
    with team_scope(team_ids=[team_id], actor=ACTOR):
        mine = _under_way(team_id, run_id)
        run = mine.first()
        if run is None:
            return
        if run.attempts < settings.JOB_MAX_ATTEMPTS:
            mine.update(state=ImportRun.State.QUEUED, due_at=now + pause_after(run.attempts))
            return
        problem = {"place": "", "problem": _failed(error)}
        mine.update(
            state=ImportRun.State.FAILED,
            errors=[problem, *run.errors][:MAX_ERRORS],
            finished_at=now,
        )
        _batches_of(run).delete()


def _failed(error: Exception) -> str:
    return f"It failed again and again: {type(error).__name__}."
