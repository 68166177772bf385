"""The database connection of a thread, which others wait for."""

from __future__ import annotations

from django.db import connection


def give_back_connection() -> None:
    """Let others have the connection while a model is waited for; nothing inside a transaction."""
    if not connection.in_atomic_block:
        connection.close()
