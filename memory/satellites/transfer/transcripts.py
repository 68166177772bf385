"""Transcripts, and whose conversations they become."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from memory.domain.text.words import is_blank
from memory.domain.types import Role, is_to_come


class ImportMode(StrEnum):
    """What becomes of the turns: messages to extract from, one memory each, or both."""

    MESSAGES = "messages"
    VERBATIM = "verbatim"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """Whose conversations they become; agent, user and project are created when new.

    `user` is the main person, to whom the conversations belong. Where several people speak by
    name, the others become end users whose external ids are their names.
    """

    team_id: UUID
    agent: str
    user: str
    project: str | None = None


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import read and what of it was new; `_seconds` are time spent on each step.

    `masked_memories` are the new ones in which a secret was masked; messages stay as they are.
    """

    conversations: int = 0
    messages: int = 0
    new_messages: int = 0
    extracted_memories: int = 0
    verbatim_memories: int = 0
    masked_memories: int = 0
    post_seconds: float = 0.0
    extract_seconds: float = 0.0
    write_seconds: float = 0.0

    @property
    def new_memories(self) -> int:
        """Memories that were not there before, however they came about."""
        return self.extracted_memories + self.verbatim_memories

    def __add__(self, other: ImportSummary) -> ImportSummary:
        return ImportSummary(*map(sum, zip(astuple(self), astuple(other), strict=True)))


_SESSION = re.compile(r"session_(\d+)")
_TURN_SPACING = timedelta(minutes=1)
_CONVERSATION_FIELDS = ("messages", "thread_id", "started_at")
_MESSAGE_FIELDS = ("role", "content", "name", "created_at", "external_id")
MAX_NAME_CHARS = 200
# "1:56 pm on 8 May, 2023"; the files name no zone, so it is read as UTC.
_SESSION_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message; `created_at` is aware UTC, None where the file does not say."""

    role: Role
    content: str
    external_id: str
    name: str = ""
    created_at: datetime | None = None

    @property
    def speaker(self) -> str:
        """The name of the person who says it, casefolded; "" without a name and for agents."""
        return self.name.strip().casefold() if self.role is Role.USER else ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation; `prefix` with a turn's external id names the turn in the whole team."""

    thread_id: str
    prefix: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """The conversations of a file in its order, and the names of fields that nothing reads."""

    transcripts: tuple[Transcript, ...]
    unread_fields: tuple[str, ...] = ()

    @property
    def turn_count(self) -> int:
        return sum(len(each.turns) for each in self.transcripts)


def read_transcripts(*, data: object, stem: str, max_chars: int, now: datetime) -> TranscriptFile:
    """The conversations in a parsed JSON file whose name without suffix is `stem`.

    A plain conversation is named by its own thread id, else by the stem and, in a file of
    several, its number; a LoCoMo session is `<stem>-session-N`. Messages without an external id
    get one from their position, so that reading the file again gives the same ones.
    Raises TranscriptError for the first thing that the API would refuse too, such as a time more
    than a day after `now`.
    """
    reader = _Reader(stem=stem, max_chars=max_chars, now=now)
    if isinstance(data, dict) and any(_SESSION.fullmatch(name) for name in data):
        found = reader.sessions(data)
    elif isinstance(data, list) and data and all(_is_conversation(item) for item in data):
        found = [
            reader.conversation(item, place=f"[{index}]", fallback=f"{stem}-{index + 1}")
            for index, item in enumerate(data)
        ]
    elif isinstance(data, list) or _is_conversation(data):
        found = [reader.conversation(data, place="", fallback=stem)]
    else:
        raise TranscriptError(
            "Neither a list of messages, nor an object with messages, nor LoCoMo sessions."
        )
    if not found:
        raise TranscriptError("All of its sessions are empty.")
    refuse_repeated((each.thread_id for each in found), "the thread_id")
    return TranscriptFile(tuple(found), tuple(sorted(reader.unread)))


def _is_conversation(item: object) -> bool:
    return isinstance(item, list) or (isinstance(item, dict) and "messages" in item)


class _Reader:
    """Reads the parts of one file and remembers the fields it had no use for."""

    def __init__(self, *, stem: str, max_chars: int, now: datetime) -> None:
        self.stem = stem
        self.max_chars = max_chars
        self.now = now
        self.unread: set[str] = set()

    # -- plain JSON ------------------------------------------------------------------------

    def conversation(self, item: object, *, place: str, fallback: str) -> Transcript:
        given = {"messages": item} if isinstance(item, list) else object_at(item, place)
        self._note_unread(given, _CONVERSATION_FIELDS)
        thread = name_in(given, "thread_id", place) or name_at(fallback, "name")
        start = self._time(given, "started_at", place)
        messages, messages_at = given["messages"], place
        if not isinstance(item, list):
            messages_at = place_of(place, "messages")
        if not isinstance(messages, list):
            raise TranscriptError(f"{messages_at}: Expected a list of messages.")
        turns: list[Turn] = []
        for index, message in enumerate(messages):
            estimate = start + index * _TURN_SPACING if start else None
            if estimate is None and turns:
                estimate = turns[-1].created_at
            turns.append(self._message(message, f"{messages_at}[{index}]", index + 1, estimate))
        return _transcript(thread, thread, turns, place or "messages")

    def _message(self, item: object, place: str, number: int, estimate: datetime | None) -> Turn:
        given = object_at(item, place)
        self._note_unread(given, _MESSAGE_FIELDS)
        role = given.get("role")
        if not isinstance(role, str) or role not in set(Role):
            known = ", ".join(Role)
            raise TranscriptError(f"{place_of(place, 'role')}: Must be one of {known}.")
        external_id = name_in(given, "external_id", place)
        return Turn(
            role=Role(role),
            content=self._content(given.get("content"), place_of(place, "content")),
            external_id=external_id or f"position-{number}",
            name=name_in(given, "name", place, blank=True),
            created_at=self._time(given, "created_at", place) or estimate,
        )

    # -- LoCoMo ----------------------------------------------------------------------------

    def sessions(self, data: Mapping[str, object]) -> list[Transcript]:
        numbers = sorted(
            int(match.group(1)) for name in data if (match := _SESSION.fullmatch(name))
        )
        return [
            self._session(data, number)
            for number in numbers
            if data[f"session_{number}"] != []  # a session that never took place
        ]

    def _session(self, data: Mapping[str, object], number: int) -> Transcript:
        place = f"session_{number}"
        start = session_time_at(data.get(f"{place}_date_time"), f"{place}_date_time")
        refuse_to_come(start, f"{place}_date_time", now=self.now)
        items = data[place]
        if not isinstance(items, list):
            raise TranscriptError(f"{place}: Expected a list of turns.")
        turns = [
            self._turn(item, f"{place}[{index}]", start + index * _TURN_SPACING)
            for index, item in enumerate(items)
        ]
        return _transcript(
            name_at(f"{self.stem}-session-{number}", "name"), self.stem, turns, place
        )

    def _turn(self, item: object, place: str, at: datetime) -> Turn:
        given = object_at(item, place)
        text, caption = given.get("text"), given.get("blip_caption")
        if caption is not None and not isinstance(caption, str):
            raise TranscriptError(f"{place_of(place, 'blip_caption')}: Must be text.")
        if isinstance(text, str) and caption:
            text = f"{text} [shares a photo: {caption}]".lstrip()
        return Turn(
            role=Role.USER,
            content=self._content(text, place_of(place, "text")),
            external_id=required_name_in(given, "dia_id", place),
            name=required_name_in(given, "speaker", place),
            created_at=at,
        )

    # -- both ------------------------------------------------------------------------------

    def _time(self, given: Mapping[str, object], field: str, place: str) -> datetime | None:
        at = time_at(given.get(field), place_of(place, field))
        refuse_to_come(at, place_of(place, field), now=self.now)
        return at

    def _content(self, value: object, place: str) -> str:
        text = text_at(value, place)
        if is_blank(text):
            raise TranscriptError(f"{place}: Must not be blank.")
        if len(text) > self.max_chars:
            raise TranscriptError(
                f"{place}: Has {len(text):,} characters; at most {self.max_chars:,} are kept."
            )
        return text

    def _note_unread(self, given: Mapping[str, object], known: tuple[str, ...]) -> None:
        self.unread.update(name for name in given if name not in known)


def _transcript(thread_id: str, prefix: str, turns: list[Turn], place: str) -> Transcript:
    if not turns:
        raise TranscriptError(f"{place}: Holds no messages.")
    refuse_repeated((turn.external_id for turn in turns), f"{place}: the external id")
    return Transcript(thread_id, prefix, tuple(turns))


class TranscriptError(ValueError):
    """What is wrong with a transcript, beginning with the place (`[2].messages[0].role: …`)."""


def object_at(item: object, place: str) -> Mapping[str, object]:
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


def name_in(given: Mapping[str, object], field: str, place: str, *, blank: bool = False) -> str:
    """The name in a field of the object at that place; "" when it is left out."""
    return name_at(given.get(field), place_of(place, field), blank=blank)


def required_name_in(given: Mapping[str, object], field: str, place: str) -> str:
    """As `name_in`, where it must not be left out."""
    text_at(given.get(field), place_of(place, field))
    return name_in(given, field, place)


def time_at(value: object, place: str) -> datetime | None:
    """A time with its zone, in UTC; None when it is left out."""
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(value if isinstance(value, str) else "")
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise TranscriptError(f"{place}: Is no time as in 2026-02-09T09:04:00Z.") from None
    raise TranscriptError(f"{place}: Give the time with its zone, as in 2026-02-09T09:04:00Z.")


def session_time_at(value: object, place: str) -> datetime:
    text = text_at(value, place)
    try:
        return datetime.strptime(text, _SESSION_TIME).replace(tzinfo=UTC)
    except ValueError:
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
    for name, times in Counter(names).items():
        if times > 1:
            raise TranscriptError(f"{what} {name!r} stands there twice.")
