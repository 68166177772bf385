"""Comparing the log with its seals, and the memories with the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from audit.models import Erasure, MemoryLog, Seal
from audit.selectors.leaves import Leaf, SealedLeaf, read_leaves, unpacked
from audit.services.seals import ROWS_PER_SEAL, Head, seal_digest, seal_keys
from teams.tenancy import team_scope

ACTOR = "command:verify_log"
# A range that was sealed together may have had rows inserted since.
_PAGE = ROWS_PER_SEAL
_FOR_EVER = 2**63 - 1

# Each memory against the last row of its log, and rows of the log without their memory.
_STRAYS = """
WITH last AS (
    SELECT DISTINCT ON (memory_id) memory_id, seq, state
    FROM audit_memorylog WHERE team_id = %(team)s
    ORDER BY memory_id, seq DESC
)
SELECT coalesce(m.id, last.memory_id), last.seq, CASE
    WHEN m.id IS NULL THEN 'memory_missing'
    WHEN last.seq IS NULL THEN 'memory_unlogged'
    ELSE 'memory_changed' END
FROM (SELECT * FROM memory_memory WHERE team_id = %(team)s) AS m
FULL JOIN last ON last.memory_id = m.id
WHERE m.id IS NULL OR last.seq IS NULL
    OR palimpsest_memory_state(to_jsonb(m)) IS DISTINCT FROM last.state - 'erased_at'
ORDER BY 2, 1
LIMIT 1000
"""


class Finding(NamedTuple):
    """Something that is not as it was sealed: what kind, where, and in words."""

    kind: str
    where: str
    words: str

    def __str__(self) -> str:
        return f"{self.where}: {self.words}"


@dataclass(slots=True)
class Verified:
    """What a check of one team's log found; it stands when there are no findings.

    `rows` were compared with seals, `erased` of them are empty because a person was erased, in
    `erasures` erasures; `unsealed` rows are too new for a seal.
    """

    seals: int = 0
    rows: int = 0
    erased: int = 0
    erasures: int = 0
    unsealed: int = 0
    head: Head | None = None
    findings: list[Finding] = field(default_factory=list)


def verify_team(*, team_id: UUID, expected: Head | None = None) -> Verified:
    """Check the whole log of a team in constant memory; changes nothing.

    `expected` is a head that was noted before: the chain must still hold it.
    """
    found = Verified()
    previous, after, number = bytes(32), 0, 0
    erased: Counter[UUID] = Counter()
    for seal_id in _seal_ids(team_id):
        with team_scope(team_ids=[team_id], actor=ACTOR):
            seal = Seal.objects.get(team_id=team_id, pk=seal_id)
            number += 1
            found.findings += _check_chain(seal, number=number, after=after, previous=previous)
            _check_range(seal, found, erased)
        if expected is not None and expected.number == seal.number:
            found.findings += _check_head(seal, expected)
        previous, after, number = bytes(seal.digest), seal.last_seq, seal.number
        found.seals += 1
        found.head = Head(seal.number, previous)
    if expected is not None and (found.head is None or found.head.number < expected.number):
        words = f"the chain ends before seal {expected.number}, which was there before"
        found.findings.append(Finding("seal_missing", f"seal {expected.number}", words))
    _check_rest(team_id, after, found, erased)
    return found


def _seal_ids(team_id: UUID) -> Sequence[UUID]:
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = Seal.objects.filter(team_id=team_id).order_by("number")
        return list(rows.values_list("id", flat=True))


def _check_chain(seal: Seal, *, number: int, after: int, previous: bytes) -> Iterator[Finding]:
    where = f"seal {seal.number}"
    if seal.number != number or seal.after_seq != after:
        yield Finding("seal_missing", where, "the seals before it are not all there")
    key = seal_keys().get(seal.key_id)
    if key is None:
        yield Finding(
            "seal_of_unknown_key",
            where,
            "it was made with another key; name that one in SEAL_KEYS_PREVIOUS",
        )
    elif seal_digest(seal=seal, previous=previous, key=key) != bytes(seal.digest):
        yield Finding("seal_changed", where, "it does not follow from its rows and the seal before")


def _check_head(seal: Seal, expected: Head) -> Iterator[Finding]:
    if bytes(seal.digest) != expected.digest:
        yield Finding("seal_changed", f"seal {seal.number}", "it is not the one that was noted")


def _check_range(seal: Seal, found: Verified, erased: Counter[UUID]) -> None:
    """Compare every row of the seal's range with what it kept."""
    sealed = {leaf.seq: leaf for leaf in unpacked(bytes(seal.leaves))}
    for row in _rows(seal.team_id, seal.after_seq, seal.last_seq):
        found.rows += 1
        found.findings += _check_row(row, sealed.pop(row.seq, None))
        _count_erased(row, found, erased)
    for seq in sealed:
        words = "it was sealed and is not there any more"
        found.findings.append(Finding("row_missing", f"log entry {seq}", words))


def _check_row(row: Leaf, sealed: SealedLeaf | None) -> Iterator[Finding]:
    where = f"log entry {row.seq}"
    if sealed is None:
        yield Finding("row_inserted", where, "it was not there when its range was sealed")
    elif row.open != sealed.open or (row.closed != sealed.closed if not row.is_erased else False):
        yield Finding("row_changed", where, f"it was changed (memory {row.memory_id})")
    yield from _check_text(row)


def _check_text(row: Leaf) -> Iterator[Finding]:
    if not row.fits_text:
        yield Finding(
            "text_changed",
            f"memory {row.memory_id}",
            f"its text is not the one of log entry {row.seq}",
        )


def _count_erased(row: Leaf, found: Verified, erased: Counter[UUID]) -> None:
    if row.is_erased:
        found.erased += 1
        erased[row.memory_id] += 1


def _check_rest(team_id: UUID, after: int, found: Verified, erased: Counter[UUID]) -> None:
    """What no seal covers yet, whether every erasure is on record, and the memories themselves."""
    for row in _rows(team_id, after, _FOR_EVER):
        found.unsealed += 1
        found.findings += _check_text(row)
        _count_erased(row, found, erased)
    with team_scope(team_ids=[team_id], actor=ACTOR):
        found.erasures = Erasure.objects.filter(team_id=team_id).count()
        logged = set(
            MemoryLog.objects.filter(team_id=team_id, event="erased").values_list(
                "memory_id", flat=True
            )
        )
        for memory_id in erased.keys() - logged:
            words = "it was emptied, and no erasure of it is logged"
            found.findings.append(Finding("erasure_unlogged", f"memory {memory_id}", words))
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute(_STRAYS, {"team": team_id})
            for memory_id, seq, kind in cursor.fetchall():
                found.findings.append(
                    Finding(kind, f"memory {memory_id}", _WORDS[kind].format(seq))
                )


_WORDS = {
    "memory_missing": "the log has it (entry {}), and it is not there any more",
    "memory_unlogged": "it is there, and the log does not know it",
    "memory_changed": "it is not as the last entry of its log says ({})",
}


def _rows(team_id: UUID, after_seq: int, last_seq: int) -> Iterator[Leaf]:
    while True:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            page = read_leaves(team_id=team_id, after_seq=after_seq, last_seq=last_seq, most=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        after_seq = page[-1].seq
