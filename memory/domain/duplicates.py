"""When two lines of one prompt say the same, so that one of them is enough."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from memory.domain.text.normalise import normalise_text

from .rendering import EVENT_LABEL, IDENTITY_LABEL, PATTERN_LABEL, Line, SaidLine, mark_of

# The kinds of which the same words say another thing: who it is about, when, how well it went.
_APART = (IDENTITY_LABEL, EVENT_LABEL, PATTERN_LABEL)


def saying(line: Line) -> Hashable:
    """Equal for two lines that say the same: the rule by which a prompt shows a statement once.

    The same normalised words and the same mark: both disputed or past, or neither. A sentence that
    was quoted is one of its speaker and day. Otherwise the words say the same whatever they are
    filed as, but that an event is one of its day, identity is about the agent itself, and a pattern
    tells how well it went.
    """
    mark = mark_of(line.status, is_disputed=line.is_disputed)
    if line.quote is not None:
        return (line.quote.speaker, line.quote.day, mark, same_words(line.content))
    kind = line.label if line.label.startswith(_APART) else ""
    return (kind, mark, same_words(line.content))


def said_saying(said: SaidLine) -> Hashable:
    """The same for a message: equal to the `saying` of a memory that quotes the whole of it."""
    return (said.speaker, f"{said.said_at:%Y-%m-%d}", "", same_words(said.text))


def plain_saying(said: SaidLine) -> Hashable:
    """Equal to the `saying` of a memory in the same words that quotes nobody."""
    return ("", "", same_words(said.text))


# A text is compared more than once while a prompt is packed.
@lru_cache(maxsize=1024)
def same_words(text: str) -> str:
    """The text as it is compared."""
    return normalise_text(text)
