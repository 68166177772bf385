"""Asking the classifier model, at the expense of whoever's query it judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from routing.clients.classifier import ANSWER_TOKENS, Classifier, prompt_chars
from routing.domain.budgets import MICRO
from routing.domain.choices import CHARS_PER_TOKEN
from routing.domain.complexity import ComplexityScore
from routing.domain.reservations import Reservation, Usage
from routing.services.cost_guard import release, reserve, settle
from teams.connections import give_back_connection
from teams.models import Agent, EndUser, Team

TIER = "classifier"
# An unusable answer is asked for once more, with itself and some advice at the prompt's end.
_REQUESTS = 2
_ADVICE_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose budgets a classification counts in, and when."""

    team: Team
    agent: Agent
    end_user: EndUser | None
    now: datetime


def classified(
    *,
    classifier: Classifier,
    query: str,
    history: Sequence[str],
    history_turns: int,
    payer: Payer | None,
) -> ComplexityScore:
    """The model's score, its cost held before and counted after, as that of any call.

    Without a payer, or where it costs nothing (CLASSIFIER_INPUT_PRICE, CLASSIFIER_OUTPUT_PRICE),
    nothing is counted. Call it outside any transaction: no database connection is held while the
    model is waited for. Raises CompletionError, and BudgetExceededError where a budget does not pay
    for it: then nothing was asked.
    """
    counted: list[tuple[int, int]] = []
    read = int(prompt_chars(query=query, history=history) / CHARS_PER_TOKEN) + 1
    held = _held(payer, read)
    give_back_connection()
    try:
        found = classifier.classify(
            query=query,
            history=history,
            history_turns=history_turns,
            on_usage=lambda sent, written: counted.append((sent, written)),
        )
    except BaseException:
        if held is not None and payer is not None:
            _count(classifier.name, held, counted, payer)
        raise
    if held is not None and payer is not None:
        _count(classifier.name, held, counted or [(read, ANSWER_TOKENS)], payer)
    return found


def _held(payer: Payer | None, read: int) -> Reservation | None:
    most = _cost(_REQUESTS * (read + _ADVICE_TOKENS), _REQUESTS * ANSWER_TOKENS)
    if payer is None or not most:
        return None
    return reserve(
        team=payer.team,
        agent=payer.agent,
        end_user=payer.end_user,
        estimated_usd=most,
        now=payer.now,
    )


def _count(model: str, held: Reservation, counted: Sequence[tuple[int, int]], payer: Payer) -> None:
    """Count what the endpoint counted; what failed without a word cost nothing."""
    if not counted:
        release(reservation=held)
        return
    read, written = (sum(column) for column in zip(*counted, strict=True))
    settle(
        reservation=held,
        actual_usd=_cost(read, written),
        usage=Usage(model, TIER, read, written),
        now=payer.now,
    )


def _cost(read: int, written: int) -> Decimal:
    paid_in, paid_out = settings.CLASSIFIER_INPUT_PRICE, settings.CLASSIFIER_OUTPUT_PRICE
    cost: Decimal = (paid_in * read + paid_out * written) / 1000
    return cost.quantize(MICRO, rounding=ROUND_CEILING)
