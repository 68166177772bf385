"""What the server's own questions to a model cost: held before the call and counted after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from uuid import UUID

from django.utils import timezone

from routing.clients.protocol import ChatMessage
from routing.domain.budgets import MICRO, MOST_USD, Usage
from routing.domain.choices import CHARS_PER_TOKEN
from routing.services.cost_guard import release, reserve, settle
from teams.models import Agent, EndUser, Team
from teams.tenancy import before_commit, team_scope

# An unusable answer is asked for once more, with itself and some advice at the prompt's end.
_REQUESTS = 2
_ADVICE_TOKENS = 1_000
_ACTOR = "cost_guard"


@dataclass(frozen=True, slots=True)
class Tariff:
    """What a model costs (USD per 1,000 tokens), and the tier that its calls are counted under."""

    tier: str
    input_price: Decimal
    output_price: Decimal

    def cost(self, *, read: int, written: int) -> Decimal:
        """USD, rounded up to a millionth; at most what one call can be booked with."""
        paid = (self.input_price * read + self.output_price * written) / 1000
        return min(paid, MOST_USD).quantize(MICRO, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose budgets a call counts in, by their clock; what no agent asked for has no agent."""

    team: Team
    agent: Agent | None
    end_user: EndUser | None
    clock: Callable[[], datetime] = timezone.now


@dataclass(slots=True)
class PaidCall:
    """A call under way: `count` takes what the endpoint says that each request used.

    Whoever got an answer sets `is_answered`. `cost_usd` is what it cost, once it has ended.
    """

    counted: list[tuple[int, int]] = field(default_factory=list)
    is_answered: bool = False
    cost_usd: Decimal = Decimal(0)

    def count(self, read: int, written: int) -> None:
        """Add the tokens that one request read and wrote."""
        self.counted.append((read, written))


def payer_of(*, team_id: UUID, agent_id: UUID | None, end_user_id: UUID | None) -> Payer:
    """The rows of those who pay; call it in no transaction."""
    # Who only reads must not mark a request as begun.
    with before_commit(None), team_scope(team_ids=[team_id], actor=_ACTOR):
        team = Team.objects.get(pk=team_id)
        agent = Agent.objects.get(team_id=team_id, pk=agent_id) if agent_id else None
        user = EndUser.objects.get(team_id=team_id, pk=end_user_id) if end_user_id else None
    return Payer(team, agent, user)


@contextmanager
def paid_call(
    *,
    payer: Payer | None,
    tariff: Tariff | None,
    model: str,
    read: int,
    written: int,
) -> Iterator[PaidCall]:
    """Hold the most that the call in the block can cost, and count afterwards what it did cost.

    `read` and `written` are about how many tokens one request reads and writes; a call may make
    two. Where the endpoint counts nothing they are taken for a call that was answered, and any
    other cost nothing. Without a payer or a tariff, or where it is free, nothing is counted.
    Enter and leave it outside any transaction. Raises BudgetExceededError, before the block, where
    a budget does not pay for the call.
    """
    call = PaidCall()
    if payer is None or tariff is None:
        yield call
        return
    most = tariff.cost(read=_REQUESTS * (read + _ADVICE_TOKENS), written=_REQUESTS * written)
    if not most:
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
            settle(
                reservation=held,
                actual_usd=call.cost_usd,
                usage=Usage(model, tariff.tier, total_read, total_written),
                now=payer.clock(),
            )
        else:
            release(reservation=held)


def tokens_of(prompt: Sequence[ChatMessage]) -> int:
    """About how many tokens a prompt has."""
    return int(sum(len(each.content) for each in prompt) / CHARS_PER_TOKEN) + 1
