"""What there is to go by about a person, and insights drawn from it (seed 004, §3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.domain.types import Asker

MOST_INSIGHTS = 3
MOST_CHARS = 280
MOST_ACTIVITIES, MOST_FACTS, TALK_CHARS = 5, 3, 1_000

CATEGORY = "relationship_dynamic"
IMPORTANCE = 4
"""Two on the seed's scale of 1 to 5, doubled."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A memory as evidence: its text, when it was said, and in which conversation."""

    id: UUID
    text: str
    said_at: datetime
    conversation_id: UUID | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a person, latest first; times are on the clock of the team.

    `activities` (5 at most) happened, `facts` (3 at most) were learned lately, `talk` are the last
    words of at most 1,000 characters with the messages `talk_ids`. What is counted: `recent`
    memories, `changes` (versions of a preference, oldest first), and at what times the person spoke
    (`spoke_at`, each with its message). `names` are of those who talk.
    """

    person: str
    asker: Asker
    activities: tuple[Noted, ...] = ()
    facts: tuple[Noted, ...] = ()
    talk: str = ""
    talk_ids: tuple[UUID, ...] = ()
    recent: tuple[Noted, ...] = ()
    changes: tuple[tuple[Noted, ...], ...] = ()
    spoke_at: tuple[tuple[datetime, UUID], ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenInsight:
    """An insight of at most 280 characters, what it rests on, and who wrote it.

    `topic` is what it is about, by which a later one of the same is known; "" where nothing says.
    One that `is_news` takes the place of what was said of its topic at once.
    """

    text: str
    writer: str
    memory_ids: tuple[UUID, ...] = ()
    message_ids: tuple[UUID, ...] = ()
    topic: str = ""
    is_news: bool = False
    tags: tuple[str, ...] = ()
