"""Imports: a file is read and checked as a whole, and what it holds waits in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import IO, TypeVar
from uuid import UUID

from memory.domain.audience import Viewer
from memory.satellites.transfer.formats.items import (
    ImportFileError,
    Item,
    ItemMaker,
    Names,
    is_message,
)
from memory.satellites.transfer.formats.reading import Format, read_items
from memory.satellites.transfer.models import ImportBatch, ImportRun
from memory.writing.background import send_after_commit
from teams.errors import ConflictError, NotFoundError
from teams.services.people import ensure_end_users
from teams.services.team_settings import flags_of_id, require_memory
from teams.tenancy import team_scope

IMPORT_TASK = "memory.satellites.transfer.tasks.run_import"
UNFINISHED = (ImportRun.State.QUEUED, ImportRun.State.RUNNING)
# Written in one transaction.
MESSAGES_A_BATCH = 500
MEMORIES_A_BATCH = 100
# A batch takes no further item once it has so many characters, and as many batches are stored
# together as have them.
CHARS_A_BATCH = 1_000_000
_STORED_TOGETHER = 50

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
    """Read a file, keep its items in batches and queue their writing, all or nothing.

    Memory grows with the largest record of the file, not with the file. Without a format, the
    contents say which; `name` is the file's own. `names` are whose the items are that name nobody.
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
        for rows in _parted(_batches(run, items), _STORED_TOGETHER, chars=_chars_of_batch):
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
    """The items in their order: messages of one conversation together, and memories."""
    number = 0
    for key, group in groupby(items, key=_conversation):
        most = MESSAGES_A_BATCH if key else MEMORIES_A_BATCH
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


def _chars(item: Item) -> int:
    return len(item["content"])


def _chars_of_batch(batch: ImportBatch) -> int:
    return sum(map(_chars, batch.items))


def _conversation(item: Item) -> tuple[str, ...]:
    """What names the conversation of a message; nothing for a memory."""
    if not is_message(item):
        return ()
    return tuple(str(item.get(name)) for name in ("thread_id", "agent", "user", "project"))


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
        forget_batches(run)
        run.refresh_from_db()
        return run


def forget_batches(run: ImportRun) -> None:
    """Drop what waits of an import that has ended; call it in the team's scope."""
    ImportBatch.objects.filter(team_id=run.team_id, run=run).delete()


def overdue_imports(*, team_id: UUID, now: datetime) -> list[ImportRun]:
    """Imports that nobody goes on with; call it in the team's scope."""
    rows = ImportRun.objects.filter(team_id=team_id, state__in=UNFINISHED, due_at__lte=now)
    return list(rows.order_by("id"))


def publish(run: ImportRun) -> None:
    """Tell the workers of an import once the transaction commits; the sweep finds lost ones."""
    send_after_commit(IMPORT_TASK, run.team_id, run.pk)
