"""A thread's saved state: versions, no lost updates, a bounded history (seed 004 §15)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from teams.errors import InvalidError, NotFoundError, StaleError, TooLargeError
from teams.models import Checkpoint


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """Whose state of which thread; without an agent the team's own."""

    team_id: UUID
    end_user_id: UUID
    thread_id: str
    agent_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of the stored version for a save to happen.

    With `versions` it must be one of these, with `must_exist` there must be one, with `must_be_new`
    there must be none, and it must be none of `other_than`.
    """

    versions: frozenset[int] | None = None
    must_exist: bool = False
    must_be_new: bool = False
    other_than: frozenset[int] = frozenset()


UNCONDITIONAL = Condition()


def checkpoint_text(data: Mapping[str, object]) -> str:
    """The data as compact JSON, as it is stored and given back.

    Raises TooLargeError beyond CHECKPOINT_MAX_BYTES of UTF-8, and InvalidError for what JSON cannot
    say again.
    """
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidError("Must be valid Unicode text.", field="data") from None
    except ValueError:
        raise InvalidError("Numbers must be finite.", field="data") from None
    except RecursionError:
        raise InvalidError("It is nested too deeply.", field="data") from None
    most = settings.CHECKPOINT_MAX_BYTES
    if size > most:
        raise TooLargeError(
            f"A checkpoint holds at most {most} bytes of JSON, and this one has {size}. Keep what"
            " is large elsewhere and its address here.",
            field="data",
        )
    return text


def save_checkpoint(
    *, key: ThreadKey, text: str, actor: str, now: datetime, condition: Condition = UNCONDITIONAL
) -> Checkpoint:
    """Store the next version of a thread's state and drop those beyond CHECKPOINT_VERSIONS.

    `text` comes from `checkpoint_text`. Savers of one thread take turns. Raises StaleError when the
    condition does not hold of the version that stands. Call it in the team's scope.
    """
    _take_turn(key)
    stored = _rows(key).order_by("-version").values_list("version", flat=True).first() or 0
    _check(condition, stored)
    saved = Checkpoint.objects.create(
        team_id=key.team_id,
        agent_id=key.agent_id,
        end_user_id=key.end_user_id,
        thread_id=key.thread_id,
        version=stored + 1,
        data=text,
        size=len(text.encode()),
        actor=actor,
        saved_at=now,
    )
    if saved.version > settings.CHECKPOINT_VERSIONS:
        _rows(key).filter(version__lte=saved.version - settings.CHECKPOINT_VERSIONS).delete()
    return saved


def load_checkpoint(*, key: ThreadKey, version: int | None = None) -> Checkpoint:
    """The thread's state that stands, or an earlier one that is still kept.

    Raises NotFoundError when there is none. Call it in the team's scope.
    """
    rows = _rows(key).order_by("-version")
    found = (rows if version is None else rows.filter(version=version)).first()
    if found is None:
        raise NotFoundError(
            "There is no checkpoint of this thread and user."
            if version is None
            else f"Version {version} of this checkpoint is not kept, or never was."
        )
    return found


def kept_versions(*, key: ThreadKey) -> list[int]:
    """The versions that can still be read, the latest first. Call it in the team's scope."""
    return list(_rows(key).order_by("-version").values_list("version", flat=True))


def _check(condition: Condition, stored: int) -> None:
    if condition.must_be_new and stored:
        raise StaleError(
            f"There is a checkpoint of this thread already, version {stored}. Load it, or save with"
            f' If-Match: "{stored}".'
        )
    wanted = condition.versions
    if (condition.must_exist or wanted is not None) and not stored:
        raise StaleError("There is no checkpoint of this thread yet; save it without If-Match.")
    if wanted is not None and stored not in wanted:
        raise StaleError(
            f"The checkpoint is at version {stored} now: somebody saved it in between. Load it,"
            f' bring your change to it and save with If-Match: "{stored}".'
        )
    if stored in condition.other_than:
        raise StaleError(f"The checkpoint is at version {stored}, which the request excludes.")


def _take_turn(key: ThreadKey) -> None:
    """Let savers of one thread come one after the other, the first one included."""
    turn = f"checkpoint|{key.team_id}|{key.agent_id}|{key.end_user_id}|{key.thread_id}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [turn])


def _rows(key: ThreadKey) -> QuerySet[Checkpoint, Checkpoint]:
    rows = Checkpoint.objects.filter(
        team_id=key.team_id, end_user_id=key.end_user_id, thread_id=key.thread_id
    )
    return (
        rows.filter(agent_id=key.agent_id) if key.agent_id else rows.filter(agent_id__isnull=True)
    )
