"""Marks consent requests as decided, with who, when and why."""

from __future__ import annotations

from datetime import datetime

from memory.models import Memory
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import note_requests
from memory.selectors.history.log import LogRange

_OPS = {
    ConsentRequest.State.APPROVED: "approve",
    ConsentRequest.State.REJECTED: "reject",
    ConsentRequest.State.EXPIRED: "expire",
}
DECIDED = (
    "state",
    "decided_by",
    "decided_at",
    "note",
    "memory",
    "present",
    "commit_id",
    "first_seq",
    "last_seq",
)


def decide(
    row: ConsentRequest,
    state: ConsentRequest.State,
    *,
    actor: str,
    now: datetime,
    note: str = "",
    written: LogRange | None = None,
) -> None:
    """Keep the decision and record it as an event; call it in the transaction that carries it out.

    What the caller set as `memory` and `present` is kept with it, and what was `written` for it, so
    that it can be undone.
    """
    row.state = state
    row.decided_by = actor
    row.decided_at = now
    row.note = note
    if written is not None:
        row.commit_id = written.commit_id
        row.first_seq, row.last_seq = written.first, written.last
    row.save(update_fields=DECIDED)
    note_requests(op=_OPS[state], requests=[row])


def close_given(*, memory: Memory, actor: str, now: datetime, written: LogRange | None) -> None:
    """Approve what asked whether the team may know a memory, once somebody gave it to the team.

    Call it in the transaction that did, with what that wrote.
    """
    rows = ConsentRequest.objects.select_for_update().filter(
        team_id=memory.team_id,
        memory=memory,
        kind=ConsentRequest.Kind.TEAM_PREFERENCE,
        state=ConsentRequest.State.WAITING,
    )
    for row in rows:
        decide(row, ConsentRequest.State.APPROVED, actor=actor, now=now, written=written)
