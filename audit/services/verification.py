"""Compares a team's log with its seals, with its commits and with the memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from audit.models import Erasure, MemoryLog, OperationalEvent, Seal
from audit.services.events import Event, record_events
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
# The operational event of a verification.
_NODE, _OP = "log", "verify"
# A range that was sealed together may have had rows inserted since.
_PAGE = ROWS_PER_SEAL
_FOR_EVER = 2**63 - 1
_STATEMENTS = sql_text("audit", "verify_log").strip().removesuffix(";").split(";\n")
# Where an inconsistency is, and what it is.
_WORDS = {
    "memory_missing": (
        "memory {row}",
        "the log has it (entry {seq}), and it is gone",
    ),
    "memory_unlogged": ("memory {row}", "it is there, and the log does not know it"),
    "memory_changed": ("memory {row}", "it is not as the last entry of its log says ({seq})"),
    "reason_emptied": ("log entry {seq}", "its reason was taken away, and no erasure did it"),
    "commit_missing": ("log entry {seq}", "the commit that it was part of is not there"),
    "commit_inserted": ("commit {row}", "no entry of the log is part of it"),
    "commit_changed": (
        "commit {row}",
        "its place, time or bounds do not fit its entries and the commits before",
    ),
    "clock_changed": ("the clock of commits", "it is not where the last commit left it"),
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
    """The result of checking one team's log; `unsealed` rows are too new for a seal."""

    seals: int = 0
    rows: int = 0
    erased: int = 0
    erasures: int = 0
    unsealed: int = 0
    head: Head | None = None
    findings: list[Finding] = field(default_factory=list)

    def find(self, kind: str, where: str, words: str) -> None:
        """Adds a finding."""
        self.findings.append(Finding(kind, where, words))


def verify_team(*, team_id: UUID, expected: Head | None = None) -> Verified:
    """Checks the whole log of a team, and that the chain still holds the head `expected`."""
    found = Verified()
    previous, after, number = bytes(32), 0, 0
    erased: Counter[UUID] = Counter()
    with team_scope(team_ids=[team_id], actor=ACTOR):
        rows = Seal.objects.filter(team_id=team_id).order_by("number")
        seal_ids = list(rows.values_list("id", flat=True))
    for seal_id in seal_ids:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            seal = Seal.objects.get(team_id=team_id, pk=seal_id)
            _check_chain(seal, found, number=number + 1, after=after, previous=previous)
            _check_range(seal, found, erased)
        head = Head(seal.number, bytes(seal.digest))
        if expected is not None and expected.number == head.number and expected != head:
            found.find("seal_changed", f"seal {seal.number}", "it is not the one that was noted")
        previous, after, number = head.digest, seal.last_seq, seal.number
        found.seals += 1
        found.head = head
    if expected is not None and (found.head is None or found.head.number < expected.number):
        words = f"the chain ends before seal {expected.number}, which was there before"
        found.find("seal_missing", f"seal {expected.number}", words)
    for row in _rows(team_id, after, _FOR_EVER):
        found.unsealed += 1
        _check_row(row, found, erased)
    with team_scope(team_ids=[team_id], actor=ACTOR):
        _check_memories(team_id, found, erased)
    return found


def _check_chain(seal: Seal, found: Verified, *, number: int, after: int, previous: bytes) -> None:
    where = f"seal {seal.number}"
    if seal.number != number or seal.after_seq != after:
        found.find("seal_missing", where, "the seals before it are not all there")
    key = seal_keys().get(seal.key_id)
    if key is None:
        words = "it was made with another key; name that one in SEAL_KEYS_PREVIOUS"
        found.find("seal_of_unknown_key", where, words)
    elif seal_digest(seal=seal, previous=previous, key=key) != bytes(seal.digest):
        found.find("seal_changed", where, "it does not follow from its rows and the seal before")


def _check_range(seal: Seal, found: Verified, erased: Counter[UUID]) -> None:
    sealed = unpacked(bytes(seal.leaves))
    last_position = 0
    for row in _rows(seal.team_id, seal.after_seq, seal.last_seq):
        found.rows += 1
        was = sealed.pop(row.seq, None)
        if was is None:
            words = "it was not there when its range was sealed"
            found.find("row_inserted", f"log entry {row.seq}", words)
        _check_row(row, found, erased, sealed=was)
        last_position = max(last_position, row.position or 0)
    if seal.upto_position is not None and last_position > seal.upto_position:
        words = f"it says that its entries were there by commit {seal.upto_position}; they were not"
        found.find("seal_changed", f"seal {seal.number}", words)
    for seq in sealed:
        found.find("row_missing", f"log entry {seq}", "it was sealed and is not there any more")


def _check_row(
    row: Leaf,
    found: Verified,
    erased: Counter[UUID],
    *,
    sealed: tuple[bytes, bytes] | None = None,
) -> None:
    """Compares a row with its leaf in the seal, and its reason and text with their digests."""
    is_changed = sealed is not None and (
        row.open != sealed[0] or (row.closed != sealed[1] and not row.is_erased)
    )
    if is_changed or not row.fits_reason:
        words = f"it was changed (memory {row.memory_id})"
        found.find("row_changed", f"log entry {row.seq}", words)
    if not row.fits_text:
        words = f"its text is not the one of log entry {row.seq}"
        found.find("text_changed", f"memory {row.memory_id}", words)
    if row.is_erased:
        found.erased += 1
        erased[row.memory_id] += 1


def _check_memories(team_id: UUID, found: Verified, erased: Counter[UUID]) -> None:
    """Checks that each erasure is on record, and memories and commits against the log."""
    found.erasures = Erasure.objects.filter(team_id=team_id).count()
    rows = MemoryLog.objects.filter(team_id=team_id, event="erased")
    for memory_id in erased.keys() - set(rows.values_list("memory_id", flat=True)):
        words = "it was emptied, and no erasure of it is logged"
        found.find("erasure_unlogged", f"memory {memory_id}", words)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        for statement in _STATEMENTS:
            cursor.execute(statement, {"team": team_id})
            for kind, row, seq in cursor.fetchall():
                where, words = (each.format(row=row, seq=seq) for each in _WORDS[kind])
                found.find(kind, where, words)


def _rows(team_id: UUID, after_seq: int, last_seq: int) -> Iterator[Leaf]:
    while True:
        with team_scope(team_ids=[team_id], actor=ACTOR):
            page = read_leaves(team_id=team_id, after_seq=after_seq, last_seq=last_seq, most=_PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        after_seq = page[-1].seq


@dataclass(frozen=True, slots=True)
class SealStatus:
    """The latest seal of a team's log and its latest recorded verification."""

    team_id: UUID
    sealed_at: datetime | None
    verified_at: datetime | None
    is_intact: bool


def seal_statuses(*, team_ids: Sequence[UUID]) -> list[SealStatus]:
    """Returns the status of each team, in their order; two queries."""
    seals = Seal.objects.filter(team_id__in=team_ids).order_by("team_id", "-number")
    sealed = dict(seals.distinct("team_id").values_list("team_id", "sealed_at"))
    runs = OperationalEvent.objects.filter(team_id__in=team_ids, node=_NODE, op=_OP)
    runs = runs.order_by("team_id", "-at").distinct("team_id")
    verified = {run.team_id: run for run in runs}
    return [
        SealStatus(
            team_id,
            sealed.get(team_id),
            run.at if (run := verified.get(team_id)) else None,
            run is None or run.status == "ok",
        )
        for team_id in team_ids
    ]


_UNSEALED = """
SELECT extract(epoch FROM clock_timestamp() - min(entry.at))::float
FROM teams_team t
LEFT JOIN LATERAL (
    SELECT last_seq FROM audit_seal WHERE team_id = t.id ORDER BY number DESC LIMIT 1
) AS seal ON true
CROSS JOIN LATERAL (
    SELECT at FROM audit_memorylog WHERE team_id = t.id AND seq > coalesce(seal.last_seq, 0)
    ORDER BY seq LIMIT 1
) AS entry
"""


def oldest_unsealed_seconds() -> float:
    """Returns the seconds since the oldest unsealed entry of the scope's teams; 0 for none."""
    with connection.cursor() as cursor:
        cursor.execute(_UNSEALED)
        (seconds,) = cursor.fetchone()
    return max(0.0, seconds or 0.0)


def log_is_intact() -> bool:
    """Returns whether the latest verification of each of the scope's teams found no change."""
    runs = OperationalEvent.objects.filter(node=_NODE, op=_OP).order_by("team_id", "-at")
    return all(status == "ok" for _, status in runs.distinct("team_id").values_list("id", "status"))


def verify_and_record(*, team_id: UUID, expected: Head | None = None) -> Verified:
    """Checks a team's log as `verify_team` and records the result; call it in no transaction."""
    found = verify_team(team_id=team_id, expected=expected)
    status = "error" if found.findings else "ok"
    with team_scope(team_ids=[team_id], actor=ACTOR):
        figures = {"rows": found.rows, "findings": len(found.findings)}
        record_events(team_id=team_id, events=[Event(_NODE, _OP, status, meta=figures)])
    return found
