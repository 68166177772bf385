"""How complex a query is: by a classifier model where one is set, else by heuristics.

Scores are cached in Redis for five minutes; what the model costs is counted like any call.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
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
from routing.domain.choices import CHARS_PER_TOKEN
from routing.domain.complexity import DIMENSIONS, ComplexityScore, score_query
from routing.services.cost_guard import BudgetExceededError
from routing.services.paid_calls import Payer, Tariff, paid_call
from teams.tenancy import give_back_connection

# Seed 000, QueryComplexityScorer: "cached in Redis (TTL 5min)".
CACHED_SECONDS = 300
TIER = "classifier"

logger = logging.getLogger(__name__)


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
    tariff = Tariff(TIER, settings.CLASSIFIER_INPUT_PRICE, settings.CLASSIFIER_OUTPUT_PRICE)
    read = int(prompt_chars(query=query, history=history) / CHARS_PER_TOKEN) + 1
    with paid_call(
        payer=payer, tariff=tariff, model=classifier.name, read=read, written=ANSWER_TOKENS
    ) as call:
        give_back_connection()
        found = classifier.classify(
            query=query, history=history, history_turns=history_turns, on_usage=call.count
        )
        call.is_answered = True
    return found


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
