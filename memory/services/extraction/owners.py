"""Whose a memory from talk is: the person's, unless it was told in confidence or an agent's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory.domain.audience import TEAM_WIDE
from memory.domain.confidences import Said, confided
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage

# What an agent keeps in any case: what was told to it alone, and its own ways of working.
_STAYS = (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY, MemoryType.PROCEDURAL)


def with_confidences(
    candidates: Sequence[Candidate],
    *,
    messages: Sequence[SourceMessage],
    participants: Participants,
) -> list[Candidate]:
    """The candidates; what rests on a message told in confidence is private to the agent.

    Whatever the extractor says of its type. `messages` are those read and their context, in order.
    """
    told = [Said(each.id, each.content, participants.is_person(each)) for each in messages]
    secret = confided(told)
    return [
        candidate
        if secret.isdisjoint(candidate.message_ids)
        else replace(candidate, memory_type=MemoryType.AGENT_PRIVATE)
        for candidate in candidates
    ]


def stored_type(memory_type: MemoryType, *, keeps_to_itself: bool) -> MemoryType:
    """The type under which a candidate is stored.

    A type that all agents see is a plain fact where the agent keeps to itself.
    """
    return MemoryType.SEMANTIC if keeps_to_itself and memory_type in TEAM_WIDE else memory_type


def stays_with_agent(memory_type: MemoryType, *, keeps_to_itself: bool) -> bool:
    """Whether a memory of the type belongs to the agent that learned it, not to the person."""
    return keeps_to_itself or memory_type in _STAYS
