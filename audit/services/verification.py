"""Compares a team's log with its seals, with its commits and with the memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from audit.models import Erasure, MemoryLog, Seal
from audit.services.seals import (
    ROWS_PER_SEAL,
    Head,
    Leaf,
    read_leaves,
    seal_digest,
    seal_keys,
    unpacked,
)
from teams.prepared import sql_text
from teams.tenancy import team_scope

ACTOR = "command:verify_log"
# A range that was sealed together may have had rows inserted since.
_PAGE = ROWS_PER_SEAL
_FOR_EVER = 2**63 - 1
_STATEMENTS = sql_text("audit", "verify_log").strip().removesuffix(";").split(";\n")
_WORDS = {
    "memory_missing": "the log has it (entry {}), and it is not there any more",
    "memory_unlogged": "it is there, and the log does not know it",
    "memory_changed": "it is not as the last entry of its log says ({})",
    "reason_emptied": "its reason was taken away, and no erasure did it",
    "commit_missing": "the commit that it was part of is not there",
    "commit_inserted": "no entry of the log is part of it",
    "commit_changed": "its place, time or bounds do not fit its entries and the commits before",
    "clock_changed": "it is not where the last commit left it",
}


class Finding(NamedTuple):
    """An inconsistency: its kind, where it is, and a description."""

    kind: str
    where: str
    words: str

    def __str__(self) -> str:
        return f"{self.where}: {self.words}"


@dataclass(slots=True)
class Verified:
    """The result of checking one team's log; the log is intact when there are no findings.

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
    """Checks the whole log of a team, and that the chain still holds the head `expected`."""
    found = Verified()
    previous, after, number = bytes(32), 0, 0
    erased: Counter[UUID] = Counter()
    for seal_id in _seal_ids(team_id):
        with team_scope(team_ids=[team_id], actor=ACTOR):
            seal = Seal.objects.get(team_id=team_id, pk=seal_id)
            number += 1
            found.findings += _check_chain(seal, number=number, after=after, previous=previous)
            _check_range(seal, found, erased)
        head = Head(seal.number, bytes(seal.digest))
        if expected is not None and expected.number == head.number and expected != head:
            words = "it is not the one that was noted"
            found.findings.append(Finding("seal_changed", f"seal {seal.number}", words))
        previous, after, number = head.digest, seal.last_seq, seal.number
        found.seals += 1
        found.head = head
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


def _check_range(seal: Seal, found: Verified, erased: Counter[UUID]) -> None:
    sealed = unpacked(bytes(seal.leaves))
    last_position = 0
    for row in _rows(seal.team_id, seal.after_seq, seal.last_seq):
        found.rows += 1
        found.findings += _check_row(row, sealed.pop(row.seq, None))
        last_position = max(last_position, row.position or 0)
        _count_erased(row, found, erased)
    if seal.upto_position is not None and last_position > seal.upto_position:
        words = f"it says that its entries were there by commit {seal.upto_position}; they were not"
        found.findings.append(Finding("seal_changed", f"seal {seal.number}", words))
    for seq in sealed:
        words = "it was sealed and is not there any more"
        found.findings.append(Finding("row_missing", f"log entry {seq}", words))


def _check_row(row: Leaf, sealed: tuple[bytes, bytes] | None) -> Iterator[Finding]:
    if sealed is None:
        words = "it was not there when its range was sealed"
        yield Finding("row_inserted", f"log entry {row.seq}", words)
    is_changed = sealed is not None and (
        row.open != sealed[0] or (row.closed != sealed[1] and not row.is_erased)
    )
    yield from _check_texts(row, is_changed=is_changed)


def _check_texts(row: Leaf, *, is_changed: bool = False) -> Iterator[Finding]:
    """Whether the row is unchanged, and reason and text are those that it has digests of."""
    if is_changed or not row.fits_reason:
        words = f"it was changed (memory {row.memory_id})"
        yield Finding("row_changed", f"log entry {row.seq}", words)
    if not row.fits_text:
        words = f"its text is not the one of log entry {row.seq}"
        yield Finding("text_changed", f"memory {row.memory_id}", words)


def _count_erased(row: Leaf, found: Verified, erased: Counter[UUID]) -> None:
    if row.is_erased:
        found.erased += 1
        erased[row.memory_id] += 1


def _check_rest(team_id: UUID, after: int, found: Verified, erased: Counter[UUID]) -> None:
    for row in _rows(team_id, after, _FOR_EVER):
        found.unsealed += 1
        found.findings += _check_texts(row)
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
        found.findings += _inconsistencies(team_id)


def _rows(team_id: UUID, after_seq: int, last_seq: int) -> Iterator[Leaf]:
    while True:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            page = read_leaves(team_id=team_id, after_seq=after_seq, last_seq=last_seq, most=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        after_seq = page[-1].seq


def _inconsistencies(team_id: UUID) -> Iterator[Finding]:
    """All inconsistencies, at most 1,000 of each kind; call it in the team's scope."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        for statement in _STATEMENTS:
            cursor.execute(statement, {"team": team_id})
            for kind, row, seq in cursor.fetchall():
                yield Finding(kind, _where(kind, row, seq), _WORDS[kind].format(seq))


def _where(kind: str, row: UUID | int | None, seq: int | None) -> str:
    if kind.startswith("memory_"):
        return f"memory {row}"
    if kind in ("reason_emptied", "commit_missing"):
        return f"log entry {seq}"
    return "the clock of commits" if kind == "clock_changed" else f"commit {row}"
