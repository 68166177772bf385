"""Rows of models from statements past the ORM (`teams.prepared`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model

_M = TypeVar("_M", bound=Model)


@dataclass(frozen=True, slots=True)
class Columns(Generic[_M]):
    """The columns of a model, in one order for the statement and for the row made of its answer."""

    model: type[_M]

    def named(self, alias: str) -> str:
        """As a statement lists them, of the table that it calls `alias`."""
        return ", ".join(f"{alias}.{field.column}" for field in self.model._meta.concrete_fields)

    def take(self, values: Iterator[Any]) -> _M | None:  # Any: a column of any type
        """The row of the next values; None where an outer join found none."""
        names = [field.attname for field in self.model._meta.concrete_fields]
        own: Sequence[Any] = [next(values) for _ in names]
        if own[0] is None:
            return None
        return self.model.from_db(DEFAULT_DB_ALIAS, names, own)
