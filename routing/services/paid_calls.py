"""Budgets of the server's own calls to models: held before the call and counted after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from routing.clients.protocol import ChatMessage
from routing.domain.budgets import Usage, cost_of
from routing.domain.choices import CHARS_PER_TOKEN
from routing.services.cost_guard import release, reserve, settle
from routing.services.spend_record import ACTOR
from teams.models import Agent, EndUser, Team
from teams.tenancy import before_commit, team_scope

# An unusable answer is asked for once more, with itself and some advice at the prompt's end.
_REQUESTS = 2
_ADVICE_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Tariff:
    """The prices of a model (USD per 1,000 tokens), and the tier under which its calls count."""

    tier: str
    input_price: Decimal
    output_price: Decimal

    def cost(self, *, read: int, written: int) -> Decimal:
        """USD of a call."""
        return cost_of(
            input_price=self.input_price,
            output_price=self.output_price,
            input_tokens=read,
            output_tokens=written,
        )


@dataclass(frozen=True, slots=True)
class Payer:
    """The owners of the budgets a call counts in, and their clock; `agent` is None without one."""

    team: Team
    agent: Agent | None
    end_user: EndUser | None
    clock: Callable[[], datetime] = timezone.now


@dataclass(slots=True)
class PaidCall:
    """A call in progress; whoever got an answer sets `is_answered`. `cost_usd` is set after it."""

    counted: list[tuple[int, int]] = field(default_factory=list)
    is_answered: bool = False
    cost_usd: Decimal = Decimal(0)

    def count(self, read: int, written: int) -> None:
        """Adds the tokens of one request, as the endpoint counted them."""
        self.counted.append((read, written))


def payer_of(*, team_id: UUID, agent_id: UUID | None, end_user_id: UUID | None) -> Payer:
    """The rows of the payer; call it in no transaction."""
    # A read must not mark a request as begun.
    with before_commit(None), team_scope(team_ids=[team_id], actor=ACTOR):
        team = Team.objects.get(pk=team_id)
        agent = Agent.objects.get(team_id=team_id, pk=agent_id) if agent_id else None
        user = EndUser.objects.get(team_id=team_id, pk=end_user_id) if end_user_id else None
    return Payer(team, agent, user)


@contextmanager
def paid_call(
    *, payer: Payer | None, tariff: Tariff | None, model: str, read: int, written: int
) -> Iterator[PaidCall]:
    """Holds the most that the call in the block can cost, and counts its cost afterwards.

    `read` and `written` estimate the tokens of one request; a call may make two. If the endpoint
    counts nothing, the estimate counts for a call that was answered, and nothing for others.
    Without a payer or a tariff, or for a free model, nothing is counted. Enter and leave it outside
    any transaction. Raises BudgetExceededError, before the block.
    """
    call = PaidCall()
    most = Decimal(0)
    if tariff is not None:
        most = tariff.cost(read=_REQUESTS * (read + _ADVICE_TOKENS), written=_REQUESTS * written)
    if payer is None or tariff is None or not most:
        yield call
        return
    held = reserve(
        team=payer.team,
        agent=payer.agent,
        end_user=payer.end_user,
        estimated_usd=most,
        now=payer.clock(),
    )
    try:
        yield call
    finally:
        counted = call.counted or ([(read, written)] if call.is_answered else [])
        if counted:
            total_read, total_written = (sum(column) for column in zip(*counted, strict=True))
            call.cost_usd = tariff.cost(read=total_read, written=total_written)
            usage = Usage(model, tariff.tier, total_read, total_written)
            settle(reservation=held, actual_usd=call.cost_usd, usage=usage, now=payer.clock())
        else:
            release(reservation=held)


def tokens_of(prompt: Sequence[ChatMessage]) -> int:
    """Estimated tokens of a prompt."""
    return int(sum(len(each.content) for each in prompt) / CHARS_PER_TOKEN) + 1
