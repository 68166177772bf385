"""From the names in a request to the viewer who asks."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from memory.domain.scoring import Weights
from memory.domain.viewer import Viewer
from memory.selectors.conversations import conversation_for
from memory.selectors.names import Named, names_of
from memory.selectors.revisions import Revision
from teams.errors import ForbiddenError, InvalidError, NotFoundError
from teams.models import Agent, Conversation
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
    """The viewer a read names; call it in the team's scope, or outside of any transaction.

    An unknown user or project sees what belongs to none. Raises NotFoundError for an unknown
    agent and ForbiddenError for another agent than the key's.
    """
    return _viewer(principal, agent, user, project)[0]


class NamedAgent(NamedTuple):
    """The viewer that a read names, its agent, and the team's revision as of then.

    Without a revision, as inside a transaction, whoever needs it reads it.
    """

    viewer: Viewer
    agent: Agent
    revision: Revision | None


def named_agent(
    *, principal: Principal, agent: str, user: str | None, project: str | None
) -> NamedAgent:
    """As `named_viewer`, with the agent that is named."""
    viewer, named = _viewer(principal, agent, user, project)
    if named.agent is None:
        raise _no_agent(agent)
    return NamedAgent(viewer, named.agent, named.revision)


def conversation_of(viewer: Viewer, *, conversation_id: UUID, field: str) -> Conversation:
    """The conversation that a read names, where it is with the viewer's person.

    Raises NotFoundError of that field for any other.
    """
    try:
        conversation = conversation_for(viewer=viewer, conversation_id=conversation_id)
    except NotFoundError as error:
        raise NotFoundError(error.message, field=field) from None
    if viewer.end_user_id not in (None, conversation.end_user_id):
        raise NotFoundError("There is no such conversation with this user.", field=field)
    return conversation


def in_conversation(viewer: Viewer, conversation: Conversation) -> Viewer:
    """The viewer with the conversation's person and project where it names none itself."""
    return replace(
        viewer,
        end_user_id=viewer.end_user_id or conversation.end_user_id,
        project_id=viewer.project_id or conversation.project_id,
    )


def weights_of(agent: Agent, *, given: Weights | None = None) -> Weights:
    """The weights of a request, or else the agent's own.

    Raises InvalidError when the agent's document holds weights that cannot be.
    """
    if given is not None:
        return given
    try:
        return Weights.from_config(agent.retrieval_weights)
    except ValueError as error:
        raise InvalidError(
            f"The agent '{agent.slug}' has retrieval weights that cannot be used: {error}."
            " Correct them in its document, or give weights.",
            field="weights",
        ) from None


def _viewer(
    principal: Principal, agent: str | None, user: str | None, project: str | None
) -> tuple[Viewer, Named]:
    check_agent(principal=principal, agent=agent)
    named = names_of(team_id=principal.team_id, agent=agent, user=user, project=project)
    agent_id, categories = principal.agent_id, principal.allowed_categories
    if agent is not None and agent_id is None:
        if named.agent is None:
            raise _no_agent(agent)
        agent_id, categories = named.agent.pk, tuple(named.agent.allowed_categories)
    viewer = Viewer(
        team_id=principal.team_id,
        actor=principal.actor,
        agent_id=agent_id,
        end_user_id=(named.end_user_id or NOBODY) if user is not None else None,
        project_id=(named.project_id or NOBODY) if project is not None else None,
        allowed_categories=categories,
    )
    return viewer, named


def _no_agent(agent: str) -> NotFoundError:
    return NotFoundError(
        f"There is no agent '{agent}' yet. Its first message, memory or chat makes it, or"
        f" PUT /v1/agents/{agent}.",
        field="agent",
    )
