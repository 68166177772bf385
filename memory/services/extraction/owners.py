"""Decides the owner of an extracted memory: the person, the team or an agent."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import StrEnum
from uuid import UUID

from memory.domain.audience import TEAM_WIDE
from memory.domain.types import Candidate, MemoryType
from teams.models import Conversation, Role
from teams.services.flags import flags_of_id

# What an agent keeps in any case: what was told to it alone, and its own ways of working.
_STAYS = (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY, MemoryType.PROCEDURAL)
_MAY_BE_OF_TEAM = (
    MemoryType.SEMANTIC,
    MemoryType.EPISODIC,
    MemoryType.PROCEDURAL,
    MemoryType.SHARED,
)
# The tag of a fact of the team that waits for a person's yes.
TEAM_FACT = "team-fact"
# A preference of all is nobody's to state for all.
_PREFERENCES = "preferences"


class TeamFacts(StrEnum):
    """Whether a fact of the team becomes the team's at once, after a yes, or never."""

    NEVER = "never"
    ASKED = "asked"
    AT_ONCE = "at_once"


def team_facts(*, conversation: Conversation, role: str) -> TeamFacts:
    """The handling of facts of the team in the conversation; call it in the team's scope.

    `role` is its person's: a guest's words are never the team's.
    """
    if conversation.agent.keeps_to_itself or role != Role.MEMBER:
        return TeamFacts.NEVER
    is_at_once = flags_of_id(team_id=conversation.team_id).team_facts
    return TeamFacts.AT_ONCE if is_at_once else TeamFacts.ASKED


def owned(
    candidates: Sequence[Candidate], *, team: TeamFacts, confided: AbstractSet[UUID]
) -> list[Candidate]:
    """The candidates; private where told in confidence, the team's where their audience says so.

    `confided` are the ids of the messages that were told in confidence. A candidate that waits for
    the team's yes is tagged TEAM_FACT.
    """
    found = []
    for candidate in candidates:
        if _is_confided(candidate, confided):
            candidate = replace(candidate, memory_type=MemoryType.AGENT_PRIVATE, is_pinned=False)
        elif team is not TeamFacts.NEVER and _is_of_team(candidate):
            if team is TeamFacts.ASKED or candidate.category == _PREFERENCES:
                candidate = replace(candidate, tags=(*candidate.tags, TEAM_FACT))
            else:
                # A person's wish to have it at hand is no wish of all others.
                candidate = replace(candidate, is_of_team=True, is_pinned=False)
        found.append(candidate)
    return found


def _is_confided(candidate: Candidate, confided: AbstractSet[UUID]) -> bool:
    """Whether it was told in confidence; the audience that a language model names decides."""
    if candidate.audience and not candidate.is_verbatim:
        return candidate.audience == "agent"
    return candidate.audience == "agent" or not confided.isdisjoint(candidate.message_ids)


def _is_of_team(candidate: Candidate) -> bool:
    return (
        candidate.audience == "team"
        and candidate.memory_type in _MAY_BE_OF_TEAM
        and not candidate.sensitive_field
    )


def stored_type(memory_type: MemoryType, *, keeps_to_itself: bool) -> MemoryType:
    """The type under which a candidate is stored.

    A type that all agents see is a plain fact where the agent keeps to itself.
    """
    return MemoryType.SEMANTIC if keeps_to_itself and memory_type in TEAM_WIDE else memory_type


def stays_with_agent(memory_type: MemoryType, *, keeps_to_itself: bool) -> bool:
    """Whether a memory of the type belongs to the agent that learned it, not to the person."""
    return keeps_to_itself or memory_type in _STAYS
