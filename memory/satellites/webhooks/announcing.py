"""Announcing events to the webhooks of a team, in the transaction of what they tell of."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import orjson

from teams.prepared import run_prepared

_ANNOUNCE = "SELECT palimpsest_announce($1, $2, $3, $4::jsonb, $5)"


def announce(
    *, team_id: UUID, event: str, subject_id: UUID, data: Mapping[str, object], once: str
) -> None:
    """Have the team's endpoints told that chose this event; call it in the team's scope.

    `once` names the event: announced again it is not told again. `data` holds ids and figures.
    """
    given = [team_id, event, subject_id, orjson.dumps(dict(data), default=str).decode(), once]
    run_prepared(_ANNOUNCE, given)
