"""A model that is asked in the background: paid for, left alone while away, never waited for."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic import BaseModel

from memory.domain.types import Asker
from routing.clients.endpoints import EndpointRest
from routing.clients.protocol import ChatMessage, CompletionError
from routing.clients.structured_calls import StructuredCompletions
from routing.services.cost_guard import BudgetExceededError
from routing.services.paid_calls import Tariff, paid_call, payer_of, tokens_of

logger = logging.getLogger(__name__)

_PATIENCE_SECONDS, _REST_SECONDS = 10.0, 60.0

T = TypeVar("T", bound=BaseModel)


class AskedModel:
    """Asks `completions`; what a call costs counts in the budgets of its asker.

    When an unavailable endpoint has cost more than ten seconds, it is left alone for a minute.
    """

    def __init__(
        self,
        *,
        completions: StructuredCompletions,
        tariff: Tariff | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = f"openai:{completions.model}"
        self._completions = completions
        self._tariff = tariff
        self._rest = EndpointRest(
            patience_seconds=_PATIENCE_SECONDS, rest_seconds=_REST_SECONDS, monotonic=monotonic
        )

    def ask(
        self,
        *,
        schema: type[T],
        prompt: Sequence[ChatMessage],
        asker: Asker,
        max_tokens: int,
        fault: Callable[[T], str] = lambda _: "",
    ) -> T | None:
        """The answer, at temperature 0, None where there is none that can be used.

        `fault` is that of `StructuredCompletions.complete`. Call it in no transaction.
        """
        started = self._rest.begin()
        if started is None:
            return None
        payer = payer_of(
            team_id=asker.team_id, agent_id=asker.agent_id, end_user_id=asker.end_user_id
        )
        try:
            with paid_call(
                payer=payer,
                tariff=self._tariff,
                model=self._completions.model,
                read=tokens_of(prompt),
                written=max_tokens,
            ) as paid:
                answer = self._completions.complete(
                    schema=schema,
                    messages=prompt,
                    max_tokens=max_tokens,
                    on_usage=paid.count,
                    fault=fault,
                )
                paid.is_answered = True
        except CompletionError as error:
            self._rest.note(error, started=started)
            logger.warning("%s gave no %s: %s", self.name, schema.__name__, error)
            return None
        except BudgetExceededError as error:
            logger.info("%s was not asked for %s: %s", self.name, schema.__name__, error)
            return None
        return answer
