"""Whole transcripts into memory, through the same services as the API; again changes nothing."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from django.conf import settings

from memory.domain.audience import Viewer
from memory.domain.talk import other_speakers
from memory.domain.types import MemoryType, Role
from memory.models import Memory
from memory.satellites.transfer.transcripts import (
    MAX_NAME_CHARS,
    ImportMode,
    ImportSummary,
    ImportTarget,
    Transcript,
    Turn,
)
from memory.understanding.tools import Tools
from memory.writing.drafts import Outcome
from memory.writing.jobs import visible_conversation
from memory.writing.posting import open_conversation
from memory.writing.stating import StatedMemory, remember
from memory.writing.waiting import extract_now
from teams.errors import ConflictError
from teams.models import Conversation, EndUser, Message
from teams.services.conversations import NewMessage, append_messages
from teams.services.people import agent_called, ensure_end_users
from teams.tenancy import team_scope

VERBATIM_IMPORTANCE = 5
VERBATIM_EXTRACTOR = "import"
_T = TypeVar("_T")


def import_transcripts(
    *,
    target: ImportTarget,
    transcripts: Sequence[Transcript],
    mode: ImportMode,
    extract: bool,
    tools: Tools,
    actor: str,
    now: datetime,
    on_progress: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ImportSummary:
    """Store the conversations one by one, each up to its memories, and say what was new.

    External ids make it safe to repeat: what is stored stays as it is, so an import that was
    interrupted continues. `on_progress` is told the number of turns done; `should_stop` is asked
    between conversations. Raises ConflictError before anything is stored when verbatim memories
    of the same names belong to other conversations.
    """
    viewer = Viewer(team_id=target.team_id, actor=actor)
    extracts = extract and mode != ImportMode.VERBATIM
    people = _people_beside_user(viewer, target, transcripts)
    run = _Import(target, mode, extracts, tools, viewer, now, people)
    if mode != ImportMode.MESSAGES:
        run.refuse_foreign(transcripts)
    summary = ImportSummary()
    for transcript in transcripts:
        if should_stop():
            break
        summary += run.store(transcript)
        on_progress(len(transcript.turns))
    return summary


@dataclass(frozen=True, slots=True)
class _Import:
    """One import under way; `people` are the external ids of the speakers beside the user."""

    target: ImportTarget
    mode: ImportMode
    extract: bool
    tools: Tools
    viewer: Viewer
    now: datetime
    people: Mapping[str, str]

    def refuse_foreign(self, transcripts: Sequence[Transcript]) -> None:
        """Raise ConflictError where memories of the same ids belong to other conversations.

        Two files of one name would share them: the second one's memories would be lost.
        """
        threads = {
            _memory_id(transcript, turn): transcript.thread_id
            for transcript in transcripts
            for turn in transcript.turns
        }
        target = self.target
        with team_scope(team_ids=[target.team_id], actor=self.viewer.actor):
            agent = agent_called(team_id=target.team_id, name=target.agent)
            slug = agent.slug if agent is not None else target.agent
            for ids in _in_batches(list(threads)):
                rows = Memory.objects.filter(team_id=target.team_id, external_id__in=ids)
                for external_id, *owner in rows.values_list(
                    "external_id",
                    "conversation__thread_id",
                    "conversation__agent__slug",
                    "conversation__end_user__external_id",
                ):
                    if owner != [threads[external_id or ""], slug, target.user]:
                        raise ConflictError(
                            f"The memory {external_id!r} is stored already and belongs to"
                            f" another conversation ({' / '.join(map(str, owner))})."
                            " Rename the file or give its conversations thread ids."
                        )

    def store(self, transcript: Transcript) -> ImportSummary:
        """One conversation: its messages, its verbatim memories, its extraction."""
        started = time.perf_counter()
        conversation = self._open(transcript)
        rows = self._post(conversation, transcript)
        posted = time.perf_counter()
        written = masked = 0
        if self.mode != ImportMode.MESSAGES:
            written, masked = self._write_verbatim(conversation, transcript, rows)
        remembered = time.perf_counter()
        extracted = 0
        if self.extract:
            counts = extract_now(
                viewer=self.viewer,
                conversation_id=conversation.pk,
                tools=self.tools,
                is_capped=False,
                seconds=math.inf,
            )
            extracted = counts.created + counts.versioned
            masked += counts.secrets_masked
        return ImportSummary(
            conversations=1,
            messages=len(rows),
            new_messages=sum(row.position > conversation.last_position for row in rows),
            extracted_memories=extracted,
            verbatim_memories=written,
            masked_memories=masked,
            post_seconds=posted - started,
            write_seconds=remembered - posted,
            extract_seconds=time.perf_counter() - remembered,
        )

    def _open(self, transcript: Transcript) -> Conversation:
        target = self.target
        with team_scope(team_ids=[target.team_id], actor=self.viewer.actor):
            conversation, _ = open_conversation(
                team_id=target.team_id,
                agent=target.agent,
                user=target.user,
                project=target.project,
                thread_id=transcript.thread_id,
            )
            speakers = {self.people.get(turn.speaker, "") for turn in transcript.turns}
            ensure_end_users(team_id=target.team_id, external_ids=speakers - {""})
        return conversation

    def _post(self, conversation: Conversation, transcript: Transcript) -> list[Message]:
        """Store messages without the capped extraction that the agent's interval would queue."""
        rows: list[Message] = []
        for turns in _in_batches(transcript.turns):
            messages = [
                NewMessage(
                    role=turn.role.value,
                    content=turn.content,
                    name=turn.name,
                    created_at=turn.created_at,
                    external_id=turn.external_id,
                )
                for turn in turns
            ]
            with team_scope(
                team_ids=[self.target.team_id], actor=self.viewer.actor, is_planned_once=True
            ):
                locked = visible_conversation(viewer=self.viewer, conversation_id=conversation.pk)
                rows += append_messages(conversation=locked, messages=messages, now=self.now)
        return rows

    def _write_verbatim(
        self, conversation: Conversation, transcript: Transcript, rows: Sequence[Message]
    ) -> tuple[int, int]:
        """Write one memory for each turn, in its very words.

        Returns how many are new, and in how many of them a secret was masked. Each has an external
        id of its turn, so that what is stored already stays as it is.
        """
        speakers = {Role.USER: self.target.user, Role.ASSISTANT: self.target.agent}
        written = masked = 0
        for pairs in _in_batches(list(zip(transcript.turns, rows, strict=True))):
            stated = [
                StatedMemory(
                    content=f"{turn.name or speakers.get(turn.role, turn.role.value)}:"
                    f" {turn.content}",
                    memory_type=MemoryType.EPISODIC,
                    importance=VERBATIM_IMPORTANCE,
                    agent=self.target.agent,
                    user=self.people.get(turn.speaker),
                    conversation=conversation.pk,
                    message_ids=(row.pk,),
                    external_id=_memory_id(transcript, turn),
                    created_at=row.created_at,
                    check=False,
                )
                for turn, row in pairs
            ]
            results = remember(
                viewer=self.viewer,
                stated=stated,
                tools=self.tools,
                now=self.now,
                reason="imported verbatim",
                extractor=VERBATIM_EXTRACTOR,
                is_import=True,
            )
            made = [result for result in results if result.outcome == Outcome.CREATED]
            written += len(made)
            masked += sum(result.secret_masked for result in made)
        return written, masked


def _people_beside_user(
    viewer: Viewer, target: ImportTarget, transcripts: Sequence[Transcript]
) -> dict[str, str]:
    """The people who speak in the transcripts beside the user: their names by `Turn.speaker`."""
    with team_scope(team_ids=[target.team_id], actor=viewer.actor):
        known = EndUser.objects.filter(team_id=target.team_id, external_id=target.user).first()
    names = known.names if known else (target.user,)
    spoken = (turn.name for each in transcripts for turn in each.turns if turn.speaker)
    others = other_speakers(spoken, user=names)
    return {name.casefold(): name for name in others}


def _memory_id(transcript: Transcript, turn: Turn) -> str:
    """The turn's id in the team; long ones are replaced by a digest that is as stable."""
    name = f"{transcript.prefix}:{turn.external_id}"
    if len(name) <= MAX_NAME_CHARS:
        return name
    return f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"


def _in_batches(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """As many at a time as the API takes."""
    size = settings.MAX_ITEMS_PER_REQUEST
    for start in range(0, len(items), size):
        yield items[start : start + size]
