"""Seals over closed ranges of the log, by which a later change is detected.

A range is closed when every transaction that could have used a number in it has ended. A log row
gets its number after its transaction got its own (palimpsest_enter_log). So: read the last number
used, then take a transaction number, then wait until every earlier transaction has ended. Rows up
to that number which are not visible then never will be; later commits have higher numbers and
belong to a later range. Nothing about this is stored, so it also holds after a dump and restore.

Each seal is an HMAC-SHA-256 over the leaves of its rows and the previous seal, with a key that is
not in the database. Somebody who owns the tables but not the key can only remove the latest seals,
and `verify_log --head` detects that.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self
from uuid import UUID

from django.conf import settings
from django.db import connection

from audit.models import Seal
from teams.tenancy import hold_lock, team_scope

ACTOR = "task:seal_log"
ROWS_PER_SEAL = 10_000
_POLL_SECONDS = 0.02
_NO_SEAL = bytes(32)
LEAF_BYTES = 8 + 32 + 32
_NOTHING = bytes(32)
_READ = """
SELECT seq, memory_id, open, closed, is_erased, fits_text, fits_reason, commit_position
FROM palimpsest_log_leaves(%s, %s, %s, %s)
"""


@dataclass(frozen=True, slots=True)
class Head:
    """The latest seal of a team: note it elsewhere to find later that the chain was cut."""

    number: int
    digest: bytes

    def __str__(self) -> str:
        return f"{self.number}:{self.digest.hex()}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The head that was printed as `text`; raises ValueError."""
        number, _, digest = text.partition(":")
        return cls(int(number), bytes.fromhex(digest))


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


def closed_up_to(*, seconds: float) -> int | None:
    """The number up to which the log is closed; None after `seconds`. Call it in no transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT palimpsest_last_log_number()")
        (last_seq,) = cursor.fetchone()
        cursor.execute("SELECT pg_current_xact_id()::text")
        (mark,) = cursor.fetchone()
        until = time.monotonic() + seconds
        while True:
            cursor.execute(
                "SELECT pg_snapshot_xmin(pg_current_snapshot()) > %s::text::xid8", [mark]
            )
            (ended,) = cursor.fetchone()
            if ended:
                return int(last_seq)
            if time.monotonic() >= until:
                return None
            time.sleep(_POLL_SECONDS)


def seal_team(
    *, team_id: UUID, last_seq: int, now: datetime, rows_per_seal: int = ROWS_PER_SEAL
) -> int:
    """Seals a team's log up to `last_seq` (of `closed_up_to`); returns how many rows."""
    rows = 0
    while True:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            sealed = _seal_next(team_id=team_id, last_seq=last_seq, now=now, most=rows_per_seal)
        rows += sealed
        if sealed < rows_per_seal:
            return rows


def read_leaves(*, team_id: UUID, after_seq: int, last_seq: int, most: int) -> list[Leaf]:
    """Up to `most` rows of the team's log after `after_seq` up to `last_seq`, in order."""
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


def seal_digest(*, seal: Seal, previous: bytes, key: bytes) -> bytes:
    """Returns the expected digest of the seal, after a seal with the digest `previous`."""
    facts = [
        str(seal.team_id),
        seal.number,
        seal.after_seq,
        seal.last_seq,
        seal.rows,
        seal.key_id,
        seal.sealed_at.astimezone(UTC).isoformat(timespec="microseconds"),
        hashlib.sha256(bytes(seal.leaves)).hexdigest(),
        previous.hex(),
    ]
    return hmac.new(key, json.dumps(facts).encode(), hashlib.sha256).digest()


def seal_keys() -> dict[str, bytes]:
    """Every key that seals may have been made with, by its id; the first one makes new ones."""
    start = b"palimpsest log seals"
    keys = [hmac.new(each.encode(), start, hashlib.sha256).digest() for each in settings.SEAL_KEYS]
    return {hashlib.sha256(b"id of " + key).hexdigest()[:16]: key for key in keys}


def _seal_next(*, team_id: UUID, last_seq: int, now: datetime, most: int) -> int:
    hold_lock(f"log-seals|{team_id}")
    rows = Seal.objects.filter(team_id=team_id).order_by("-number")
    last = rows.only("number", "last_seq", "digest", "upto_position").first()
    after = last.last_seq if last is not None else 0
    leaves = read_leaves(team_id=team_id, after_seq=after, last_seq=last_seq, most=most)
    if not leaves:
        return 0
    key_id, key = next(iter(seal_keys().items()))
    positions = [leaf.position for leaf in leaves]
    positions.append(last.upto_position if last is not None else None)
    seal = Seal(
        team_id=team_id,
        number=last.number + 1 if last is not None else 1,
        after_seq=after,
        last_seq=last_seq if len(leaves) < most else leaves[-1].seq,
        rows=len(leaves),
        leaves=b"".join(map(Leaf.packed, leaves)),
        key_id=key_id,
        sealed_at=now,
        # Of the latest commit of these rows and of all that were sealed before.
        upto_position=max((each for each in positions if each is not None), default=None),
    )
    previous = bytes(last.digest) if last is not None else _NO_SEAL
    seal.digest = seal_digest(seal=seal, previous=previous, key=key)
    seal.save(force_insert=True)
    return len(leaves)
