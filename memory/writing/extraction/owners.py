"""Decides the owner of an extracted memory: the person, the team or an agent."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import StrEnum
from uuid import UUID

from memory.domain.audience import TEAM_WIDE
from memory.domain.types import Candidate, MemoryType
from teams.models import Conversation, Role
from teams.services.team_settings import flags_of_id

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
    """Returns how facts of the team are handled in the conversation; call it in scope.

    `role` is its person's: a guest's words are never the team's.
    """
    if conversation.agent.keeps_to_itself or role != Role.MEMBER:
        return TeamFacts.NEVER
    is_at_once = flags_of_id(team_id=conversation.team_id).team_facts
    return TeamFacts.AT_ONCE if is_at_once else TeamFacts.ASKED


def owned(candidate: Candidate, *, team: TeamFacts, secret: AbstractSet[UUID]) -> Candidate:
    """Returns the candidate, private where told in confidence, or the team's by its audience.

    `secret` are the ids of the messages that were told in confidence. A candidate that waits for
    the team's yes is tagged TEAM_FACT.
    """
    if _is_confided(candidate, secret):
        return replace(candidate, memory_type=MemoryType.AGENT_PRIVATE, is_pinned=False)
    if team is TeamFacts.NEVER or not _is_of_team(candidate):
        return candidate
    if team is TeamFacts.ASKED or candidate.category == _PREFERENCES:
        return replace(candidate, tags=(*candidate.tags, TEAM_FACT))
    # A person's wish to have it at hand is no wish of all others.
    return replace(candidate, is_of_team=True, is_pinned=False)


def _is_confided(candidate: Candidate, secret: AbstractSet[UUID]) -> bool:
    """Returns whether it was told in confidence; the audience that a model names decides."""
    if candidate.audience and not candidate.is_verbatim:
        return candidate.audience == "agent"
    return candidate.audience == "agent" or not secret.isdisjoint(candidate.message_ids)


def _is_of_team(candidate: Candidate) -> bool:
    return (
        candidate.audience == "team"
        and candidate.memory_type in _MAY_BE_OF_TEAM
        and not candidate.sensitive_field
    )


def stored_type(memory_type: MemoryType, *, keeps_to_itself: bool) -> MemoryType:
    """Returns the type under which a candidate is stored.

    A type that all agents see is a plain fact where the agent keeps to itself.
    """
    return MemoryType.SEMANTIC if keeps_to_itself and memory_type in TEAM_WIDE else memory_type


def stays_with_agent(memory_type: MemoryType, *, keeps_to_itself: bool) -> bool:
    """Returns whether a memory of the type belongs to the agent that learned it."""
    return keeps_to_itself or memory_type in _STAYS
