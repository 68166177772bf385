"""The port through which every change of a memory asks for consent; a satellite answers it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.selectors.history.log import LogRange
from memory.writing.conflicts import Ruling
from memory.writing.drafts import MemoryDraft, PreparedDraft, WriteResult
from memory.writing.neighbours import Readers
from teams.models import Conversation


class Gate:
    """Consent for the drafts of one write, in its transaction and scope; this one asks nobody."""

    def is_about_profile(self, draft: MemoryDraft) -> bool:
        """Returns whether the draft may state a field of a person's profile."""
        return False

    def rule(self, *, item: PreparedDraft, ruling: Ruling) -> tuple[WriteResult | None, Ruling]:
        """Returns the result of a draft that waits, else None and the ruling to write by."""
        return None, ruling

    def changed_by(
        self, draft: MemoryDraft, ruling: Ruling, *, without: UUID | None = None
    ) -> Sequence[tuple[str, Memory]]:
        """Returns the guarded memories that a draft of this ruling would change."""
        return ()


class ConsentPolicy:
    """Decides which changes wait for a person's consent; this one lets every change pass."""

    def gate(self, *, viewer: Viewer, readers: Readers) -> Gate:
        """Returns the gate of one write."""
        return Gate()

    def check_settled(self, *, viewer: Viewer, memory: Memory, is_replaced: bool = True) -> None:
        """Raises ForbiddenError where the viewer may not change the memory; in scope."""

    def guarded_field(self, memory: Memory) -> str | None:
        """Returns the guarded profile field of a memory, "" for a team preference, else None."""
        return None

    def release_pins(self, *, memory: Memory) -> None:
        """Unpins the other memories of the profile field of a pinned one; in scope."""

    def close_given(
        self, *, memory: Memory, actor: str, now: datetime, written: LogRange | None
    ) -> None:
        """Closes the requests that a move of the memory to the team answers; in scope."""

    def withdraw(
        self,
        *,
        conversation: Conversation,
        message_ids: Collection[UUID],
        actor: str,
        now: datetime,
    ) -> Collection[UUID]:
        """Ends the requests that rest on these messages, told in confidence; in no transaction.

        No other agent than that of the conversation finds them from now on. Returns the facts of
        the team that several people stated: they stand while enough others state them.
        """
        return ()

    def hold_promotion(self, *, viewer: Viewer, memory: Memory, now: datetime) -> UUID | None:
        """Returns the request that a promotion to the team waits for, if any; in scope.

        Raises ConflictError when it was refused before.
        """
        return None


_installed = [ConsentPolicy()]


def install_policy(policy: ConsentPolicy) -> None:
    """Sets the policy of the process; the consent satellite calls it when Django starts."""
    _installed[0] = policy


def consent() -> ConsentPolicy:
    """Returns the policy of the process."""
    return _installed[0]
