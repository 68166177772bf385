"""Conditions of the ORM as text for the statements that it cannot say, compiled once a shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import Model, Q

from memory.models import SearchEntry

TABLE = "memory_searchentry"


def stand_ins(*names: str) -> dict[str, UUID]:
    """An id for each parameter of a condition, to be put into the Q in its place."""
    return {name: uuid4() for name in names}


def as_sql(
    condition: Q, *, parameters: Mapping[str, UUID], model: type[Model] = SearchEntry
) -> str:
    """The condition on search entries as SQL with named parameters in the place of stand-ins.

    Other values become literals, so they must be the program's own and never a caller's.
    """
    query = model._default_manager.filter(condition).query
    sql, values = query.where.as_sql(query.get_compiler(connection=connection), connection)
    names = {value: name for name, value in parameters.items()}
    return sql % tuple(_placeholder(value, names) for value in values)


def _placeholder(value: Any, names: Mapping[UUID, str]) -> str:  # Any: any column's type
    if isinstance(value, UUID):
        return f"%({names[value]})s"
    if isinstance(value, bool | int):
        return str(value)
    return "'" + str(value).replace("'", "''").replace("%", "%%") + "'"
