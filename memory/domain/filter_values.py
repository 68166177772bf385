"""The values that a filter may compare with, each read strictly: a text is never a number."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from .types import MemoryType, Role

MAX_TEXT_CHARS = 200


class BadValueError(ValueError):
    """A sentence that says what the value must be."""


def read_text(value: object) -> str:
    """A printable text of at most 200 characters."""
    if not isinstance(value, str):
        raise BadValueError("Must be a text.")
    if len(value) > MAX_TEXT_CHARS:
        raise BadValueError(f"Must have at most {MAX_TEXT_CHARS} characters.")
    if not value.isprintable():
        # Half surrogates and NUL are not printable either; the database could not take them.
        raise BadValueError("Must not hold control characters.")
    return value


def read_text_or_none(value: object) -> str:
    """A text; "" for null, as what has none is stored."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadValueError("Must be a text, or null for what has none.")
    return read_text(value)


def read_name(value: object) -> str:
    """A text that is not blank, without the spaces around it."""
    text = read_text(value).strip()
    if not text:
        raise BadValueError("Must not be empty.")
    return text


def read_name_or_none(value: object) -> str | None:
    """A name, or None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValueError("Must be a name, or null for what belongs to none.")
    return read_name(value)


def read_id_or_none(value: object) -> UUID | None:
    """An id, or None."""
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return UUID(value)
    except ValueError:
        pass
    raise BadValueError("Must be an id, or null for what belongs to none.")


def reader_of(choices: type[MemoryType] | type[Role]) -> Callable[[object], str]:
    """A reader of one of the choices."""
    known = ", ".join(choices)

    def read(value: object) -> str:
        if isinstance(value, str) and value in list(choices):
            return str(value)
        raise BadValueError(f"Must be one of: {known}.")

    return read


def read_boolean(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise BadValueError("Must be true or false.")
    return value


def read_importance(value: object) -> int:
    """A whole number from 0 to 11, so that "gt 0" and "lt 11" can be said."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    for whole in range(12):
        if is_number and value == whole:
            return whole
    raise BadValueError("Must be a whole number; importance runs from 1 to 10.")


def read_share(value: object) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValueError("Must be a number from 0 to 1.")
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise BadValueError("Must be a number from 0 to 1.")
    return float(value)


def read_time(value: object) -> datetime:
    """An aware UTC time; a date alone is its first moment in UTC."""
    sentence = "Must be a time with its zone, as in 2026-02-09T09:04:00Z, or a date."
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARS:
        raise BadValueError(sentence)
    try:
        read = datetime.fromisoformat(value)
        is_date = len(value) == len("2026-02-09")
        if read.tzinfo is None and not is_date:
            raise BadValueError(sentence)
        return read.replace(tzinfo=UTC) if is_date else read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadValueError(sentence) from None
