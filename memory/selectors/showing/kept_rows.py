"""Rows of memories as JSON, for answers that are kept, and as they are read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson
from django.contrib.postgres.fields import ArrayField
from django.db import models

from memory.selectors.showing.built_rows import built
from memory.selectors.showing.shown_rows import (
    APART,
    MEMORY,
    MEMORY_NAMES,
    NAMED,
    OWNERS,
    USAGE,
    USAGE_NAMES,
    Names,
    ShownRow,
)

_KEPT = [field for field in MEMORY if field.attname not in APART]
_COUNTED = [field for field in USAGE if field.attname not in APART]
# The columns apart stand first among those of a memory and of a usage.
_MEMORY_FROM = len(MEMORY) - len(_KEPT)
_USAGE_FROM = len(MEMORY) + len(USAGE) - len(_COUNTED)


def _reader(field: Any) -> Callable[[Any], object] | None:  # Any: a field of any kind
    """How a value of the field is read from JSON where it became text."""
    if isinstance(field, models.ForeignKey):
        return _reader(field.target_field)
    if isinstance(field, models.UUIDField):
        return UUID
    if isinstance(field, models.DateTimeField):
        return datetime.fromisoformat
    of = _reader(field.base_field) if isinstance(field, ArrayField) else None
    return None if of is None else lambda values: [of(value) for value in values]


# Rows that were kept with other columns must not be read as these.
ROW_SHAPE = " ".join([*MEMORY_NAMES, *USAGE_NAMES, *NAMED])
_READERS = [
    (place, read)
    for place, read in enumerate(map(_reader, [*_KEPT, *_COUNTED]))
    if read is not None
]


def row_as_json(row: ShownRow) -> bytes:
    """What was read of a memory, as a list in JSON; the id first."""
    columns = (*row.values[_MEMORY_FROM : len(MEMORY)], *row.values[_USAGE_FROM:])
    if row.known is None:
        return orjson.dumps(columns, default=str)[:-1] + _end_of_row(row.called)
    return row.known.as_json(columns) + _end_of_row(row.called)


@lru_cache(maxsize=1_024)
def _end_of_row(called: tuple[str | None, ...]) -> bytes:
    return b"," + orjson.dumps(called)[1:]


def rows_as_kept(*, team_id: UUID, rows: Iterable[Sequence[Any]]) -> dict[UUID, ShownRow]:
    """The rows that were kept as JSON, where ids and times became text, by their ids."""
    found = {}
    names: Names = {}
    for row in rows:
        values = list(row)
        for place, read in _READERS:
            if values[place] is not None:
                values[place] = read(values[place])
        has_usage = values[len(_KEPT)] is not None
        apart = (values[0], team_id) if has_usage else (None, None)
        columns = len(_KEPT) + len(_COUNTED)
        whole = (team_id, *values[: len(_KEPT)], *apart, *values[len(_KEPT) : columns])
        for (name, (model, column)), text in zip(NAMED.items(), values[columns:], strict=True):
            key = whole[OWNERS[name]]
            if text is not None and (name, key) not in names:
                names[name, key] = built(model, {"id": key, "team_id": team_id, column: text})
        found[values[0]] = ShownRow(whole, names)
    return found
