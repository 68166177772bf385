"""Identifiers of rows."""

from __future__ import annotations

from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """A new UUIDv7 (RFC 9562): unique everywhere, and later ones sort after earlier ones."""
    return uuid7()
