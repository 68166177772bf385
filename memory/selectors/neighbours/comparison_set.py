"""Among which memories a new one has its duplicates and contradictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.db.models import Q

from memory.domain.audience import OF_AN_AGENT, OPEN, TEAM_WIDE, Owner, Reach
from memory.models import Memory
from memory.models.search import Place
from memory.selectors.conditions import as_sql, stand_ins


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live memory near a new one: its cosine similarity (-1 to 1) and who else sees it."""

    memory: Memory
    similarity: float
    reach: Reach = Reach.SAME


@dataclass(frozen=True, slots=True)
class ComparisonSet:
    """The memories a draft is compared with: those of its owner, and some beyond.

    Wider ones, which all who will see the draft see as well; and, for what every agent sees,
    narrower ones, whose readers are all going to see the draft: those of `author_id`, the agent
    that learned it, or of all agents where none did. An agent learns nothing of another's so.
    """

    owner: Owner
    author_id: UUID | None = None

    def as_q(self) -> Q:
        """The rows, whatever their status, by columns that memories and search entries share."""
        owner = self.owner
        rows = Q(team_id=owner.team_id) & _is("end_user_id", owner.end_user_id)
        in_project = _is("project_id", owner.project_id)
        if owner.kind != OPEN:
            same_agent = _is("agent_id", owner.agent_id)
            return rows & in_project & same_agent & Q(memory_type=owner.kind)
        rows &= ~Q(memory_type__in=OF_AN_AGENT)
        seen_by_all = Q(agent_id__isnull=True) | Q(memory_type__in=TEAM_WIDE)
        in_project |= Q(project_id__isnull=True)
        if owner.agent_id is not None:
            return rows & in_project & (seen_by_all | Q(agent_id=owner.agent_id))
        of_agents = Q(agent_id__isnull=False) & ~Q(memory_type__in=TEAM_WIDE)
        if self.author_id is not None:
            of_agents &= Q(agent_id=self.author_id)
        if owner.project_id is not None:
            of_agents &= Q(project_id=owner.project_id)
        return rows & (in_project & seen_by_all | of_agents)

    def condition(self) -> tuple[str, dict[str, UUID]]:
        """The search entries of its live memories as SQL with its parameters."""
        owner = self.owner
        given = {
            "agent": owner.agent_id,
            "end_user": owner.end_user_id,
            "project": owner.project_id,
            "author": self.author_id,
        }
        parameters = {name: value for name, value in given.items() if value is not None}
        sql = _condition(owner.kind, frozenset(parameters))
        return sql, {**parameters, "team": owner.team_id}

    def holds(self, other: Owner) -> bool:
        """Whether a memory of the `other` owner is in it, as `as_q` says of stored ones."""
        mine = self.owner
        if (mine.kind, mine.end_user_id) != (other.kind, other.end_user_id):
            return False
        if mine == other:
            return True
        if mine.kind != OPEN:
            return False
        if mine.agent_id is None and other.agent_id is not None:
            is_its_authors = self.author_id in (None, other.agent_id)
            return is_its_authors and mine.project_id in (None, other.project_id)
        return other.agent_id in (None, mine.agent_id) and other.project_id in (
            None,
            mine.project_id,
        )


def _is(column: str, value: UUID | None) -> Q:
    return Q(**{f"{column}__isnull": True}) if value is None else Q(**{column: value})


@cache
def _condition(kind: str, named: frozenset[str]) -> str:
    stands = stand_ins("team", "agent", "end_user", "project", "author")
    agent, end_user, project, author = (
        stands[name] if name in named else None
        for name in ("agent", "end_user", "project", "author")
    )
    among = ComparisonSet(Owner(stands["team"], kind, agent, end_user, project), author)
    live = Q(place__lte=Place.COLD)
    return as_sql(among.as_q() & live, parameters=stands)
