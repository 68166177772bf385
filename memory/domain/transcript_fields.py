"""What the fields of a transcript file may hold, checked as the API checks them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from .clock import is_to_come

MAX_NAME_CHARS = 200
# "1:56 pm on 8 May, 2023"; the files name no zone, so it is read as UTC.
_SESSION_TIME = "%I:%M %p on %d %B, %Y"


class TranscriptError(ValueError):
    """What is wrong with a transcript, beginning with the place (`[2].messages[0].role: …`)."""


def object_at(item: object, place: str) -> Mapping[str, object]:
    """The object that stands there."""
    if not isinstance(item, dict):
        raise TranscriptError(f"{place}: Expected an object.")
    return item


def text_at(value: object, place: str) -> str:
    """The text that stands there, which the database can keep as it is."""
    if not isinstance(value, str):
        raise TranscriptError(f"{place}: {'Is missing' if value is None else 'Must be text'}.")
    if "\0" in value:
        raise TranscriptError(f"{place}: Must not hold the NUL character.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise TranscriptError(f"{place}: Must be valid Unicode text.") from None
    return value


def name_at(value: object, place: str, *, blank: bool = False) -> str:
    """A name of at most 200 printable characters; "" when it is left out."""
    if value is None:
        return ""
    text = text_at(value, place).strip()
    if not text and not blank:
        raise TranscriptError(f"{place}: Must not be blank.")
    if len(text) > MAX_NAME_CHARS or not text.isprintable():
        raise TranscriptError(f"{place}: Must be at most {MAX_NAME_CHARS} printable characters.")
    return text


def required_name_at(value: object, place: str) -> str:
    """As `name_at`, where it must not be left out."""
    return name_at(text_at(value, place), place)


def time_at(value: object, place: str) -> datetime | None:
    """A time with its zone, in UTC; None when it is left out."""
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        if at is not None and at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        at = None
    if at is None:
        raise TranscriptError(f"{place}: Is no time as in 2026-02-09T09:04:00Z.")
    raise TranscriptError(f"{place}: Give the time with its zone, as in 2026-02-09T09:04:00Z.")


def session_time_at(value: object, place: str) -> datetime:
    """When a LoCoMo session began."""
    try:
        return datetime.strptime(text_at(value, place), _SESSION_TIME).replace(tzinfo=UTC)
    except ValueError as error:
        if isinstance(error, TranscriptError):
            raise
        raise TranscriptError(f'{place}: Is no time as in "1:56 pm on 8 May, 2023".') from None


def refuse_to_come(at: datetime | None, place: str, *, now: datetime) -> None:
    """Raise TranscriptError for a time at which nothing can have been said yet."""
    if at is not None and is_to_come(at=at, now=now):
        raise TranscriptError(f"{place}: Must not lie more than a day ahead.")


def place_of(place: str, field: str) -> str:
    """How a message names the field of what stands at that place."""
    return f"{place}.{field}" if place else field


def refuse_repeated(names: Iterable[str], what: str) -> None:
    """Raise TranscriptError for the first name that stands there twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TranscriptError(f"{what} {name!r} stands there twice.")
        seen.add(name)
