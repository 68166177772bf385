"""What an agent is called: its slug, which stays, and aliases, which may come and go.

Whatever looks an agent up by a name that a caller sent does it by `slug_called`, or by the same
words in SQL (memory/selectors/names.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import CharField, Subquery, Value
from django.db.models.functions import Coalesce

from teams.errors import InvalidError
from teams.models import Agent, AgentAlias

MAX_SLUG_CHARS = 100
MAX_ALIASES = 20


def slug_called(*, team_id: UUID, name: str) -> Coalesce:
    """The slug of the agent that goes by this name, and else the name itself, for a filter."""
    known = AgentAlias.objects.filter(team_id=team_id, slug=name)
    return Coalesce(
        Subquery(known.values("agent__slug")[:1]), Value(name), output_field=CharField()
    )


def agent_called(*, team_id: UUID, name: str) -> Agent | None:
    """The team's agent of that slug or alias; call it in the team's scope."""
    slug = slug_called(team_id=team_id, name=name)
    return Agent.objects.filter(team_id=team_id, slug=slug).first()


def aliases_among(*, team_id: UUID, names: Collection[str]) -> Mapping[str, UUID]:
    """The agents' ids by those of the names that are aliases; call it in the team's scope."""
    rows = AgentAlias.objects.filter(team_id=team_id, slug__in=names)
    return dict(rows.values_list("slug", "agent_id"))


def aliases_of(*, agent: Agent) -> list[str]:
    """The agent's aliases in order; call it in the team's scope."""
    rows = AgentAlias.objects.filter(team_id=agent.team_id, agent_id=agent.pk).order_by("slug")
    return list(rows.values_list("slug", flat=True))


def check_aliases(*, team_id: UUID, agent_id: UUID | None, names: Sequence[str]) -> None:
    """Raises InvalidError for names that could not be aliases of the agent, None for a new one."""
    if len(names) > MAX_ALIASES:
        raise InvalidError(f"An agent has at most {MAX_ALIASES} aliases.", field="aliases")
    for name in names:
        if not name.isprintable() or not name.strip() or len(name.split()) > 1:
            raise InvalidError(
                "An alias is one word without spaces, such as an old slug.", field="aliases"
            )
        if len(name) > MAX_SLUG_CHARS:
            raise InvalidError(
                f"An alias has at most {MAX_SLUG_CHARS} characters.", field="aliases"
            )
    slugs = Agent.objects.filter(team_id=team_id, slug__in=names).values_list("slug", flat=True)
    aliases = aliases_among(team_id=team_id, names=names)
    taken = [*slugs, *(name for name, owner in aliases.items() if owner != agent_id)]
    if taken:
        raise InvalidError(
            f"The team has an agent called '{min(taken)}' already. A name means one agent.",
            field="aliases",
        )


def set_aliases(*, agent: Agent, names: Sequence[str], actor: str) -> None:
    """Makes these the agent's aliases, and no others; raises as `check_aliases`."""
    check_aliases(team_id=agent.team_id, agent_id=agent.pk, names=names)
    with transaction.atomic():
        rows = AgentAlias.objects.filter(team_id=agent.team_id, agent_id=agent.pk)
        rows.exclude(slug__in=names).delete()
        stored = set(rows.values_list("slug", flat=True))
        AgentAlias.objects.bulk_create(
            AgentAlias(team_id=agent.team_id, agent_id=agent.pk, slug=name, actor=actor)
            for name in dict.fromkeys(names)
            if name not in stored
        )
