"""Building blocks for tests: a conversation written as (role, text) lines, and what comes of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from memory.domain.types import Candidate, Participants, Role, SourceMessage
from memory.fallback.extractor import RulesExtractor

TUESDAY = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
DANA = Participants(user="dana", agent="kyra")


def talk(*lines: str, at: datetime = TUESDAY) -> list[SourceMessage]:
    """Messages from lines such as "user: hello" or "assistant/Bea: hello", a minute apart."""
    messages = []
    for position, line in enumerate(lines):
        head, _, content = line.partition(": ")
        role, _, name = head.partition("/")
        messages.append(
            SourceMessage(
                UUID(int=position + 1),
                position,
                Role(role),
                content,
                at + timedelta(minutes=position),
                name,
            )
        )
    return messages


def extracted(*lines: str, at: datetime = TUESDAY) -> list[Candidate]:
    """What pass 1 finds in the lines."""
    return RulesExtractor().extract(messages=talk(*lines, at=at), context=[], participants=DANA)


def texts(*lines: str, at: datetime = TUESDAY) -> list[str]:
    """The contents that pass 1 finds in the lines."""
    return [candidate.content for candidate in extracted(*lines, at=at)]


def both_passes(*lines: str, at: datetime = TUESDAY) -> list[Candidate]:
    """What both passes find in the lines."""
    messages = talk(*lines, at=at)
    extractor = RulesExtractor()
    first = extractor.extract(messages=messages, context=[], participants=DANA)
    second = extractor.review(messages=messages, context=[], participants=DANA, first_pass=first)
    return [*first, *second]
