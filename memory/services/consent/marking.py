"""Marks consent requests as decided, with who, when and why."""

from __future__ import annotations

from datetime import datetime

from memory.models import ConsentRequest, Memory
from memory.services.consent.proposals import note_requests

_OPS = {
    ConsentRequest.State.APPROVED: "approve",
    ConsentRequest.State.REJECTED: "reject",
    ConsentRequest.State.EXPIRED: "expire",
}


def decide(
    row: ConsentRequest,
    state: ConsentRequest.State,
    *,
    actor: str,
    now: datetime,
    note: str = "",
) -> None:
    """Keep the decision and record it as an event; call it in the transaction that carries it out.

    What the caller set as `memory` and `present` is kept with it.
    """
    row.state = state
    row.decided_by = actor
    row.decided_at = now
    row.note = note
    row.save(update_fields=["state", "decided_by", "decided_at", "note", "memory", "present"])
    note_requests(op=_OPS[state], requests=[row])


def close_given(*, memory: Memory, actor: str, now: datetime) -> None:
    """Approve what asked whether the team may know a memory, once somebody gave it to the team.

    Call it in the transaction that did.
    """
    rows = ConsentRequest.objects.select_for_update().filter(
        team_id=memory.team_id,
        memory=memory,
        kind=ConsentRequest.Kind.TEAM_PREFERENCE,
        state=ConsentRequest.State.WAITING,
    )
    for row in rows:
        decide(row, ConsentRequest.State.APPROVED, actor=actor, now=now)
