"""How complex a query is: by a classifier model where one is set, else by heuristics.

Scores are cached in Redis for five minutes; what the model costs is counted like any call.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from routing.clients.classifier import (
    ANSWER_TOKENS,
    Classifier,
    configured_classifier,
    prompt_chars,
)
from routing.clients.protocol import CompletionError, FailureKind
from routing.clients.quick_redis import quick_redis
from routing.clients.static_vectors import static_vectors
from routing.domain.budgets import MICRO, Reservation, Usage
from routing.domain.choices import CHARS_PER_TOKEN
from routing.domain.complexity import DIMENSIONS, ComplexityScore, score_query
from routing.services.cost_guard import BudgetExceededError, release, reserve, settle
from teams.models import Agent, EndUser, Team
from teams.tenancy import give_back_connection

# Seed 000, QueryComplexityScorer: "cached in Redis (TTL 5min)".
CACHED_SECONDS = 300
TIER = "classifier"
# An unusable answer is asked for once more, with itself and some advice at the prompt's end.
_REQUESTS = 2
_ADVICE_TOKENS = 1_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose budgets a classification counts in, and when."""

    team: Team
    agent: Agent
    end_user: EndUser | None
    now: datetime


@dataclass(frozen=True, slots=True)
class Scored:
    """A score, who gave it, and whether it came from the cache."""

    score: ComplexityScore
    scorer: Literal["heuristics", "model"]
    cached: bool


def heuristic_score(
    *, query: str, history_turns: int = 0, history: Sequence[str] = ()
) -> ComplexityScore:
    """The complexity by the words alone, as `score_query` tells it; no language model is asked."""
    return score_query(
        query=query, history_turns=history_turns, history=history, embed=static_vectors
    )


def score(
    *,
    team_id: UUID,
    query: str,
    history: Sequence[str] = (),
    history_turns: int | None = None,
    payer: Payer | None = None,
) -> Scored:
    """The complexity of `query` after `history` (texts of earlier turns, oldest first).

    `history_turns` counts all earlier turns where `history` holds only the last ones. What a model
    costs is the `payer`'s; without enough money, without a classifier model, or when it fails, the
    heuristics speak. Raises nothing. A model may be asked, so never call it inside a transaction.
    """
    turns = len(history) if history_turns is None else history_turns
    classifier = configured_classifier()
    scorer: Literal["heuristics", "model"] = "model" if classifier else "heuristics"
    key = key_of(
        team_id=team_id,
        scorer=f"model:{classifier.name}" if classifier else scorer,
        query=query,
        history=history,
        history_turns=turns,
    )
    kept = _cached_score(key)
    if kept is not None:
        return Scored(score=kept, scorer=scorer, cached=True)
    found = _classified(classifier, query, history, turns, payer) if classifier else None
    if found is None:
        found = heuristic_score(query=query, history_turns=turns, history=history)
        if classifier:
            # Not kept: the model is asked again as soon as it is back.
            return Scored(score=found, scorer="heuristics", cached=False)
    _cache_score(key, found)
    return Scored(score=found, scorer=scorer, cached=False)


def _classified(
    classifier: Classifier,
    query: str,
    history: Sequence[str],
    turns: int,
    payer: Payer | None,
) -> ComplexityScore | None:
    """The model's score, or None where it gave none."""
    try:
        return classified(
            classifier=classifier, query=query, history=history, history_turns=turns, payer=payer
        )
    except CompletionError as error:
        level = logging.ERROR if error.kind is FailureKind.MISCONFIGURED else logging.WARNING
        logger.log(level, "The heuristics score instead of a model (%s): %s", error.kind, error)
    except BudgetExceededError:
        logger.info("The heuristics score instead of a model: the budget does not pay for it.")
    except (DatabaseError, InterfaceError):
        logger.warning("The heuristics score instead of a model: nothing can be paid for.")
    return None


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


def key_of(
    *, team_id: UUID, scorer: str, query: str, history: Sequence[str], history_turns: int
) -> str:
    """The key of the score of a query after this history; it holds none of their words.

    `scorer` names who judges, so that another model has keys of its own. Teams share no key.
    """
    told = json.dumps([scorer, query, history_turns, list(history)])
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{settings.REDIS_PREFIX}:complexity:{team_id}:{digest}"


def _cached_score(key: str) -> ComplexityScore | None:
    """The score under `key`; None where there is none, it cannot be read, or Redis is away."""
    value = quick_redis().ask(lambda client: client.get(key))
    if not isinstance(value, bytes | str):
        return None
    try:
        values, reasons = json.loads(value)
        return ComplexityScore(
            **{name: float(values[name]) for name in DIMENSIONS},
            reasons={str(name): str(reason) for name, reason in reasons.items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _cache_score(key: str, score: ComplexityScore) -> None:
    """Cache a score for five minutes; does nothing while Redis is away."""
    value = json.dumps([score.dimensions, dict(score.reasons)])
    quick_redis().ask(lambda client: client.set(key, value, ex=CACHED_SECONDS))
