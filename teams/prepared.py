"""Statements that PostgreSQL reads and plans once a connection, past the ORM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from numpy.typing import NDArray
from psycopg.adapt import Dumper
from psycopg.pq import Format

# PostgreSQL's numbers of its types.
_FLOAT4, _FLOAT4_ARRAY = 700, 1021
_UUID, _UUID_ARRAY = 2950, 2951
_INT8, _INT8_ARRAY = 20, 1016
# On a connection that knows how these are sent.
_MARK = "_palimpsest_dumpers"


class Uuids(np.ndarray[Any, np.dtype[np.bytes_]]):
    """Ids of sixteen bytes each, to be made by `view(Uuids)`: a parameter of the type uuid[]."""


def uuids(ids: Sequence[UUID]) -> Uuids:
    """The ids as one parameter of the type uuid[]: a list of many takes long to be written."""
    return np.array([each.bytes for each in ids], dtype="S16").view(Uuids)


class Bits(np.ndarray[Any, np.dtype[np.int64]]):
    """Numbers of 64 bits, to be made by `view(Bits)`: a parameter of the type bigint[].

    A list of numbers is sent in the least type that holds them, and planned anew for each type.
    """


class _VectorDumper(Dumper):
    """A vector as PostgreSQL's float4[] in its binary form."""

    format = Format.BINARY
    oid = _FLOAT4_ARRAY

    def dump(self, obj: Any) -> bytes:  # Any: as the base class has it
        """The elements as they are sent."""
        return _array(obj, kind=_FLOAT4, size=4, dtype=">f4")


class _UuidsDumper(Dumper):
    """Ids as PostgreSQL's uuid[] in its binary form."""

    format = Format.BINARY
    oid = _UUID_ARRAY

    def dump(self, obj: Any) -> bytes:  # Any: as the base class has it
        """The elements as they are sent."""
        return _array(obj, kind=_UUID, size=16, dtype="S16")


class _BitsDumper(Dumper):
    """Numbers as PostgreSQL's bigint[] in its binary form."""

    format = Format.BINARY
    oid = _INT8_ARRAY

    def dump(self, obj: Any) -> bytes:  # Any: as the base class has it
        """The elements as they are sent."""
        return _array(obj, kind=_INT8, size=8, dtype=">i8")


def _array(values: NDArray[Any], *, kind: int, size: int, dtype: str) -> bytes:
    """One dimension without NULLs, then each element with its length; see array_recv there."""
    elements = np.empty(len(values), dtype=[("length", ">i4"), ("value", dtype)])
    elements["length"] = size
    elements["value"] = values
    header = [1, 0, kind, len(values), 1] if len(values) else [0, 0, kind]
    return np.array(header, dtype=">i4").tobytes() + elements.tobytes()


def run_prepared(
    statement: str,
    parameters: Sequence[Any],  # Any: a parameter of any type
    *,
    prepare: bool = True,
) -> list[tuple[Any, ...]]:
    """The rows of one statement with $1, $2, ... for its parameters; answers come in binary.

    JSON comes parsed, past what the ORM has set for its own reading; a numpy array is a vector.
    Statements that are not the program's own, a few in number, must not be prepared. With
    DATABASE_PREPARE=false none is.
    """
    own: Any = connections[DEFAULT_DB_ALIAS]  # Any: what Django leaves untyped
    run = partial(_fetched, own, prepare and settings.DATABASE_PREPARE)
    if not own.execute_wrappers:
        return run(statement, parameters)

    def execute(sql: str, given: Sequence[Any], *_: object) -> list[tuple[Any, ...]]:
        return run(sql, given)

    # As the ORM does with its own, so that who wraps statements meets these too.
    wrapped: Callable[..., Any] = execute
    for wrapper in reversed(own.execute_wrappers):
        wrapped = partial(wrapper, wrapped)
    found: list[tuple[Any, ...]] = wrapped(
        statement, parameters, False, {"connection": own, "cursor": None}
    )
    return found


def _fetched(
    own: Any, is_prepared: bool, statement: str, parameters: Sequence[Any]
) -> list[tuple[Any, ...]]:
    with own.wrap_database_errors:
        own.ensure_connection()
        raw = own.connection
        if not hasattr(raw, _MARK):
            raw.adapters.register_dumper(np.ndarray, _VectorDumper)
            raw.adapters.register_dumper(Uuids, _UuidsDumper)
            raw.adapters.register_dumper(Bits, _BitsDumper)
            setattr(raw, _MARK, True)
        with psycopg.RawCursor(raw) as cursor:
            if own.queries_logged:
                own.queries_log.append({"sql": statement, "time": "0"})
            # On only here: psycopg would keep the text of each statement of the ORM, values and
            # all, to count how often it comes.
            raw.prepare_threshold = 0 if is_prepared else None
            try:
                cursor.execute(_sent(statement), parameters, prepare=is_prepared, binary=True)
            finally:
                raw.prepare_threshold = None
            # Not `description`, which is made anew of all columns each time it is asked for.
            return [] if cursor.rownumber is None else cursor.fetchall()


@lru_cache
def _sent(statement: str) -> bytes:
    """As it is sent: the same object each time, which is looked up without being read anew."""
    return statement.encode()
