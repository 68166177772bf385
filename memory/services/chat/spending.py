"""The cost of a call: reserved while it runs, then counted once together with its answer."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from django.db import DatabaseError, InterfaceError, transaction
from django.utils import timezone

from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.services.chat.asking import Json
from memory.services.chat.history import Recorded, record_answer
from routing.domain.budgets import Reservation, Usage
from routing.services.cost_guard import count_along, release, settle
from routing.services.decisions import Outcome, note_outcome, write_outcome
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)


@contextmanager
def released_on_failure(reservation: Reservation) -> Iterator[None]:
    """Release the reservation if the block raises: the call cost nothing."""
    try:
        yield
    except BaseException:
        try:
            release(reservation=reservation)
        except (DatabaseError, InterfaceError):
            logger.warning("A reservation was not released; it expires.", exc_info=True)
        raise


@dataclass(frozen=True, slots=True)
class Ended:
    """A finished call, and where its answer belongs.

    `message` is the answer, or the received part of it if `is_partial`; `outcomes` belong to the
    routing decision.
    """

    viewer: Viewer
    recorded: Recorded
    message: Json
    is_partial: bool
    reservation: Reservation
    cost_usd: Decimal
    usage: Usage
    outcomes: Sequence[Outcome]


def settle_call(ended: Ended, *, tools: Tools) -> None:
    """Store the answer, the outcome and the cost of a call in one transaction.

    If the cost cannot be counted with them, they are stored without it, and it is counted
    separately. An exception means that the answer is not stored; its cost is counted anyway.
    """
    committed: list[bool] = []
    try:
        with team_scope(
            team_ids=[ended.viewer.team_id], actor=ended.viewer.actor, is_planned_once=True
        ):
            # First of all that waits for the commit: what follows it may fail by itself.
            transaction.on_commit(lambda: committed.append(True))
            _store(ended, tools=tools)
            count_along(
                reservation=ended.reservation,
                actual_usd=ended.cost_usd,
                usage=ended.usage,
                now=timezone.now(),
            )
    except BaseException as error:
        _count(ended)
        if committed:
            logger.warning("What a call cost was counted late.", exc_info=True)
        elif isinstance(error, (DatabaseError, InterfaceError)):
            _store_alone(ended, tools=tools)
        else:
            _note_outcomes(ended)
            raise


def _store(ended: Ended, *, tools: Tools) -> None:
    record_answer(
        viewer=ended.viewer,
        recorded=ended.recorded,
        message=ended.message,
        is_partial=ended.is_partial,
        tools=tools,
        now=timezone.now(),
    )
    for each in ended.outcomes:
        write_outcome(each)


def _store_alone(ended: Ended, *, tools: Tools) -> None:
    """Store the answer and the outcome again, without the cost."""
    try:
        with team_scope(team_ids=[ended.viewer.team_id], actor=ended.viewer.actor):
            _store(ended, tools=tools)
    except BaseException:
        _note_outcomes(ended)
        raise


def _note_outcomes(ended: Ended) -> None:
    for each in ended.outcomes:
        note_outcome(each)


def _count(ended: Ended) -> None:
    """Count the cost of a call. If that fails, the reservation stays until it expires."""
    try:
        settle(
            reservation=ended.reservation,
            actual_usd=ended.cost_usd,
            usage=ended.usage,
            now=timezone.now(),
        )
    except (DatabaseError, InterfaceError):
        logger.error("The cost of a call (%s USD) was not counted.", ended.cost_usd, exc_info=True)
