"""Holding the money of a call while it runs, and counting it once, however the call ends."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from routing.domain.budgets import Reservation, Usage
from routing.services.cost_guard import release, settle

logger = logging.getLogger(__name__)


@contextmanager
def released_on_failure(reservation: Reservation) -> Iterator[None]:
    """Hold the money no longer when the block raises: the call cost nothing."""
    try:
        yield
    except BaseException:
        try:
            release(reservation=reservation)
        except (DatabaseError, InterfaceError):
            logger.warning("A reservation was not released; it expires.", exc_info=True)
        raise


def count_spend(*, reservation: Reservation, cost_usd: Decimal, usage: Usage) -> None:
    """Count what a call cost. What cannot be written now stays held until it expires."""
    try:
        settle(reservation=reservation, actual_usd=cost_usd, usage=usage, now=timezone.now())
    except (DatabaseError, InterfaceError):
        logger.error("The cost of a call (%s USD) was not counted.", cost_usd, exc_info=True)
