"""Columns of the admin's pages of models and money."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from teams.admin.display import NOTHING, Column
from teams.admin.theme import display

TIER_COLOURS = {"fast": "success", "balanced": "info", "powerful": "warning"}


def dollars(amount: Decimal) -> str:
    """An amount in USD with at least two places and without further zeros."""
    whole, _, part = f"{amount:f}".partition(".")
    return f"{whole}.{part.rstrip('0'):0<2}"


def dollar_column(field: str, title: str) -> Column:
    """An amount in USD; a dash for none."""

    @display(description=title, ordering=field)
    def column(_: Any, row: Any) -> str:  # Any: as for Column
        amount: Decimal | None = getattr(row, field)
        return NOTHING if amount is None else dollars(amount)

    return column
