"""Whole transcripts into memory, through the same services as the API; again changes nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.conf import settings

from memory.clients.tools import Tools
from memory.domain.transcripts import Transcript
from memory.domain.viewer import Viewer
from memory.services.extraction.extraction import ExtractionCounts
from memory.services.extraction.jobs import visible_conversation
from memory.services.extraction.waiting import extract_now
from memory.services.messages.posting import open_conversation
from memory.services.messages.verbatim_memories import TurnMemories, in_batches
from teams.errors import ConflictError
from teams.models import Conversation, Message
from teams.services.conversations import NewMessage, append_messages
from teams.tenancy import team_scope

_RETRY_SECONDS = 0.2


class ImportMode(StrEnum):
    """What becomes of the turns: messages to extract from, one memory each, or both."""

    MESSAGES = "messages"
    VERBATIM = "verbatim"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """Whose conversations they become; agent, user and project are created when new."""

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
    of the same names belong to other conversations, and later when another process holds an
    extraction for longer than its lease.
    """
    run = _Import(target, mode, extract and mode != ImportMode.VERBATIM, tools, actor, now)
    if mode != ImportMode.MESSAGES:
        run.memories.refuse_foreign(transcripts)
    for transcript in transcripts:
        if should_stop():
            break
        run.store(transcript, should_stop)
        on_progress(len(transcript.turns))
    return run.summary


class _Import:
    """One import under way and what it has done so far."""

    def __init__(
        self,
        target: ImportTarget,
        mode: ImportMode,
        extract: bool,
        tools: Tools,
        actor: str,
        now: datetime,
    ) -> None:
        self.target, self.mode, self.extract = target, mode, extract
        self.tools, self.now = tools, now
        self.viewer = Viewer(team_id=target.team_id, actor=actor)
        self.memories = TurnMemories(
            viewer=self.viewer, agent=target.agent, user=target.user, tools=tools, now=now
        )
        self.summary = ImportSummary()

    def store(self, transcript: Transcript, should_stop: Callable[[], bool]) -> None:
        """One conversation: its messages, its verbatim memories, its extraction."""
        started = time.perf_counter()
        conversation = self._open(transcript)
        rows = self._post(conversation, transcript)
        posted = time.perf_counter()
        written = masked = 0
        if self.mode != ImportMode.MESSAGES:
            written, masked = self.memories.write(
                conversation_id=conversation.pk, transcript=transcript, rows=rows
            )
        remembered = time.perf_counter()
        extracted = 0
        if self.extract:
            counts = self._extract(conversation, should_stop)
            extracted = counts.created + counts.versioned
            masked += counts.secrets_masked
        before = self.summary
        self.summary = ImportSummary(
            conversations=before.conversations + 1,
            messages=before.messages + len(rows),
            new_messages=before.new_messages
            + sum(row.position > conversation.last_position for row in rows),
            extracted_memories=before.extracted_memories + extracted,
            verbatim_memories=before.verbatim_memories + written,
            masked_memories=before.masked_memories + masked,
            post_seconds=before.post_seconds + posted - started,
            write_seconds=before.write_seconds + remembered - posted,
            extract_seconds=before.extract_seconds + time.perf_counter() - remembered,
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
        return conversation

    def _post(self, conversation: Conversation, transcript: Transcript) -> list[Message]:
        rows: list[Message] = []
        for turns in in_batches(transcript.turns):
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
            rows += self._append(conversation.pk, messages)
        return rows

    def _append(self, conversation_id: UUID, messages: Sequence[NewMessage]) -> list[Message]:
        """Store messages without the capped extraction that the agent's interval would queue."""
        with team_scope(
            team_ids=[self.target.team_id], actor=self.viewer.actor, is_planned_once=True
        ):
            conversation = visible_conversation(viewer=self.viewer, conversation_id=conversation_id)
            return append_messages(conversation=conversation, messages=messages, now=self.now)

    def _extract(
        self, conversation: Conversation, should_stop: Callable[[], bool]
    ) -> ExtractionCounts:
        """Extract, and outlast the lease of a process that was killed while it extracted."""
        give_up = time.monotonic() + settings.JOB_LEASE_SECONDS + settings.EXTRACT_WAIT_SECONDS
        while True:
            try:
                return extract_now(
                    viewer=self.viewer,
                    conversation_id=conversation.pk,
                    tools=self.tools,
                    is_capped=False,
                    seconds=math.inf,
                )
            except ConflictError:
                if should_stop() or time.monotonic() > give_up:
                    raise
                time.sleep(_RETRY_SECONDS)
