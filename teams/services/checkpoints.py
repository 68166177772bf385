"""A thread's saved state: versions, no lost updates, a bounded history (seed 004 §15)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import QuerySet

from teams.errors import UNCONDITIONAL, Condition, InvalidError, NotFoundError, TooLargeError
from teams.ids import new_id
from teams.models import Checkpoint
from teams.prepared import sql_text


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """Identifies a saved state: a thread of an end user, of one agent or of the team itself."""

    team_id: UUID
    end_user_id: UUID
    thread_id: str
    agent_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """A version of a thread's state without the state; `versions` can be read, the latest first."""

    key: ThreadKey
    version: int
    size: int
    actor: str
    saved_at: datetime
    versions: tuple[int, ...]


_SAVE = sql_text("teams", "save_checkpoint")


def checkpoint_text(
    data: Mapping[str, object], *, what: str = "A checkpoint", field: str = "data"
) -> str:
    """The data as compact JSON; raises TooLargeError and InvalidError."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidError("Must be valid Unicode text.", field=field) from None
    except ValueError:
        raise InvalidError("Numbers must be finite.", field=field) from None
    except RecursionError:
        raise InvalidError("It is nested too deeply.", field=field) from None
    check_size(size, what=what, field=field)
    return text


def check_size(size: int, *, what: str = "A checkpoint", field: str = "data") -> None:
    """Raise TooLargeError where it has more than CHECKPOINT_MAX_BYTES."""
    most = settings.CHECKPOINT_MAX_BYTES
    if size > most:
        raise TooLargeError(
            f"{what} holds at most {most} bytes, and this one has {size}. Keep what is large"
            " elsewhere and its address here.",
            field=field,
        )


def save_checkpoint(
    *, key: ThreadKey, text: str, actor: str, now: datetime, condition: Condition = UNCONDITIONAL
) -> Saved:
    """Stores the next version of a thread's state, and deletes the oldest; raises StaleError."""
    depth, size = settings.CHECKPOINT_VERSIONS, len(text.encode())
    given = {
        "id": new_id(),
        "team": key.team_id,
        "agent": key.agent_id,
        "end_user": key.end_user_id,
        "thread": key.thread_id,
        "data": text,
        "size": size,
        "actor": actor,
        "now": now,
        "depth": depth,
        "versions": None if condition.versions is None else list(condition.versions),
        "least": 1 if condition.must_exist else 0,
        "most": 0 if condition.must_be_new else None,
        "other_than": list(condition.other_than),
    }
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_SAVE, given)
            stored, version = cursor.fetchone() or ([], None)
        if version is not None:
            kept = [each for each in stored if each > version - depth]
            return Saved(key, version, size, actor, now, (version, *kept))
        condition.check(stored=max(stored, default=0), what="a checkpoint of this thread")
        # Another writer saved the same version first, which this statement did not see yet.


def load_checkpoint(*, key: ThreadKey, version: int | None = None) -> tuple[Saved, str]:
    """The thread's current state, or an earlier version, and its JSON; raises NotFoundError."""
    rows = _rows(key).order_by("-version")
    found = (
        (rows if version is None else rows.filter(version=version))
        .annotate(kept=ArraySubquery(rows.values("version")))
        .first()
    )
    if found is None:
        raise NotFoundError(
            "There is no checkpoint of this thread and user."
            if version is None
            else f"Version {version} of this checkpoint is not kept, or never was."
        )
    saved = Saved(key, found.version, found.size, found.actor, found.saved_at, tuple(found.kept))
    return saved, found.data


def _rows(key: ThreadKey) -> QuerySet[Checkpoint, Checkpoint]:
    rows = Checkpoint.objects.filter(
        team_id=key.team_id, end_user_id=key.end_user_id, thread_id=key.thread_id
    )
    return (
        rows.filter(agent_id=key.agent_id) if key.agent_id else rows.filter(agent_id__isnull=True)
    )
