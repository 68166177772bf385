"""The leaves of the log's seals, as PostgreSQL computes them (audit/sql/seals.sql)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

LEAF_BYTES = 8 + 32 + 32
_NOTHING = bytes(32)
_READ = """
SELECT seq, memory_id, open, closed, is_erased, fits_text, fits_reason, commit_position
FROM palimpsest_log_leaves(%s, %s, %s, %s)
"""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One log row in digests.

    `open` covers what outlives an erasure, `closed` the rest (32 zero bytes for an erased row);
    `fits_text` says whether the memory still has the text, or none, that the row says it has,
    `fits_reason` whether the reason is the one it was given, or none. `position` is that of its
    commit, None where that is missing.
    """

    seq: int
    memory_id: UUID
    open: bytes
    closed: bytes
    is_erased: bool
    fits_text: bool
    fits_reason: bool
    position: int | None

    def packed(self) -> bytes:
        """The leaf as a seal keeps it: 72 bytes."""
        return self.seq.to_bytes(8, "big") + self.open + self.closed


def read_leaves(*, team_id: UUID, after_seq: int, last_seq: int, most: int) -> list[Leaf]:
    """Up to `most` rows of the team's log after `after_seq` and up to `last_seq`, in order.

    Call it in the team's scope.
    """
    with connection.cursor() as cursor:
        cursor.execute(_READ, [team_id, after_seq, last_seq, most])
        return [
            Leaf(seq, memory, bytes(opened), bytes(closed or _NOTHING), *rest)
            for seq, memory, opened, closed, *rest in cursor.fetchall()
        ]


def unpacked(leaves: bytes) -> dict[int, tuple[bytes, bytes]]:
    """`open` and `closed` by number, as `Leaf.packed` packed them; a broken rest is left out."""
    places = range(0, len(leaves) - LEAF_BYTES + 1, LEAF_BYTES)
    return {
        int.from_bytes(leaves[at : at + 8], "big"): (
            leaves[at + 8 : at + 40],
            leaves[at + 40 : at + LEAF_BYTES],
        )
        for at in places
    }
