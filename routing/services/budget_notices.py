"""Announces that a budget is nearly used up, or used up: once each in its window.

Every settlement announces the state anew, so the next one makes up for one that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Protocol
from uuid import UUID

from routing.domain.budgets import Account, BudgetLeft, Cap, CapKind, CapLeft
from routing.services.spend_record import ACTOR
from teams.tenancy import before_commit, team_scope


class Listener(Protocol):
    """Receives an event in the team's scope; `once` names it, however often it is announced."""

    def __call__(
        self, *, team_id: UUID, event: str, subject_id: UUID, data: Mapping[str, object], once: str
    ) -> None: ...


LISTENERS: list[Listener] = []
_OWNERS = {CapKind.USER_DAY: "end_user_id", CapKind.TEAM_MONTH: "team_id"}


def announce_spent(*, team_id: UUID, left: BudgetLeft, spent: Mapping[Account, Decimal]) -> None:
    """Announce what the caps of a call have come to; call it in the transaction that counted."""
    for each in left.caps:
        usd = spent.get(each.cap.account, Decimal(0))
        if usd and usd >= each.cap.limit_usd:
            _announce(team_id, "budget.exhausted", each.cap, usd)
        elif usd and usd >= each.cap.limit_usd * left.near_share:
            _announce(team_id, "budget.near", each.cap, usd)


def announce_refusal(*, team_id: UUID, tightest: CapLeft) -> None:
    """Announce that a call was refused, as this cap has too little left; it has no transaction."""
    with before_commit(None), team_scope(team_ids=[team_id], actor=ACTOR):
        _announce(team_id, "budget.exhausted", tightest.cap, tightest.balance.spent_usd)


def _announce(team_id: UUID, event: str, cap: Cap, spent_usd: Decimal) -> None:
    account = cap.account
    window = f"{account.kind.value}:{account.owner_id}:{account.begins_on}:{cap.limit_usd}"
    owner = _OWNERS.get(account.kind, "agent_id")
    data = {
        "cap": account.kind.value,
        "limit_usd": str(cap.limit_usd),
        "spent_usd": str(spent_usd),
        "begins_on": account.begins_on,
        "resets_at": cap.resets_at,
        **({} if owner == "team_id" else {owner: account.owner_id}),
    }
    for listener in LISTENERS:
        listener(
            team_id=team_id,
            event=event,
            subject_id=account.owner_id,
            data=data,
            once=f"{event}:{window}",
        )
