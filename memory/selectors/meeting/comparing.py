"""What a write reads of the memories that new ones meet, in as little time as it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memory.models import Memory
from memory.models.memory import LIVE
from memory.selectors.prepared import fetch_planned
from memory.selectors.showing.built_rows import built

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
)
_WHOLE = tuple(field.attname for field in Memory._meta.concrete_fields)
# The policy of the rows names the team as well, and the planner takes two conditions for two shares
# of the table: of a team it expects next to nothing, and reads all it has by whatever index. So the
# team is named where no index knows it (`IS TRUE`), and the status where none is known to hold it.
_LIVE = """
SELECT {columns} FROM memory_memory
WHERE (team_id = %(team)s) IS TRUE AND id = ANY(%(ids)s) AND status = ANY(%(live)s::text[])
"""
_FACTS = """
SELECT {columns} FROM memory_memory
WHERE (team_id = %(team)s) IS TRUE AND dedupe_key = ANY(%(keys)s::bytea[])
    AND dedupe_key IS NOT NULL AND status IN ('active', 'disputed')
""".format(columns=", ".join(_WHOLE))
# By the owner's index of what searches no longer find: no index knows the keys of what is retired.
_RETIRED = """
SELECT m.dedupe_key, m.source_message_ids
FROM memory_searchentry AS e
CROSS JOIN LATERAL (
    SELECT * FROM memory_memory o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.id = e.memory_id OFFSET 0
) AS m
WHERE e.team_id = %(team)s AND e.end_user_id {owner} AND e.place >= 2
    AND m.dedupe_key = ANY(%(keys)s::bytea[]) AND m.status NOT IN ('active', 'disputed')
"""
_OF_NOBODY, _OF_USER = (_RETIRED.format(owner=each) for each in ("IS NULL", "= %(user)s"))
_MEANINGS = """
SELECT wanted.id, e.agent_id, m.extraction_pass, halfvec_send(CASE %(model)s::text
    WHEN e.embedding_model THEN e.embedding WHEN e.next_model THEN e.next_embedding
END)
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT * FROM memory_searchentry o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.memory_id = wanted.id OFFSET 0
) AS e
CROSS JOIN LATERAL (
    SELECT extraction_pass FROM memory_memory o
    WHERE (o.team_id = %(team)s) IS TRUE AND o.id = wanted.id OFFSET 0
) AS m
"""
# Behind dimensions and an unused field of 16 bits each.
_NUMBERS_FROM = 4
_READ = _LIVE.format(columns=", ".join(_COMPARED))
_LOCK = _LIVE.format(columns=", ".join(_WHOLE)) + "ORDER BY id FOR UPDATE"


def live_memories(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Those of the memories that are live, with what tells what they say and who sees them.

    Whatever else is asked of one is read by itself then.
    """
    rows = fetch_planned(_READ, {"team": team_id, "ids": list(ids), "live": list(LIVE)})
    return {row[0]: built(Memory, dict(zip(_COMPARED, row, strict=True))) for row in rows}


def locked_memories(*, team_id: UUID, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Those of the memories that are live, whole, and no one else's until the transaction ends.

    Everybody locks in the order of ids.
    """
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
        for pk, agent_id, extraction_pass, sent in fetch_planned(_MEANINGS, given)
        if sent is not None
    }


def retired_sources(
    *, team_id: UUID, end_user_id: UUID | None, keys: Iterable[bytes]
) -> dict[bytes, set[UUID]]:
    """By key the messages that gave facts which stood under it and are no longer live.

    The keys are of facts about that person, or about nobody.
    """
    given = {"team": team_id, "user": end_user_id, "keys": list(keys)}
    found: dict[bytes, set[UUID]] = {}
    for key, message_ids in fetch_planned(_OF_USER if end_user_id else _OF_NOBODY, given):
        found.setdefault(bytes(key), set()).update(message_ids)
    return found
