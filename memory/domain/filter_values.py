"""The values that a filter may compare with, each read strictly: a text is never a number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum, auto
from uuid import UUID

from .types import MemoryType, Role

MAX_TEXT_CHARS = 200


class Kind(Enum):
    """What a value must be."""

    NAME = auto()
    NAME_OR_NONE = auto()
    ID_OR_NONE = auto()
    TEXT = auto()
    TEXT_OR_NONE = auto()
    MEMORY_TYPE = auto()
    ROLE = auto()
    BOOLEAN = auto()
    IMPORTANCE = auto()
    SHARE = auto()
    TIME = auto()


class BadValueError(ValueError):
    """A sentence that says what the value must be."""


def read_value(value: object, kind: Kind) -> str | bool | int | float | datetime | UUID | None:
    """The value as the type of its kind; BadValueError for anything else.

    Times are aware UTC; a date alone is its first moment in UTC.
    """
    return _READERS[kind](value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadValueError("Must be a text.")
    if len(value) > MAX_TEXT_CHARS:
        raise BadValueError(f"Must have at most {MAX_TEXT_CHARS} characters.")
    if not value.isprintable():
        # Half surrogates and NUL are not printable either; the database could not take them.
        raise BadValueError("Must not hold control characters.")
    return value


def _text_or_none(value: object) -> str:
    # What has none is stored with an empty one.
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadValueError("Must be a text, or null for what has none.")
    return _text(value)


def _name(value: object) -> str:
    text = _text(value).strip()
    if not text:
        raise BadValueError("Must not be empty.")
    return text


def _name_or_none(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValueError("Must be a name, or null for what belongs to none.")
    return _name(value)


def _id_or_none(value: object) -> UUID | None:
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return UUID(value)
    except ValueError:
        pass
    raise BadValueError("Must be an id, or null for what belongs to none.")


def _member_of(choices: type[MemoryType] | type[Role]) -> Callable[[object], str]:
    known = ", ".join(choices)

    def read(value: object) -> str:
        if isinstance(value, str) and value in list(choices):
            return str(value)
        raise BadValueError(f"Must be one of: {known}.")

    return read


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadValueError("Must be true or false.")
    return value


def _importance(value: object) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # The ends are there so that "gt 0" and "lt 11" can be said.
    for whole in range(12):
        if is_number and value == whole:
            return whole
    raise BadValueError("Must be a whole number; importance runs from 1 to 10.")


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValueError("Must be a number from 0 to 1.")
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise BadValueError("Must be a number from 0 to 1.")
    return float(value)


def _time(value: object) -> datetime:
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


_READERS: Mapping[Kind, Callable[[object], str | bool | int | float | datetime | UUID | None]] = {
    Kind.NAME: _name,
    Kind.NAME_OR_NONE: _name_or_none,
    Kind.ID_OR_NONE: _id_or_none,
    Kind.TEXT: _text,
    Kind.TEXT_OR_NONE: _text_or_none,
    Kind.MEMORY_TYPE: _member_of(MemoryType),
    Kind.ROLE: _member_of(Role),
    Kind.BOOLEAN: _boolean,
    Kind.IMPORTANCE: _importance,
    Kind.SHARE: _share,
    Kind.TIME: _time,
}
