"""Something named in a conversation, which a later pronoun may mean."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Mention:
    """Something named in the conversation, the message that named it, and its place in the talk.

    `is_heading` says that what follows was announced to be about it.
    """

    name: str
    source: UUID
    turn: int
    order: int = 0
    is_heading: bool = False

    @property
    def when(self) -> tuple[int, int]:
        """Turn and sentence, for telling which of two mentions is the later."""
        return self.turn, self.order
