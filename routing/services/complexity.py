"""How complex a query is: by a classifier model where one is set, else by heuristics."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from routing.clients.classifier import Classifier, configured_classifier
from routing.clients.protocol import CompletionError, FailureKind
from routing.clients.score_cache import cache_score, cached_score, key_of
from routing.clients.static_vectors import static_vectors
from routing.domain.complexity import ComplexityScore, score_query
from routing.services.classifying import Payer, classified
from routing.services.cost_guard import BudgetExceededError

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
    kept = cached_score(key=key)
    if kept is not None:
        return Scored(score=kept, scorer=scorer, cached=True)
    found = _classified(classifier, query, history, turns, payer) if classifier else None
    if found is None:
        found = heuristic_score(query=query, history_turns=turns, history=history)
        if classifier:
            # Not kept: the model is asked again as soon as it is back.
            return Scored(score=found, scorer="heuristics", cached=False)
    cache_score(key=key, score=found)
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
