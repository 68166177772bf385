"""Statements that PostgreSQL reads and plans once a connection, past the ORM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
from django.conf import settings
from django.db import connection
from numpy.typing import NDArray
from psycopg.adapt import Dumper
from psycopg.pq import Format

# PostgreSQL's numbers of its types.
_FLOAT4, _FLOAT4_ARRAY = 700, 1021
_UUID, _UUID_ARRAY = 2950, 2951


class Uuids(np.ndarray[Any, np.dtype[np.bytes_]]):
    """Ids of sixteen bytes each, to be made by `view(Uuids)`: a parameter of the type uuid[]."""


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
    is_prepared = prepare and settings.DATABASE_PREPARE
    with connection.wrap_database_errors:
        connection.ensure_connection()
        raw = connection.connection
        with psycopg.RawCursor(raw) as cursor:
            if connection.queries_logged:
                connection.queries_log.append({"sql": statement, "time": "0"})
            cursor.adapters.register_dumper(np.ndarray, _VectorDumper)
            cursor.adapters.register_dumper(Uuids, _UuidsDumper)
            # On only here: psycopg would keep the text of each statement of the ORM, values and
            # all, to count how often it comes.
            raw.prepare_threshold = 0 if is_prepared else None
            try:
                cursor.execute(statement, parameters, prepare=is_prepared, binary=True)
            finally:
                raw.prepare_threshold = None
            return cursor.fetchall() if cursor.description else []
