"""What people decided before about the very words that somebody writes now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.models import Memory
from memory.selectors.loading.built_rows import built
from memory.selectors.sql_files import load_sql_parts
from teams.prepared import fetch_planned

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
_DECISIONS = load_sql_parts(__file__, "decisions.sql")["decisions"]


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
    rows = fetch_planned(_DECISIONS, {"team": team_id, "keys": list(keys), "near": list(near)})
    found = []
    for near_by, depth, how, by, at, note, is_of_two, is_first, key, *said in rows:
        memory = built(Memory, dict(zip(_SAID, said, strict=True)))
        found.append(
            Decision(near_by, depth, how, by, at, note, is_of_two, is_first, bytes(key), memory)
        )
    return found
