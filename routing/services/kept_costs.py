"""JSON form of the costs that wait in Redis while the database is down."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from routing.domain.budgets import Hold
from routing.domain.reservations import Usage
from routing.services.spend_record import Claimant, Cost


def kept_cost(claimant: Claimant, cost: Cost) -> str:
    """What a call cost, and for whom, as JSON."""
    hold, usage = claimant.hold, cost.usage
    return json.dumps(
        {
            "team": str(claimant.team_id),
            "agent": str(claimant.agent_id),
            "user": None if claimant.end_user_id is None else str(claimant.end_user_id),
            "day": claimant.day.isoformat(),
            "reservation": str(hold.reservation_id),
            "held": str(hold.amount_usd),
            "until": hold.expires_at.isoformat(),
            "cost": str(cost.usd),
            "usage": [usage.model, usage.tier, usage.input_tokens, usage.output_tokens],
            "at": cost.at.isoformat(),
        }
    )


def read_cost(line: bytes) -> tuple[Claimant, Cost]:
    """What `kept_cost` wrote."""
    kept = json.loads(line)
    claimant = Claimant(
        team_id=UUID(kept["team"]),
        agent_id=UUID(kept["agent"]),
        end_user_id=None if kept["user"] is None else UUID(kept["user"]),
        day=date.fromisoformat(kept["day"]),
        hold=Hold(
            UUID(kept["reservation"]), Decimal(kept["held"]), datetime.fromisoformat(kept["until"])
        ),
    )
    cost = Cost(Decimal(kept["cost"]), Usage(*kept["usage"]), datetime.fromisoformat(kept["at"]))
    return claimant, cost
