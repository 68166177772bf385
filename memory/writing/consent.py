"""The port through which every change of a memory asks for consent; a satellite answers it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.selectors.history.log import LogRange
from memory.writing.conflicts import Ruling
from memory.writing.drafts import MemoryDraft, PreparedDraft, WriteResult
from memory.writing.neighbours import Readers


class Gate(Protocol):
    """Consent for the drafts of one write; use it in the write's transaction and scope."""

    def is_about_profile(self, draft: MemoryDraft) -> bool:
        """Returns whether the draft may state a field of a person's profile."""
        ...

    def rule(self, *, item: PreparedDraft, ruling: Ruling) -> tuple[WriteResult | None, Ruling]:
        """Returns the result of a draft that waits, else None and the ruling to write by."""
        ...

    def changed_by(
        self, draft: MemoryDraft, ruling: Ruling, *, without: UUID | None = None
    ) -> Sequence[tuple[str, Memory]]:
        """Returns the guarded memories that a draft of this ruling would change."""
        ...


class ConsentPolicy(Protocol):
    """Decides which changes wait for a person's consent."""

    def gate(self, *, viewer: Viewer, readers: Readers) -> Gate:
        """Returns the gate of one write."""
        ...

    def check_settled(self, *, viewer: Viewer, memory: Memory, is_replaced: bool = True) -> None:
        """Raises ForbiddenError where the viewer may not change the memory; in scope."""
        ...

    def guarded_field(self, memory: Memory) -> str | None:
        """Returns the guarded profile field of a memory, "" for a team preference, else None."""
        ...

    def release_pins(self, *, memory: Memory) -> None:
        """Unpins the other memories of the profile field of a pinned one; in scope."""
        ...

    def close_given(
        self, *, memory: Memory, actor: str, now: datetime, written: LogRange | None
    ) -> None:
        """Closes the requests that a move of the memory to the team answers; in scope."""
        ...

    def hold_promotion(self, *, viewer: Viewer, memory: Memory, now: datetime) -> UUID | None:
        """Returns the request that a promotion to the team waits for, None for no wait; in scope.

        Raises ConflictError when it was refused before.
        """
        ...


class _OpenGate:
    def is_about_profile(self, draft: MemoryDraft) -> bool:
        return False

    def rule(self, *, item: PreparedDraft, ruling: Ruling) -> tuple[WriteResult | None, Ruling]:
        return None, ruling

    def changed_by(
        self, draft: MemoryDraft, ruling: Ruling, *, without: UUID | None = None
    ) -> Sequence[tuple[str, Memory]]:
        return ()


class NoConsent:
    """The policy of an installation without consent: every change passes."""

    def gate(self, *, viewer: Viewer, readers: Readers) -> Gate:
        return _OpenGate()

    def check_settled(self, *, viewer: Viewer, memory: Memory, is_replaced: bool = True) -> None:
        return None

    def guarded_field(self, memory: Memory) -> str | None:
        return None

    def release_pins(self, *, memory: Memory) -> None:
        return None

    def close_given(
        self, *, memory: Memory, actor: str, now: datetime, written: LogRange | None
    ) -> None:
        return None

    def hold_promotion(self, *, viewer: Viewer, memory: Memory, now: datetime) -> UUID | None:
        return None


class _Installed:
    policy: ConsentPolicy = NoConsent()


def install_policy(policy: ConsentPolicy) -> None:
    """Sets the policy of the process; the consent satellite calls it when Django starts."""
    _Installed.policy = policy


def consent() -> ConsentPolicy:
    """Returns the policy of the process."""
    return _Installed.policy
