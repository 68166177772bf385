"""All that is held about one person, line by line, in a memory that does not grow with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, Q, QuerySet

from audit.models import MemoryLog, OperationalEvent
from memory.domain.viewer import Viewer
from memory.models import Compaction, Contradiction, Job, Memory, MemoryRelation
from teams.errors import ForbiddenError, NotFoundError
from teams.models import Checkpoint, Conversation, EndUser, Message
from teams.tenancy import team_scope

BATCH = 500
_KEPT_BACK = frozenset({"team", "dedupe_key", "salt", "claim", "lease_until"})

Rows = QuerySet[Any, Any]  # Any: of whatever model


@dataclass(slots=True)
class PersonExport:
    """Iterates over lines of JSON, each with its `kind`; the last one counts the others.

    A stream without that line was cut off. Every batch of rows is read in a transaction of its own,
    so that a slow reader holds none: what is written meanwhile may or may not be among them.
    """

    viewer: Viewer
    end_user_id: UUID
    now: datetime
    batch: int = BATCH
    _counts: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[bytes]:
        team, person = self.viewer.team_id, self.end_user_id
        yield from self._all("person", EndUser.objects.filter(team_id=team, id=person))
        talks = Conversation.objects.filter(team_id=team, end_user_id=person)
        for batch in self._batches(talks):
            yield from self._lines("conversation", batch)
            ids = [row.pk for row in batch]
            for kind, model in (("message", Message), ("job", Job), ("compaction", Compaction)):
                yield from self._all(
                    kind, model._default_manager.filter(team_id=team, conversation_id__in=ids)
                )
        for batch in self._batches(Memory.objects.filter(team_id=team, end_user_id=person)):
            yield from self._lines("memory", batch)
            yield from self._of_memories([row.pk for row in batch])
        checkpoints = Checkpoint.objects.filter(team_id=team, end_user_id=person)
        yield from self._all("checkpoint", checkpoints)
        yield from self._all(
            "event", OperationalEvent.objects.filter(team_id=team, end_user_id=person)
        )
        counts = dict(self._counts)
        yield _line({"kind": "end", "exported_at": self.now, "counts": counts})

    def _of_memories(self, ids: Sequence[UUID]) -> Iterator[bytes]:
        team = self.viewer.team_id
        log = MemoryLog.objects.filter(team_id=team, memory_id__in=ids)
        yield from self._all("log", log, key="seq")
        links = MemoryRelation.objects.filter(team_id=team, from_memory_id__in=ids)
        yield from self._all("relation", links)
        # One that touches two of them is told with the first of its sides.
        touching = Contradiction.objects.filter(
            Q(memory_a_id__in=ids)
            | Q(memory_b_id__in=ids) & ~Q(memory_a__end_user_id=self.end_user_id),
            team_id=team,
        )
        yield from self._all("contradiction", touching)

    def _all(self, kind: str, rows: Rows, *, key: str = "id") -> Iterator[bytes]:
        for batch in self._batches(rows, key=key):
            yield from self._lines(kind, batch)

    def _batches(self, rows: Rows, *, key: str = "id") -> Iterator[list[Any]]:
        """The rows in the order of their keys, so many at a time."""
        after: object = None
        while True:
            following = rows if after is None else rows.filter(**{f"{key}__gt": after})
            with team_scope(team_ids=[self.viewer.team_id], actor=self.viewer.actor):
                batch = list(following.order_by(key)[: self.batch])
            if batch:
                yield batch
            if len(batch) < self.batch:
                return
            after = getattr(batch[-1], key)

    def _lines(self, kind: str, batch: Sequence[Model]) -> Iterator[bytes]:
        for row in batch:
            self._counts[kind] += 1
            yield _line({"kind": kind, **_shown(row)})


def export_person(
    *,
    viewer: Viewer,
    user: str,
    now: datetime,
    batch: int = BATCH,
) -> PersonExport:
    """What is held about the person of that external id.

    Raises ForbiddenError for a key of one agent, which sees only its part, and NotFoundError for a
    person that the team does not know.
    """
    if viewer.agent_id is not None:
        raise ForbiddenError("This needs a key of the team; this one acts only as one agent.")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        known = EndUser.objects.filter(team_id=viewer.team_id, external_id=user)
        end_user_id = known.values_list("id", flat=True).first()
    if end_user_id is None:
        raise NotFoundError("There is no such user.", field="user")
    return PersonExport(viewer=viewer, end_user_id=end_user_id, now=now, batch=batch)


_AS_TEXT: dict[type[Model], dict[str, Callable[[Any], object]]] = {
    # Stored as the text of JSON.
    Checkpoint: {"data": json.loads},
}


def _shown(row: Model) -> dict[str, object]:
    """Every column of the row, except those that concern only the database or a worker."""
    special = _AS_TEXT.get(type(row), {})
    shown: dict[str, object] = {}
    for column in row._meta.concrete_fields:
        if column.name in _KEPT_BACK:
            continue
        value = getattr(row, column.attname)
        if column.attname in special:
            value = special[column.attname](value)
        elif isinstance(value, bytes | memoryview):
            value = bytes(value).hex()
        elif column.attname == "state" and isinstance(value, dict):
            value = {name: each for name, each in value.items() if name not in _KEPT_BACK}
        shown[column.attname] = value
    return shown


def _line(value: dict[str, object]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, cls=DjangoJSONEncoder) + "\n").encode()
