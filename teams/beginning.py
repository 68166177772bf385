"""The beginning of a transaction together with what is set for it, in one round trip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import DataError, OperationalError, errors
from psycopg.pq import ConnStatus, Escaping, ExecStatus


def begin(settings: Mapping[str, str], *, shared_lock: int | None = None) -> None:
    """Begin the transaction that Django has announced (`atomic`) with settings local to it.

    The driver would begin it by itself before the first statement, and wait for that. `settings`
    are values by the names of PostgreSQL's settings, which are the program's own; `shared_lock` is
    the number of an advisory lock to share from its beginning. Like BEGIN itself it is no statement
    to who wraps or counts them, and its text, which holds the values, may stand in PostgreSQL's
    log. Raises Django's errors of databases.
    """
    own: Any = connections[DEFAULT_DB_ALIAS]  # Any: what Django leaves untyped
    raw = own.connection.pgconn
    with own.wrap_database_errors:
        quoted = Escaping(raw).escape_literal
        commands = [b"BEGIN"]
        for name, value in settings.items():
            if "\0" in value:
                raise DataError(f"{name} cannot hold a null character")
            commands.append(b"SET LOCAL %s TO %s" % (name.encode(), bytes(quoted(value.encode()))))
        if shared_lock is not None:
            commands.append(b"SELECT pg_advisory_xact_lock_shared(%d)" % shared_lock)
        result = raw.exec_(b"; ".join(commands))
        if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
            error = errors.error_from_result(result)
            if raw.status == ConnStatus.OK or isinstance(error, OperationalError):
                raise error
            # One without a number of its own is that of a connection that broke.
            raise OperationalError(str(error))
