"""Everything stored about one person, line by line, in constant memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.db.models import Model, Q, QuerySet

from audit.models import MemoryLog, OperationalEvent
from memory.domain.audience import Viewer
from memory.domain.rendering import on_one_line
from memory.models import Compaction, Contradiction, ExternalName, Job, Memory, MemoryRelation
from memory.satellite import satellites
from routing.models import RoutingDecision, SpendEntry
from teams.errors import ForbiddenError, NotFoundError
from teams.models import Checkpoint, Conversation, EndUser, Message
from teams.tenancy import team_scope

BATCH = 500
_KEPT_BACK = frozenset(
    ["team", "dedupe_key", "value_key", "text_key", "salt", "reason_salt", "due_at", "query_hash"]
)

_ABOUT_NOBODY = """
SELECT m.id FROM palimpsest_memories_of_person(%(team)s, %(person)s) AS own
JOIN memory_memory m ON m.team_id = %(team)s AND m.id = own.memory_id AND m.end_user_id IS NULL
ORDER BY m.id
"""

# The kernel's rows that name the person and belong to no conversation and no memory.
_OF_THE_PERSON: dict[str, type[Model]] = {
    "checkpoint": Checkpoint,
    "event": OperationalEvent,
    "routing_decision": RoutingDecision,
    "spend": SpendEntry,
}
Rows = QuerySet[Any, Any]  # Any: of whatever model


@dataclass(slots=True)
class PersonExport:
    """Iterates over lines of JSON, each with its `kind`; the last one counts the others.

    With `forms` it has only the memories of these forms, with their log, names and links. A stream
    without the last line was cut off. Every batch of rows is read in a transaction of its own,
    so that a slow reader holds none: what is written meanwhile may or may not be among them.
    """

    viewer: Viewer
    end_user_id: UUID
    now: datetime
    batch: int = BATCH
    forms: Sequence[str] = ()
    _counts: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[bytes]:
        person = self.end_user_id
        if not self.forms:
            yield from self._told()
        # A contradiction of two of them is told with its first side.
        of_first, of_second = Q(memory_a__end_user=person), Q(memory_b__end_user=person)
        for batch in self._batches(self._formed(Memory.objects.filter(end_user_id=person))):
            first, second = _sides_in(batch)
            yield from self._memories(batch, touching=first | second & ~of_first)
        others = self._about_nobody()
        for batch in self._batches(self._formed(Memory.objects.filter(id__in=others))):
            first, second = _sides_in(batch)
            told = of_first | of_second | second & ~first & Q(memory_a_id__in=others)
            yield from self._memories(batch, touching=(first | second) & ~told)
        if not self.forms:
            yield from self._others()
        counts = dict(self._counts)
        yield _line({"kind": "end", "exported_at": self.now, "counts": counts})

    def _told(self) -> Iterator[bytes]:
        team, person = self.viewer.team_id, self.end_user_id
        yield from self._all("person", EndUser.objects.filter(team_id=team, id=person))
        talks = Conversation.objects.filter(team_id=team, end_user_id=person)
        for batch in self._batches(talks):
            yield from self._lines("conversation", batch)
            ids = [row.pk for row in batch]
            for kind, model in (("message", Message), ("job", Job), ("compaction", Compaction)):
                rows = model._default_manager.filter(team_id=team, conversation_id__in=ids)
                yield from self._all(kind, rows)

    def _others(self) -> Iterator[bytes]:
        found = [(kind, model, "end_user_id") for kind, model in _OF_THE_PERSON.items()]
        for satellite in satellites():
            for kind, (name, lookup) in satellite.of_person.items():
                found.append((kind, satellite.get_model(name), lookup))
        for kind, model, lookup in found:
            given = {"team_id": self.viewer.team_id, lookup: self.end_user_id}
            yield from self._all(kind, model._default_manager.filter(**given))

    def _formed(self, rows: Rows) -> Rows:
        rows = rows.filter(team_id=self.viewer.team_id)
        return rows.filter(form__in=self.forms) if self.forms else rows

    def _about_nobody(self) -> list[UUID]:
        """The memories about nobody that rest on the person alone: few, so their ids at once.

        They are those that an erasure takes as well.
        """
        team = self.viewer.team_id
        with team_scope(team_ids=[team], actor=self.viewer.actor), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute(_ABOUT_NOBODY, {"team": team, "person": self.end_user_id})
            return [memory_id for (memory_id,) in cursor.fetchall()]

    def _memories(self, batch: Sequence[Memory], *, touching: Q) -> Iterator[bytes]:
        """The memories, their log, names and links, and the contradictions `touching` them."""
        yield from self._lines("memory", batch)
        ids = [row.pk for row in batch]
        own: dict[str, Rows] = {
            "log": MemoryLog.objects.filter(memory_id__in=ids),
            "external_name": ExternalName.objects.filter(memory_id__in=ids),
            "relation": MemoryRelation.objects.filter(from_memory_id__in=ids),
            "contradiction": Contradiction.objects.filter(touching),
        }
        for kind, rows in own.items():
            key = "seq" if kind == "log" else "id"
            yield from self._all(kind, rows.filter(team_id=self.viewer.team_id), key=key)

    def _all(self, kind: str, rows: Rows, *, key: str = "id") -> Iterator[bytes]:
        for batch in self._batches(rows, key=key):
            yield from self._lines(kind, batch)

    def _batches(self, rows: Rows, *, key: str = "id") -> Iterator[list[Any]]:
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


def _sides_in(batch: Sequence[Memory]) -> tuple[Q, Q]:
    """The contradictions whose first, and whose second, memory is one of these."""
    ids = [row.pk for row in batch]
    return Q(memory_a_id__in=ids), Q(memory_b_id__in=ids)


def export_person(
    *,
    viewer: Viewer,
    user: str,
    now: datetime,
    batch: int = BATCH,
    forms: Sequence[str] = (),
) -> PersonExport:
    """Exports the data held about the person of that external id; with `forms`, only such memories.

    Raises ForbiddenError for a key of one agent or of projects, which sees only its part, and
    NotFoundError for a person that the team does not know.
    """
    if viewer.agent_id is not None or viewer.project_ids:
        raise ForbiddenError("This needs a key of the team, bound to no agent and no project.")
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        known = EndUser.objects.filter(team_id=viewer.team_id, external_id=user)
        end_user_id = known.values_list("id", flat=True).first()
    if end_user_id is None:
        raise NotFoundError("There is no such user.", field="user")
    return PersonExport(viewer=viewer, end_user_id=end_user_id, now=now, batch=batch, forms=forms)


def _shown(row: Model) -> dict[str, object]:
    """Every column of the row, except those that concern only the database or a worker."""
    shown: dict[str, object] = {}
    for column in row._meta.concrete_fields:
        if column.name in _KEPT_BACK:
            continue
        value = getattr(row, column.attname)
        if column.attname == "data" and isinstance(value, str):
            value = json.loads(value)  # stored as text
        elif isinstance(value, bytes | memoryview):
            value = bytes(value).hex()
        elif column.attname == "state" and isinstance(value, dict):
            value = {name: each for name, each in value.items() if name not in _KEPT_BACK}
        # The line has a kind of its own.
        shown["request_kind" if column.attname == "kind" else column.attname] = value
    return shown


def _line(value: dict[str, object]) -> bytes:
    written = json.dumps(value, ensure_ascii=False, cls=DjangoJSONEncoder)
    return f"{on_one_line(written)}\n".encode()
