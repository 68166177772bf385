"""What a write reads of the memories that new ones are compared with, and of past decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.models import Memory
from memory.models.memory import LIVE
from memory.selectors.loading.built_rows import built
from memory.selectors.sql_files import load_sql_parts
from teams.prepared import fetch_planned

_COMPARED = (
    "id",
    "team_id",
    "content",
    "subject",
    "created_at",
    "memory_type",
    "agent_id",
    "end_user_id",
    "project_id",
    "category",
    "form",
    "tags",
)
_WHOLE = tuple(field.attname for field in Memory._meta.concrete_fields)
_SQL = load_sql_parts(__file__, "comparing.sql")
# Behind dimensions and an unused field of 16 bits each.
_NUMBERS_FROM = 4
_READ = _SQL["live"].format(columns=", ".join(_COMPARED))
_LOCK = _SQL["live"].format(columns=", ".join(_WHOLE)) + " ORDER BY id FOR UPDATE"
_FACTS = _SQL["facts"].format(columns=", ".join(_WHOLE))
_OF_NOBODY, _OF_USER = (_SQL["retired"].format(owner=each) for each in ("IS NULL", "= %(user)s"))
_SAID = (
    "id",
    "team_id",
    "memory_type",
    "agent_id",
    "end_user_id",
    "project_id",
    "category",
    "status",
    "extraction_pass",
)


def live_memories(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Those that are live, with what compares them; other fields are read when asked for."""
    rows = fetch_planned(_READ, {"team": team_id, "ids": list(ids), "live": list(LIVE)})
    return {row[0]: built(Memory, dict(zip(_COMPARED, row, strict=True))) for row in rows}


def locked_memories(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Those that are live, whole, locked in the order of ids until the transaction ends."""
    rows = fetch_planned(_LOCK, {"team": team_id, "ids": list(ids), "live": list(LIVE)})
    memories = (built(Memory, dict(zip(_WHOLE, row, strict=True))) for row in rows)
    return {memory.pk: memory for memory in memories}


def live_facts(*, team_id: UUID, keys: Iterable[bytes]) -> list[Memory]:
    """The live memories that stand under those keys of equal facts, whole."""
    rows = fetch_planned(_FACTS, {"team": team_id, "keys": list(keys)})
    return [built(Memory, dict(zip(_WHOLE, row, strict=True))) for row in rows]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What compares a stored memory by its meaning: its unit vector, and whose and whence it is."""

    vector: NDArray[np.float32]
    agent_id: UUID | None
    extraction_pass: int | None


def meanings_of(*, team_id: UUID, ids: Iterable[UUID], embedding_model: str) -> dict[UUID, Meaning]:
    """Those of the memories that have a vector of the model."""
    given = {"team": team_id, "ids": list(ids), "model": embedding_model}
    return {
        pk: Meaning(
            np.frombuffer(sent, dtype=">f2", offset=_NUMBERS_FROM).astype(np.float32),
            agent_id,
            extraction_pass,
        )
        for pk, agent_id, extraction_pass, sent in fetch_planned(_SQL["meanings"], given)
        if sent is not None
    }


def retired_sources(
    *, team_id: UUID, end_user_id: UUID | None, keys: Iterable[bytes]
) -> dict[bytes, set[UUID]]:
    """By key of facts about that person, or nobody, the messages that gave what is retired."""
    given = {"team": team_id, "user": end_user_id, "keys": list(keys)}
    found: dict[bytes, set[UUID]] = {}
    for key, message_ids in fetch_planned(_OF_USER if end_user_id else _OF_NOBODY, given):
        found.setdefault(bytes(key), set()).update(message_ids)
    return found


@dataclass(frozen=True, slots=True)
class Decision:
    """That people settled a contradiction one side of which, `said`, has certain words.

    `near` is the live memory that it was looked for by, `depth` versions after the one that was
    settled about; None for an objection, which is settled about `said` alone. `is_first` says
    that `said` is the contradiction's `memory_a`, `key` is that of its words and readers.
    """

    near: UUID | None
    depth: int
    resolution: str
    by: str
    at: datetime
    note: str
    is_of_two: bool
    is_first: bool
    key: bytes
    said: Memory


def decisions_on(*, team_id: UUID, keys: Iterable[bytes], near: Sequence[UUID]) -> list[Decision]:
    """What people, and no judge, settled about memories that stood under those keys, oldest first.

    Found are objections, and what was settled against one of the live memories `near`, or against
    an earlier version of one.
    """
    rows = fetch_planned(
        _SQL["decisions"], {"team": team_id, "keys": list(keys), "near": list(near)}
    )
    found = []
    for near_by, depth, how, by, at, note, is_of_two, is_first, key, *said in rows:
        memory = built(Memory, dict(zip(_SAID, said, strict=True)))
        found.append(
            Decision(near_by, depth, how, by, at, note, is_of_two, is_first, bytes(key), memory)
        )
    return found
