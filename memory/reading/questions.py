"""Questions: what a viewer asks, how far the answer looks, and the question read and embedded."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import numpy as np
from django.db.models import Q

from memory.domain.audience import Viewer
from memory.domain.retrieval.question import Asked, read_question
from memory.domain.types import MemoryType
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.selectors.search.signal_rows import Sought
from memory.selectors.ttl_cache import zone_of
from memory.understanding.tools import Tools
from teams.errors import UnavailableError
from teams.tracing import step

logger = logging.getLogger(__name__)

BY_WORDS_ALONE = "the embedding model gave no usable answer, so words alone decided what was found"
# The longest question that may be asked.
MAX_QUERY_CHARS = 8_000


class Level(StrEnum):
    """The source of a result."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    RAW = "raw"


@dataclass(frozen=True, slots=True)
class Question:
    """A text, and the conversation in which it is asked, for continuity.

    `in_view` are the positions of that conversation's messages that whoever asks has before them;
    None if unknown.
    """

    text: str
    conversation_id: UUID | None = None
    in_view: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Depth:
    """The reach of a read beyond live memories: into cold and past ones, and into messages.

    None for `include_raw` looks at messages unless `rows` narrow the memories, and leaves out those
    that whoever asks has in view. With `include_private` confidences are candidates even if the
    question is not about them.
    """

    include_cold: bool = False
    include_raw: bool | None = None
    include_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A question of a viewer, and how far the answer looks.

    `rows` narrows the memories to what a filter of the caller left, which are found however little
    they say. Memories that say less about the question than `min_score` (0-1) are left out and
    counted; None is 0, and in a prompt without `rows` its `least_relevance`. `limit` is the most
    results; of a prompt, of those that are not mandatory. The memories in `also` are candidates
    whatever the search finds, and so are `predicted` ones, whose chances (0-1) are among the
    signals. Reads are counted unless `is_counted` is false.
    """

    viewer: Viewer
    question: Question
    tools: Tools
    now: datetime
    limit: int | None = None
    depth: Depth = field(default_factory=Depth)
    rows: MemoryQuerySet | None = None
    min_score: float | None = None
    is_counted: bool = True
    also: Collection[UUID] = ()
    predicted: Mapping[UUID, float] = field(default_factory=dict)


def of_types(memory_types: Collection[str]) -> MemoryQuerySet | None:
    """Rows of these types, identity and pinned memories; None if no type is named."""
    if not memory_types:
        return None
    return Memory.objects.filter(
        Q(memory_type__in=[*memory_types, MemoryType.IDENTITY.value]) | Q(is_pinned=True)
    )


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question taken apart, and what of it the database is asked for."""

    asked: Asked
    sought: Sought
    warnings: tuple[str, ...] = ()


@step("retrieve.question")
def read_and_embed(read: Read) -> ReadQuestion:
    """Takes the question apart and embeds it; call it in no transaction.

    Days begin in the team's time zone. Without an embedder the vector is all zeros, so that words
    alone decide, and a warning says so.
    """
    question, now = read.question, read.now
    asked = read_question(question.text, now=now)
    if asked.periods:
        now = now.astimezone(zone_of(team_id=read.viewer.team_id, now=now))
        if now.utcoffset():
            asked = read_question(question.text, now=now)
    warnings: tuple[str, ...] = ()
    try:
        vector = read.tools.embedder.embed([asked.meaning])[0]
    except UnavailableError:
        logger.warning("A question was answered by words alone: the embedder is away.")
        vector, warnings = np.zeros(1, dtype=np.float32), (BY_WORDS_ALONE,)
    sought = Sought(
        [term.word for term in asked.terms],
        vector,
        read.tools.embedder.name,
        question.conversation_id,
    )
    return ReadQuestion(asked, sought, warnings)
