"""Items of a file in any format: messages of conversations, and memories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from rest_framework.exceptions import ValidationError

from memory.api.forms import checked_payload
from memory.domain.forms import USUAL_TYPES, Form
from memory.domain.text.words import has_words, is_blank
from memory.domain.types import (
    EARLIEST_YEAR,
    MAX_TAG_CHARS,
    MAX_TAGS,
    UNCONFIRMED,
    MemoryType,
    Role,
    is_to_come,
    is_too_early,
)
from teams.errors import InvalidError

MAX_NAME_CHARS = 200
_MAX_SLUG_CHARS = 100

Given = Mapping[str, Any]  # Any: JSON that is checked as it is read
# One item as it waits in a batch: JSON, with `at`, its place in the file.
Item = dict[str, Any]  # Any: JSON


class ImportFileError(InvalidError):
    """An error in a file, beginning with its place; nothing of the file is imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Owners of the items that name none; "" for no owner."""

    agent: str = ""
    user: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMaker:
    """Makes checked items; raises ImportFileError naming the place.

    `given` may name an agent, user and project of the item's own.
    """

    names: Names
    now: datetime

    def messages(
        self,
        *,
        place: str,
        thread_id: str,
        role: str,
        content: object,
        external_id: str,
        at: datetime | None = None,
        name: str = "",
        source: object = None,
        given: Given | None = None,
    ) -> Iterator[Item]:
        """A message, in parts where it is longer than one may be; none where it is blank."""
        text = text_at(_storable(content), place)
        if is_blank(text):
            return
        owners = self._owners(given or {}, place)
        for field in ("agent", "user"):
            if field not in owners:
                raise ImportFileError(
                    f"{place}: It is a message of a conversation: name the {field}.", field=field
                )
        if role not in set(Role):
            raise ImportFileError(f"{place}: The role must be one of {', '.join(Role)}.")
        most = settings.MAX_CONTENT_CHARS
        for start in range(0, len(text), most):
            part = text[start : start + most]
            if is_blank(part):
                continue
            yield {
                "at": place,
                **owners,
                "thread_id": shortened(_name(thread_id, place)),
                "role": role,
                "content": part,
                "name": _name(name, place),
                "external_id": _id(f"{external_id}#{start}" if start else external_id, place),
                "created_at": at and at.isoformat(),
                **({"source": source} if source in UNCONFIRMED else {}),
            }

    def memory(
        self,
        *,
        place: str,
        content: object,
        external_id: str,
        at: datetime | None = None,
        memory_type: str = "",
        subject: object = None,
        tags: object = None,
        importance: object = None,
        given: Given | None = None,
        held: tuple[datetime | None, datetime | None] = (None, None),
    ) -> Item:
        """A memory, of a text, a form with its payload, or both, which `given` may hold.

        `held` is the time from and until which it holds; an end before the beginning is left out.
        """
        formed = _formed(given or {}, place)
        text = ""
        if content is not None or not formed:
            text = text_at(_storable(content), place, most=settings.MAX_CONTENT_CHARS)
            if not has_words(text):
                raise ImportFileError(f"{place}: A memory must have words.")
        usual = USUAL_TYPES.get(Form(formed["form"])) if formed else None
        memory_type = memory_type or usual or MemoryType.SEMANTIC
        if memory_type not in set(MemoryType):
            raise ImportFileError(f"{place}: The type must be one of {', '.join(MemoryType)}.")
        item: Item = {
            "at": place,
            **self._owners(given or {}, place),
            **formed,
            "content": text,
            "memory_type": memory_type,
            "subject": _name(subject, place)[:MAX_NAME_CHARS],
            "tags": _tags(tags, place),
            "external_id": _id(external_id, place),
            "created_at": at and at.isoformat(),
        }
        if memory_type == MemoryType.USER_PROFILE and "user" not in item:
            raise ImportFileError(f"{place}: It is about a person: name the user.", field="user")
        if memory_type in (MemoryType.IDENTITY, MemoryType.AGENT_PRIVATE) and "agent" not in item:
            raise ImportFileError(f"{place}: It is an agent's: name the agent.", field="agent")
        if category := _name((given or {}).get("category"), place):
            item["category"] = category
        if (source := (given or {}).get("source")) in UNCONFIRMED:
            item["source"] = source
        first, last = held
        if first is not None:
            item["valid_from"] = first.isoformat()
        if last is not None and (first is None or last >= first):
            item["valid_to"] = last.isoformat()
        if importance is not None:
            item["importance"] = _importance(importance, place)
        return item

    def time(self, given: Given, field: str, place: str) -> datetime | None:
        """The time in a field, see `time_in`."""
        return time_in(given, field, place, now=self.now)

    def _owners(self, given: Given, place: str) -> dict[str, str]:
        owners = {}
        for field in ("agent", "user", "project"):
            name = _name(given.get(field), place) or getattr(self.names, field)
            if field != "user" and len(name) > _MAX_SLUG_CHARS:
                raise ImportFileError(
                    f"{place}: The {field} may have {_MAX_SLUG_CHARS} characters.", field=field
                )
            if name:
                owners[field] = name
        return owners


def _formed(given: Given, place: str) -> Given:
    """The form and its checked payload, or nothing."""
    form, payload = given.get("form"), given.get("payload")
    if form is None and payload is None:
        return {}
    if form not in set(Form):
        raise ImportFileError(f"{place_of(place, 'form')}: Must be one of {', '.join(Form)}.")
    try:
        return {"form": form, "payload": checked_payload(Form(form), payload, gives_text=True)}
    except ValidationError as error:
        raise ImportFileError(f"{place}: {json.dumps(error.detail)}") from None


def is_message(item: Item) -> bool:
    return "role" in item


def place_of(place: str, field: str) -> str:
    """The place of a field of the object at that place, as errors name it."""
    return f"{place}.{field}" if place else field


def object_in(value: object, place: str) -> Given:
    """The JSON object that stands there."""
    if not isinstance(value, dict):
        raise ImportFileError(f"{place}: Expected an object.")
    return value


def list_in(given: Given, field: str, place: str) -> list[Any]:  # Any: JSON
    """The list in a field; an empty one where it is left out."""
    value = given.get(field)
    if value is not None and not isinstance(value, list):
        raise ImportFileError(f"{place_of(place, field)}: Expected a list.")
    return value or []


def id_in(given: Given, field: str, place: str) -> str:
    """The name that the source gave it, which makes an import safe to repeat."""
    value = given.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not (name := _name(value, place_of(place, field))):
        raise ImportFileError(f"{place_of(place, field)}: Is missing.")
    return name


def time_in(given: Given, field: str, place: str, *, now: datetime) -> datetime | None:
    """A time: ISO 8601, of UTC where it names no zone, or seconds since 1970; None without.

    Raises ImportFileError for a time more than a day after `now`.
    """
    value, place = given.get(field), place_of(place, field)
    if value in (None, ""):
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            at = datetime.fromtimestamp(value, UTC)
        else:
            at = datetime.fromisoformat(value if isinstance(value, str) else "?")
            at = at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise ImportFileError(f"{place}: Is no time as in 2026-02-09T09:04:00Z.") from None
    refuse_to_come(at, place, now=now)
    return at


def refuse_to_come(at: datetime, place: str, *, now: datetime) -> None:
    """Raises ImportFileError for a time at which nothing can have been said."""
    if is_to_come(at=at, now=now):
        raise ImportFileError(f"{place}: Must not lie more than a day ahead.")
    if is_too_early(at):
        raise ImportFileError(f"{place}: Must not lie before {EARLIEST_YEAR}.")


def text_at(value: object, place: str, *, most: int | None = None) -> str:
    """A text that the database can store verbatim, of at most so many characters."""
    if not isinstance(value, str):
        raise ImportFileError(f"{place}: {'Is missing' if value is None else 'Must be text'}.")
    if "\0" in value:
        raise ImportFileError(f"{place}: Must not hold the NUL character.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ImportFileError(f"{place}: Must be valid Unicode text.") from None
    if most is not None and len(value) > most:
        raise ImportFileError(
            f"{place}: Has {len(value):,} characters; at most {most:,} are stored."
        )
    return value


def _storable(value: object) -> object:
    """The text with U+FFFD for NUL: nobody can mend the export of another system."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def printable(text: str) -> str:
    """The text with a space for each character that cannot be printed."""
    return "".join(each if each.isprintable() else " " for each in text).strip()


def name_at(value: object, place: str, *, blank: bool = False) -> str:
    """A name of at most 200 printable characters; "" when it is left out."""
    if value is None:
        return ""
    text = text_at(value, place).strip()
    if not text and not blank:
        raise ImportFileError(f"{place}: Must not be blank.")
    if len(text) > MAX_NAME_CHARS or not text.isprintable():
        raise ImportFileError(f"{place}: Must be at most {MAX_NAME_CHARS} printable characters.")
    return text


def id_of_words(*words: str) -> str:
    """An id for what has none: the same words have the same one."""
    # Text that is not valid Unicode is refused with its place when the item is made.
    return hashlib.sha256("\0".join(words).encode(errors="surrogatepass")).hexdigest()[:32]


def id_with_words(*parts: object) -> str:
    """An id of a source whose texts change: the last part is the text, the others name it there.

    A text that changed at its source is a new statement, which may supersede the earlier one.
    """
    *names, text = map(str, parts)
    return ":".join([*names, id_of_words(text)[:12]])


def shortened(name: str) -> str:
    """The name, or where it is longer than one may be, a digest that is as stable."""
    if len(name) <= MAX_NAME_CHARS:
        return name
    return f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"


def _name(value: object, place: str) -> str:
    """A name in one line; "" without one."""
    if value is None:
        return ""
    return name_at(shortened(" ".join(text_at(value, place).split())), place, blank=True)


def _id(value: str, place: str) -> str:
    return name_at(shortened(text_at(value, place)), place)


def _tags(value: object, place: str) -> list[str]:
    given = value.split(",") if isinstance(value, str) else value or []
    if not isinstance(given, list):
        raise ImportFileError(f"{place}: Tags must be a list.")
    texts = (printable(each) if isinstance(each, str) else each for each in given)
    named = (_name(each, place)[:MAX_TAG_CHARS] for each in texts)
    return list(dict.fromkeys(each for each in named if each))[:MAX_TAGS]


def _importance(value: object, place: str) -> int:
    text = str(value).strip()
    number = int(text) if text.isdecimal() and len(text) < 3 else 0
    if not 1 <= number <= 10:
        raise ImportFileError(f"{place}: The importance must be 1 to 10.")
    return number
