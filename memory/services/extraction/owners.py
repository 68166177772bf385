"""Whose a memory from talk is: the person's, the team's, or an agent's own."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from uuid import UUID

from memory.domain.audience import TEAM_WIDE
from memory.domain.team_talk import told_of_team
from memory.domain.text.normalise import name_words
from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage
from teams.models import Conversation, EndUser, Message, Project, Team
from teams.services.flags import flags_of_id

# What an agent keeps in any case: what was told to it alone, and its own ways of working.
_STAYS = (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY, MemoryType.PROCEDURAL)
_MAY_BE_OF_TEAM = (MemoryType.SEMANTIC, MemoryType.EPISODIC, MemoryType.SHARED)
_MOST_PROJECTS = 200
# The tag of what is said of the team where that waits for a person's yes.
TEAM_FACT = "team-fact"
# What all are said to prefer is nobody's to say for all.
_PREFERENCES = "preferences"


@dataclass(frozen=True, slots=True)
class TeamNames:
    """What the team and its projects are called, and the people that some messages name.

    Where the team `is_asked` first, what is said of it stays with the person until somebody gives
    it to the team.
    """

    names: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    is_asked: bool = False


def team_names(*, conversation: Conversation, messages: Sequence[Message]) -> TeamNames | None:
    """Those of the conversation's team; None where nothing said may become the team's.

    Call it in the team's scope.
    """
    team_id = conversation.team_id
    if conversation.agent.keeps_to_itself:
        return None
    names = [
        *Team.objects.filter(pk=team_id).values_list("name", flat=True),
        *Project.objects.filter(team_id=team_id).values_list("name", flat=True)[:_MOST_PROJECTS],
    ]
    said = {word for row in messages for word in name_words([row.content])}
    people = EndUser.objects.filter(team_id=team_id, external_id__in=said)
    return TeamNames(
        tuple(filter(None, names)),
        (*conversation.end_user.names, *people.values_list("external_id", flat=True)),
        is_asked=not flags_of_id(team_id=team_id).team_facts,
    )


def owned(
    candidates: Sequence[Candidate],
    *,
    messages: Sequence[SourceMessage],
    participants: Participants,
    team: TeamNames | None,
    confided: AbstractSet[UUID],
) -> list[Candidate]:
    """The candidates; private where told in confidence, the team's where they tell of the team.

    The words of the messages decide, whatever the extractor says. `messages` are those read and
    their context, in order, `confided` the ids of those that were told in confidence; without a
    `team` nothing is the team's. What waits for the team's yes is tagged TEAM_FACT.
    """
    by_id = {each.id: each for each in messages}
    found = []
    for candidate in candidates:
        sources = [by_id[each] for each in candidate.message_ids if each in by_id]
        if not confided.isdisjoint(candidate.message_ids):
            candidate = replace(candidate, memory_type=MemoryType.AGENT_PRIVATE)
        elif team is not None and _is_of_team(candidate, sources, participants, team):
            if team.is_asked or candidate.category == _PREFERENCES:
                candidate = replace(candidate, tags=(*candidate.tags, TEAM_FACT))
            else:
                # A person's wish to have it at hand is no wish of all others.
                candidate = replace(candidate, is_of_team=True, is_pinned=False)
        found.append(candidate)
    return found


def _is_of_team(
    candidate: Candidate,
    sources: Sequence[SourceMessage],
    participants: Participants,
    team: TeamNames,
) -> bool:
    return (
        candidate.memory_type in _MAY_BE_OF_TEAM
        and not candidate.sensitive_field
        and all(participants.is_person(each) for each in sources)
        and told_of_team(
            candidate.content,
            said=[each.content for each in sources],
            names=team.names,
            people=(participants.user, *team.people),
        )
    )


def stored_type(memory_type: MemoryType, *, keeps_to_itself: bool) -> MemoryType:
    """The type under which a candidate is stored.

    A type that all agents see is a plain fact where the agent keeps to itself.
    """
    return MemoryType.SEMANTIC if keeps_to_itself and memory_type in TEAM_WIDE else memory_type


def stays_with_agent(memory_type: MemoryType, *, keeps_to_itself: bool) -> bool:
    """Whether a memory of the type belongs to the agent that learned it, not to the person."""
    return keeps_to_itself or memory_type in _STAYS
