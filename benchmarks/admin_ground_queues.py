"""What waits for people in the team of `benchmarks.admin_ground`, and what they decided."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from memory.models import Contradiction, Settlement
from memory.satellites.consent.models import ConsentRequest

_DAYS = 90


def contradictions(
    team_id: UUID, memories: Sequence[UUID], draw: random.Random, *, now: datetime
) -> list[Contradiction]:
    """Every two of the memories in one; three of four are open, some of them about the same."""
    rows: list[Contradiction] = []
    for number, (one, other) in enumerate(zip(memories[::2], memories[1::2], strict=False)):
        is_open = number % 4 != 0
        rows.append(
            Contradiction(
                team_id=team_id,
                memory_a_id=rows[-1].memory_a_id if number % 8 == 7 else one,
                memory_b_id=other,
                strategy="same_subject",
                judge="fallback",
                verdict="dispute",
                reason=f"Both tell of “subject {number % 10}”.",
                resolution="" if is_open else draw.choice(["a_wins", "both_valid"]),
                resolved_by="" if is_open else "staff:ann",
                resolved_at=None if is_open else now - draw.random() * timedelta(days=_DAYS),
            )
        )
    return rows


def settlements(rows: Sequence[Contradiction]) -> list[Settlement]:
    """The decisions on those that are settled."""
    return [
        Settlement(
            team_id=row.team_id,
            contradiction_id=row.pk,
            resolution=row.resolution,
            actor=row.resolved_by,
            settled_at=row.resolved_at,
        )
        for row in rows
        if row.resolved_at
    ]


def consent_requests(
    team_id: UUID, people: Sequence[UUID], draw: random.Random, *, count: int, now: datetime
) -> list[ConsentRequest]:
    """So many; a third of them wait."""
    rows = []
    for number in range(count):
        at = now - draw.random() * timedelta(days=_DAYS)
        decided: dict[str, Any] = (  # Any: a row's own fields
            {"created_at": now - timedelta(hours=number)}
            if number % 3 == 0
            else {"state": "approved", "decided_by": "staff:ann", "decided_at": at}
        )
        rows.append(
            ConsentRequest(
                **{"created_at": at, **decided},
                team_id=team_id,
                end_user_id=people[number % len(people)],
                field="city",
                content=f"Lives in town {number}.",
                value_key=sha256(str(number).encode()).digest(),
                proposed_by="task:extract",
                expires_at=now + timedelta(days=7),
            )
        )
    return rows
