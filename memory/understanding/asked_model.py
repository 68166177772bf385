"""A language model that is asked on somebody's behalf: paid for, left alone while unavailable."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from memory.domain.types import Asker
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import ChatMessage, CompletionError, FailureKind
from routing.clients.structured_calls import StructuredCompletions
from routing.services.cost_guard import BudgetExceededError
from routing.services.paid_calls import PaidCall, Tariff, paid_call, payer_of, tokens_of

logger = logging.getLogger(__name__)

_AWAY = frozenset({FailureKind.UNAVAILABLE, FailureKind.MISCONFIGURED})

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """A model's answer, or in words why there is none that can be used, and what it cost.

    `is_sent` says that the question reached the endpoint's client, `is_away` that every further
    question would fail the same way.
    """

    answer: T | None = None
    problem: str = ""
    cost_usd: Decimal = Decimal(0)
    is_sent: bool = False
    is_away: bool = False


class AskedModel:
    """Asks `completions`; what a call costs counts in the budgets of its asker. Thread-safe.

    When one call to an unavailable endpoint has cost more than `patience_seconds`, the endpoint is
    left alone for `rest_seconds`.
    """

    def __init__(
        self,
        *,
        completions: StructuredCompletions,
        tariff: Tariff | None = None,
        patience_seconds: float = 10.0,
        rest_seconds: float = 60.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = f"openai:{completions.model}"
        self._completions = completions
        self._tariff = tariff
        self._rest = EndpointRest(
            patience_seconds=patience_seconds, rest_seconds=rest_seconds, monotonic=monotonic
        )

    def ask(
        self,
        *,
        schema: type[T],
        prompt: Sequence[ChatMessage],
        asker: Asker | None,
        answer_tokens: int,
        is_limited: bool = True,
        fault: Callable[[T], str] = lambda _: "",
    ) -> Asked[T]:
        """Asks at temperature 0; call it in no transaction.

        `answer_tokens` is about what an answer takes and, where it `is_limited`, the most that it
        may take. `fault` is that of `StructuredCompletions.complete`.
        """
        started = self._rest.begin()
        if started is None:
            return Asked(problem="no answer a moment ago", is_away=True)
        payer = None
        if asker is not None:
            payer = payer_of(
                team_id=asker.team_id, agent_id=asker.agent_id, end_user_id=asker.end_user_id
            )
        call = PaidCall()
        try:
            with paid_call(
                payer=payer,
                tariff=self._tariff,
                model=self._completions.model,
                read=tokens_of(prompt),
                written=answer_tokens,
            ) as call:
                answer = self._completions.complete(
                    schema=schema,
                    messages=prompt,
                    max_tokens=answer_tokens if is_limited else None,
                    on_usage=call.count,
                    fault=fault,
                )
                call.is_answered = True
        except CompletionError as error:
            self._rest.note(error, started=started)
            level = logging.ERROR if error.kind is FailureKind.MISCONFIGURED else logging.WARNING
            logger.log(level, "%s gave no %s: %s", self.name, schema.__name__, error)
            problem = f"{error.kind}: {error}"
            return Asked(None, problem, call.cost_usd, True, error.kind in _AWAY)
        except BudgetExceededError as error:
            return Asked(problem=f"over budget: {error}")
        return Asked(answer, "", call.cost_usd, is_sent=True)


_FOLDER = Path(__file__).with_name("prompts")


def prompt_text(name: str, **values: object) -> str:
    """The text of that name with the values in place of their names in braces."""
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip().format(**values)
