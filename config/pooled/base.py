"""Django's PostgreSQL backend, whose pool lends a connection without asking the server first.

Django sends an empty statement before each connection is lent, which every request waits for. A
server that ended a connection has said so on its socket, where it costs nothing to look.
"""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus


class DatabaseWrapper(base.DatabaseWrapper):
    """As Django's, with CONN_HEALTH_CHECKS off: what is lent was quiet, or answered."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        # Any: Django's own signature
        """A connection that lives, from the pool where there is one.

        Raises PoolTimeout where the pool has none for too long.
        """
        while True:
            found = super().get_new_connection(conn_params)
            if self.pool is None or is_alive(found):
                return found
            # The pool puts a new one in the place of one that is closed.
            found.close()
            self.pool.putconn(found)


def is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server still holds an idle connection."""
    if connection.closed or connection.info.transaction_status is not TransactionStatus.IDLE:
        return False
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if not waiting.poll(0):
        return True
    # It said something: that it ended it, or no more than a notice.
    try:
        connection.execute("")
    except psycopg.Error:
        return False
    return True
