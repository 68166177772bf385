"""From the names in a request to the viewer who asks."""

from __future__ import annotations

from uuid import UUID

from memory.domain.viewer import Viewer
from teams.errors import ForbiddenError, NotFoundError
from teams.models import Agent, EndUser, Project
from teams.principal import Principal

# An end user or project the team has never seen: nothing is stored for it.
NOBODY = UUID(int=0)


def check_agent(*, principal: Principal, agent: str | None) -> None:
    """Raise ForbiddenError when a key of one agent names another one."""
    if principal.agent_id and agent is not None and agent != principal.agent_slug:
        raise ForbiddenError(
            f"This key acts only as the agent '{principal.agent_slug}'.", field="agent"
        )


def key_viewer(principal: Principal) -> Viewer:
    """The viewer a key stands for by itself: its team, or its one agent."""
    return Viewer(
        team_id=principal.team_id,
        actor=principal.actor,
        agent_id=principal.agent_id,
        allowed_categories=principal.allowed_categories,
    )


def named_viewer(
    *, principal: Principal, agent: str | None, user: str | None, project: str | None
) -> Viewer:
    """The viewer a read names; call it in the team's scope.

    An unknown user or project sees what belongs to none. Raises NotFoundError for an unknown
    agent and ForbiddenError for another agent than the key's.
    """
    check_agent(principal=principal, agent=agent)
    agent_id, categories = principal.agent_id, principal.allowed_categories
    if agent is not None and agent_id is None:
        known_agent = Agent.objects.filter(team_id=principal.team_id, slug=agent).first()
        if known_agent is None:
            raise NotFoundError(f"There is no agent '{agent}'.", field="agent")
        agent_id, categories = known_agent.pk, tuple(known_agent.allowed_categories)
    end_user_id = project_id = None
    if user is not None:
        known = EndUser.objects.filter(team_id=principal.team_id, external_id=user)
        end_user_id = _id_of(known) or NOBODY
    if project is not None:
        project_id = (
            _id_of(Project.objects.filter(team_id=principal.team_id, slug=project)) or NOBODY
        )
    return Viewer(
        team_id=principal.team_id,
        actor=principal.actor,
        agent_id=agent_id,
        end_user_id=end_user_id,
        project_id=project_id,
        allowed_categories=categories,
    )


def _id_of(rows: object) -> UUID | None:
    found: UUID | None = rows.values_list("id", flat=True).first()  # type: ignore[attr-defined]
    return found
