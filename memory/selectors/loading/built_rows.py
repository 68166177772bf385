"""Model instances made of the values of a row, for answers with very many of them."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, models
from django.db.models.base import ModelState

_M = TypeVar("_M", bound=models.Model)


def built(model: type[_M], values: dict[str, Any]) -> _M:  # Any: a column's value of any type
    """A stored row as `Model.from_db` makes it, but its fields at once: that sets them one by one.

    `values` are by the attributes' names and become the instance's own; a field that is not among
    them is read when it is asked for.
    """
    row = model.__new__(model)
    row.__dict__ = values
    row._state = ModelState()
    row._state.adding = False
    row._state.db = DEFAULT_DB_ALIAS
    return row
