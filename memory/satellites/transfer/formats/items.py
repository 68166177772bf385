"""What a file holds, whatever its format: messages of conversations, and memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from memory.domain.text.words import has_words, is_blank
from memory.domain.types import MAX_TAG_CHARS, MAX_TAGS, MemoryType, Role
from memory.satellites.transfer.transcripts import (
    MAX_NAME_CHARS,
    TranscriptError,
    name_at,
    place_of,
    refuse_to_come,
    text_at,
)
from teams.errors import InvalidError

_MAX_SLUG_CHARS = 100

Given = Mapping[str, Any]  # Any: JSON that is checked as it is read
# One item as it waits in a batch: JSON, with `at`, its place in the file.
Item = dict[str, Any]  # Any: JSON


class ImportFileError(InvalidError):
    """What is wrong with a file, beginning with the place; nothing of it is imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Whose the items are that name nobody themselves; "" where nobody is named."""

    agent: str = ""
    user: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemMaker:
    """Makes items of what a file says; raises ImportFileError naming the place."""

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
        given: Given | None = None,
    ) -> Iterator[Item]:
        """A message, in parts where it is longer than one may be; none where it is blank.

        `given` may name an agent, user and project of its own.
        """
        owners = self._owners(given or {}, place)
        for field in ("agent", "user"):
            if field not in owners:
                raise ImportFileError(
                    f"{place}: It is a message of a conversation: name the {field}.", field=field
                )
        if role not in set(Role):
            raise ImportFileError(f"{place}: The role must be one of {', '.join(Role)}.")
        text = _text(content, place)
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
            }

    def memory(
        self,
        *,
        place: str,
        content: object,
        external_id: str,
        at: datetime | None = None,
        memory_type: str = MemoryType.SEMANTIC,
        subject: object = None,
        tags: object = None,
        importance: object = None,
        given: Given | None = None,
    ) -> Item:
        """A memory; `given` may name an agent, user and project of its own."""
        text = _text(content, place)
        if not has_words(text):
            raise ImportFileError(f"{place}: A memory must have words.")
        if len(text) > settings.MAX_CONTENT_CHARS:
            raise ImportFileError(
                f"{place}: Has {len(text):,} characters; at most"
                f" {settings.MAX_CONTENT_CHARS:,} are kept."
            )
        if memory_type not in set(MemoryType):
            raise ImportFileError(f"{place}: The type must be one of {', '.join(MemoryType)}.")
        item: Item = {
            "at": place,
            **self._owners(given or {}, place),
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
        if importance is not None:
            item["importance"] = _importance(importance, place)
        return item

    def time(self, value: object, place: str) -> datetime | None:
        """A time: ISO 8601, of UTC where it names no zone, or seconds since 1970; None without."""
        if value in (None, ""):
            return None
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                at = datetime.fromtimestamp(value, UTC)
            else:
                at = datetime.fromisoformat(value if isinstance(value, str) else "?")
                at = at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
            refuse_to_come(at, place, now=self.now)
        except TranscriptError as error:
            raise ImportFileError(str(error)) from None
        except (ValueError, OverflowError, OSError):
            raise ImportFileError(f"{place}: Is no time as in 2026-02-09T09:04:00Z.") from None
        return at

    def _owners(self, given: Given, place: str) -> dict[str, str]:
        """The agent, user and project that are named, here or for the whole file."""
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


def is_message(item: Item) -> bool:
    return "role" in item


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


def id_of_words(*words: str) -> str:
    """An id for what has none: the same words have the same one."""
    # What is no Unicode text is refused with its place when the item is made.
    return hashlib.sha256("\0".join(words).encode(errors="surrogatepass")).hexdigest()[:32]


def id_with_words(*parts: object) -> str:
    """An id of a source whose texts change: the last part is the text, the others name it there.

    So what was changed there is a new statement, which may supersede the one of before.
    """
    *names, text = map(str, parts)
    return ":".join([*names, id_of_words(text)[:12]])


def shortened(name: str) -> str:
    """The name, or where it is longer than one may be, a digest that is as stable."""
    if len(name) <= MAX_NAME_CHARS:
        return name
    return f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"


def _text(value: object, place: str) -> str:
    try:
        return text_at(value, place)
    except TranscriptError as error:
        raise ImportFileError(str(error)) from None


def _name(value: object, place: str) -> str:
    """A name in one line, as printable as its source has it; "" without one."""
    if value is None:
        return ""
    text = " ".join(_text(value, place).split())
    try:
        return name_at(shortened(text), place, blank=True)
    except TranscriptError as error:
        raise ImportFileError(str(error)) from None


def _id(value: str, place: str) -> str:
    """An id as it is, or the digest of a longer one."""
    try:
        return name_at(shortened(text_at(value, place)), place)
    except TranscriptError as error:
        raise ImportFileError(str(error)) from None


def _tags(value: object, place: str) -> list[str]:
    """Tags given as a list, or as a text with commas between them."""
    given = value.split(",") if isinstance(value, str) else value or []
    if not isinstance(given, list):
        raise ImportFileError(f"{place}: Tags must be a list.")
    named = (_name(each, place)[:MAX_TAG_CHARS] for each in given)
    return list(dict.fromkeys(each for each in named if each))[:MAX_TAGS]


def _importance(value: object, place: str) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if not 1 <= number <= 10:
        raise ImportFileError(f"{place}: The importance must be 1 to 10.")
    return number
