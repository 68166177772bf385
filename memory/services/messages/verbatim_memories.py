"""The turns of imported transcripts as memories in their very words, one for each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.conf import settings

from memory.clients.tools import Tools
from memory.domain.transcript_fields import MAX_NAME_CHARS
from memory.domain.transcripts import Transcript, Turn
from memory.domain.types import MemoryType, Role
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.write.drafts import Outcome
from memory.services.write.explicit import StatedMemory, remember
from teams.errors import ConflictError
from teams.models import Message
from teams.tenancy import team_scope

VERBATIM_IMPORTANCE = 5
EXTRACTOR = "import"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMemories:
    """Writes the memories of an import by `viewer` into the conversations of an agent and a user.

    Each has an external id of its turn, so that what is stored already stays as it is.
    """

    viewer: Viewer
    agent: str
    user: str
    tools: Tools
    now: datetime

    def refuse_foreign(self, transcripts: Sequence[Transcript]) -> None:
        """Raise ConflictError where memories of the same ids belong to other conversations.

        Two files of one name would share them: the second one's memories would be lost.
        """
        threads = {
            _memory_id(transcript, turn): transcript.thread_id
            for transcript in transcripts
            for turn in transcript.turns
        }
        team_id = self.viewer.team_id
        with team_scope(team_ids=[team_id], actor=self.viewer.actor):
            for ids in in_batches(list(threads)):
                rows = Memory.objects.filter(team_id=team_id, external_id__in=ids)
                for external_id, *owner in rows.values_list(
                    "external_id",
                    "conversation__thread_id",
                    "conversation__agent__slug",
                    "conversation__end_user__external_id",
                ):
                    if owner != [threads[external_id or ""], self.agent, self.user]:
                        raise ConflictError(
                            f"The memory {external_id!r} is stored already and belongs to"
                            f" another conversation ({' / '.join(map(str, owner))})."
                            " Rename the file or give its conversations thread ids."
                        )

    def write(
        self, *, conversation_id: UUID, transcript: Transcript, rows: Sequence[Message]
    ) -> tuple[int, int]:
        """How many memories are new, and in how many of them a secret was masked.

        `rows` are the stored messages of the transcript's turns, in their order.
        """
        written = masked = 0
        for pairs in in_batches(list(zip(transcript.turns, rows, strict=True))):
            results = remember(
                viewer=self.viewer,
                stated=[
                    StatedMemory(
                        content=f"{self._speaker(turn)}: {turn.content}",
                        memory_type=MemoryType.EPISODIC,
                        importance=VERBATIM_IMPORTANCE,
                        agent=self.agent,
                        conversation=conversation_id,
                        message_ids=(row.pk,),
                        external_id=_memory_id(transcript, turn),
                        created_at=row.created_at,
                        check=False,
                    )
                    for turn, row in pairs
                ],
                tools=self.tools,
                now=self.now,
                reason="imported verbatim",
                extractor=EXTRACTOR,
                is_import=True,
            )
            made = [result for result in results if result.outcome == Outcome.CREATED]
            written += len(made)
            masked += sum(result.secret_masked for result in made)
        return written, masked

    def _speaker(self, turn: Turn) -> str:
        if turn.name:
            return turn.name
        known = {Role.USER: self.user, Role.ASSISTANT: self.agent}
        return known.get(turn.role, turn.role.value)


def _memory_id(transcript: Transcript, turn: Turn) -> str:
    """The turn's id in the team; long ones are replaced by a digest that is as stable."""
    name = f"{transcript.prefix}:{turn.external_id}"
    if len(name) <= MAX_NAME_CHARS:
        return name
    return f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"


def in_batches(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """As many at a time as the API takes."""
    size = settings.MAX_ITEMS_PER_REQUEST
    for start in range(0, len(items), size):
        yield items[start : start + size]
