"""Transcripts into memory: reads their files, and imports each conversation up to its memories.

It goes through the same services as the API, and an import that is repeated stores nothing twice.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings

from memory.domain.audience import Viewer
from memory.domain.talk import other_speakers
from memory.domain.text.words import is_blank
from memory.domain.types import Role
from memory.satellites.transfer.formats.items import (
    ImportFileError,
    list_in,
    name_at,
    object_in,
    place_of,
    refuse_to_come,
    text_at,
    time_in,
)
from memory.understanding.tools import Tools
from memory.writing.jobs import visible_conversation
from memory.writing.posting import open_conversation
from memory.writing.waiting import extract_now
from teams.models import Conversation, EndUser, Message
from teams.services.conversations import NewMessage, append_messages
from teams.services.people import ensure_end_users
from teams.tenancy import team_scope

_SESSION = re.compile(r"session_(\d+)")
_TURN_SPACING = timedelta(minutes=1)
# "1:56 pm on 8 May, 2023" in files of LoCoMo, which name no zone: it is read as UTC.
_SESSION_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """Owners of the imported conversations; agent, user and project are created when new.

    `user` is the main person, to whom the conversations belong. Where several people speak by
    name, the others become end users whose external ids are their names.
    """

    team_id: UUID
    agent: str
    user: str
    project: str | None = None


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """Counts of an import.

    `masked_memories` are the new ones in which a secret was masked; messages stay verbatim.
    """

    conversations: int = 0
    messages: int = 0
    new_messages: int = 0
    new_memories: int = 0
    masked_memories: int = 0

    def __add__(self, other: ImportSummary) -> ImportSummary:
        return ImportSummary(*map(sum, zip(astuple(self), astuple(other), strict=True)))


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
        """The casefolded name of the person who speaks; "" without a name and for agents."""
        return self.name.strip().casefold() if self.role is Role.USER else ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation."""

    thread_id: str
    turns: tuple[Turn, ...]


def read_transcripts(
    *, data: object, stem: str, max_chars: int, now: datetime
) -> tuple[Transcript, ...]:
    """The conversations in a parsed JSON file whose name without suffix is `stem`.

    A plain conversation is named by its own thread id, else by the stem and, in a file of
    several, its number; a LoCoMo session is `<stem>-session-N`. Messages without an external id
    get one from their position, so that reading the file again gives the same ones.
    Raises ImportFileError for the first thing that the API would refuse too, such as a time more
    than a day after `now`.
    """
    reader = _Reader(stem, max_chars, now)
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
        raise ImportFileError(
            "Neither a list of messages, nor an object with messages, nor LoCoMo sessions."
        )
    if not found:
        raise ImportFileError("All of its sessions are empty.")
    _refuse_repeated((each.thread_id for each in found), "the thread_id")
    return tuple(found)


def _is_conversation(item: object) -> bool:
    return isinstance(item, list) or (isinstance(item, dict) and "messages" in item)


@dataclass(frozen=True, slots=True)
class _Reader:
    stem: str
    max_chars: int
    now: datetime

    def conversation(self, item: object, *, place: str, fallback: str) -> Transcript:
        given = {"messages": item} if isinstance(item, list) else object_in(item, place)
        thread = name_at(given.get("thread_id"), place_of(place, "thread_id"))
        start = time_in(given, "started_at", place, now=self.now)
        messages_at = place if isinstance(item, list) else place_of(place, "messages")
        turns: list[Turn] = []
        for index, message in enumerate(list_in(given, "messages", place)):
            estimate = start + index * _TURN_SPACING if start else None
            if estimate is None and turns:
                estimate = turns[-1].created_at
            turns.append(self._message(message, f"{messages_at}[{index}]", index + 1, estimate))
        return _transcript(thread or name_at(fallback, "name"), turns, place or "messages")

    def _message(self, item: object, place: str, number: int, estimate: datetime | None) -> Turn:
        given = object_in(item, place)
        role = given.get("role")
        if not isinstance(role, str) or role not in set(Role):
            known = ", ".join(Role)
            raise ImportFileError(f"{place_of(place, 'role')}: Must be one of {known}.")
        external_id = name_at(given.get("external_id"), place_of(place, "external_id"))
        return Turn(
            role=Role(role),
            content=self._content(given.get("content"), place_of(place, "content")),
            external_id=external_id or f"position-{number}",
            name=name_at(given.get("name"), place_of(place, "name"), blank=True),
            created_at=time_in(given, "created_at", place, now=self.now) or estimate,
        )

    def sessions(self, data: Mapping[str, object]) -> list[Transcript]:
        """The sessions of a LoCoMo file, without those that are empty."""
        numbers = (match[1] for name in data if (match := _SESSION.fullmatch(name)))
        return [
            self._session(data, number)
            for number in sorted(numbers, key=int)
            if data[f"session_{number}"] != []
        ]

    def _session(self, data: Mapping[str, object], number: str) -> Transcript:
        place = f"session_{number}"
        timed = f"{place}_date_time"
        try:
            text = text_at(data.get(timed), timed)
            start = datetime.strptime(text, _SESSION_TIME).replace(tzinfo=UTC)
        except ValueError:
            words = 'Is no time as in "1:56 pm on 8 May, 2023".'
            raise ImportFileError(f"{timed}: {words}") from None
        refuse_to_come(start, timed, now=self.now)
        turns = [
            self._turn(item, f"{place}[{index}]", start + index * _TURN_SPACING)
            for index, item in enumerate(list_in(data, place, ""))
        ]
        return _transcript(name_at(f"{self.stem}-session-{number}", "name"), turns, place)

    def _turn(self, item: object, place: str, at: datetime) -> Turn:
        given = object_in(item, place)
        text, caption = given.get("text"), given.get("blip_caption")
        if isinstance(text, str) and isinstance(caption, str) and caption:
            text = f"{text} [shares a photo: {caption}]".lstrip()
        named = {}
        for field in ("dia_id", "speaker"):
            field_at = place_of(place, field)
            named[field] = name_at(text_at(given.get(field), field_at), field_at)
        return Turn(
            role=Role.USER,
            content=self._content(text, place_of(place, "text")),
            external_id=named["dia_id"],
            name=named["speaker"],
            created_at=at,
        )

    def _content(self, value: object, place: str) -> str:
        text = text_at(value, place, most=self.max_chars)
        if is_blank(text):
            raise ImportFileError(f"{place}: Must not be blank.")
        return text


def _transcript(thread_id: str, turns: list[Turn], place: str) -> Transcript:
    if not turns:
        raise ImportFileError(f"{place}: Holds no messages.")
    _refuse_repeated((turn.external_id for turn in turns), f"{place}: the external id")
    return Transcript(thread_id, tuple(turns))


def _refuse_repeated(names: Iterable[str], what: str) -> None:
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ImportFileError(f"{what} {name!r} stands there twice.")


def import_transcripts(
    *,
    target: ImportTarget,
    transcripts: Sequence[Transcript],
    extract: bool,
    tools: Tools,
    actor: str,
    now: datetime,
    on_progress: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ImportSummary:
    """Store the conversations one by one, each up to its memories, and count what was new.

    External ids make it safe to repeat: stored messages stay unchanged, so an import that was
    interrupted continues. `on_progress` gets the number of turns done; `should_stop` is asked
    between conversations.
    """
    viewer = Viewer(team_id=target.team_id, actor=actor)
    people = _people_beside_user(viewer, target, transcripts)
    summary = ImportSummary()
    for transcript in transcripts:
        if should_stop():
            break
        speakers = {people[turn.speaker] for turn in transcript.turns if turn.speaker in people}
        conversation = _opened(viewer, target, transcript, speakers)
        rows = _posted(viewer, conversation, transcript, now)
        summary += ImportSummary(
            conversations=1,
            messages=len(rows),
            new_messages=sum(row.position > conversation.last_position for row in rows),
        )
        if extract:
            counts = extract_now(
                viewer=viewer,
                conversation_id=conversation.pk,
                tools=tools,
                is_capped=False,
                seconds=math.inf,
            )
            summary += ImportSummary(
                new_memories=counts.created + counts.versioned,
                masked_memories=counts.secrets_masked,
            )
        on_progress(len(transcript.turns))
    return summary


def _people_beside_user(
    viewer: Viewer, target: ImportTarget, transcripts: Sequence[Transcript]
) -> dict[str, str]:
    """The people who speak in the transcripts beside the user: their names by `Turn.speaker`."""
    with team_scope(team_ids=[target.team_id], actor=viewer.actor):
        known = EndUser.objects.filter(team_id=target.team_id, external_id=target.user).first()
    names = known.names if known else (target.user,)
    spoken = (turn.name for each in transcripts for turn in each.turns if turn.speaker)
    return {name.casefold(): name for name in other_speakers(spoken, user=names)}


def _opened(
    viewer: Viewer, target: ImportTarget, transcript: Transcript, speakers: set[str]
) -> Conversation:
    with team_scope(team_ids=[target.team_id], actor=viewer.actor):
        conversation, _ = open_conversation(
            team_id=target.team_id,
            agent=target.agent,
            user=target.user,
            project=target.project,
            thread_id=transcript.thread_id,
            started_at=transcript.turns[0].created_at if transcript.turns else None,
        )
        ensure_end_users(team_id=target.team_id, external_ids=speakers)
    return conversation


def _posted(
    viewer: Viewer, conversation: Conversation, transcript: Transcript, now: datetime
) -> list[Message]:
    """Stores messages without the capped extraction that the agent's interval would queue."""
    rows: list[Message] = []
    size = settings.MAX_ITEMS_PER_REQUEST
    for start in range(0, len(transcript.turns), size):
        messages = [
            NewMessage(
                role=turn.role.value,
                content=turn.content,
                name=turn.name,
                created_at=turn.created_at,
                external_id=turn.external_id,
            )
            for turn in transcript.turns[start : start + size]
        ]
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, is_planned_once=True):
            locked = visible_conversation(viewer=viewer, conversation_id=conversation.pk)
            rows += append_messages(conversation=locked, messages=messages, now=now)
    return rows
