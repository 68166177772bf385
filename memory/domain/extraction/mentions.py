"""Something named in a conversation, which a later pronoun may mean."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Mention:
    """Something named in the conversation, and the message that named it."""

    name: str
    source: UUID
    turn: int
