"""Agents as documents: read, written whole, without lost updates, each version kept."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from teams.domain.agent_document import AgentDocument
from teams.domain.checking import DocumentError
from teams.domain.model_config import ModelConfig
from teams.errors import InvalidError, NotFoundError, StaleError
from teams.models import Agent, AgentVersion
from teams.services.conditions import UNCONDITIONAL, Condition
from teams.services.people import check_new_slug


def agent_of_slug(*, team_id: UUID, slug: str) -> Agent:
    """The team's agent; NotFoundError when there is none. Call it in the team's scope."""
    agent = Agent.objects.filter(team_id=team_id, slug=slug).first()
    if agent is None:
        raise NotFoundError(f"There is no agent '{slug}'.", field="slug")
    return agent


def versions_of(*, agent: Agent) -> QuerySet[AgentVersion, AgentVersion]:
    """What the agent's document was, the latest first; call it in the team's scope."""
    return AgentVersion.objects.filter(team_id=agent.team_id, agent_id=agent.pk).order_by("-number")


def model_config_of(agent: Agent) -> ModelConfig:
    """Which model speaks for the agent.

    Raises InvalidError when its document holds what cannot be used, as raw SQL may leave it.
    """
    try:
        return ModelConfig.read(agent.model_config)
    except DocumentError as error:
        raise InvalidError(
            f"The agent '{agent.slug}' has a model configuration that cannot be used: {error}"
            " Correct it in its document.",
            field="agent",
        ) from None


def save_document(
    *,
    team_id: UUID,
    slug: str,
    document: AgentDocument,
    condition: Condition = UNCONDITIONAL,
) -> tuple[Agent, bool]:
    """Put the document in the place of the agent's, or make the agent; returns whether it is new.

    The database keeps the version that comes of it, with the actor and the reason of the team's
    scope; a document that says the same makes none. Raises StaleError when the condition does not
    hold of the version that stands, and InvalidError for a new agent whose slug has spaces. Call it
    in the team's scope.
    """
    columns = columns_of(document)
    rows = Agent.objects.filter(team_id=team_id, slug=slug)
    agent = rows.select_for_update().first()
    if agent is None:
        _check(condition, slug, stored=0)
        check_new_slug(slug, field="slug")
        made = Agent(team_id=team_id, slug=slug, **columns)
        Agent.objects.bulk_create([made], ignore_conflicts=True)
        agent = rows.select_for_update().get()
        if agent.pk == made.pk:
            return agent, True
        # Somebody else made it first.
    _check(condition, slug, stored=agent.version)
    rows.update(**columns)
    return rows.get(), False


def columns_of(document: AgentDocument) -> Mapping[str, object]:
    """The document as the columns of an agent's row."""
    memory = document.memory
    interval = memory.summarize_interval
    return {
        "name": document.name,
        "tagline": document.tagline,
        "personality": document.personality.as_json(),
        "rules": document.rules.as_json(),
        "skills": document.skills.as_json(),
        "model_config": document.model.as_json(),
        "retrieval_weights": dict(memory.retrieval_weights),
        "token_budget": memory.token_budget,
        "summarize_interval": settings.SUMMARIZE_INTERVAL if interval is None else interval,
        "allowed_categories": list(memory.allowed_categories),
    }


def _check(condition: Condition, slug: str, *, stored: int) -> None:
    if condition.must_be_new and stored:
        raise StaleError(
            f"There is an agent '{slug}' already, at version {stored}. Load it, or send"
            f' If-Match: "{stored}".'
        )
    wanted = condition.versions
    if (condition.must_exist or wanted is not None) and not stored:
        raise StaleError(f"There is no agent '{slug}' yet; send its document without If-Match.")
    if wanted is not None and stored not in wanted:
        raise StaleError(
            f"The agent '{slug}' is at version {stored} now: somebody changed it in between. Load"
            f' it, bring your change to it and send If-Match: "{stored}".'
        )
    if stored in condition.other_than:
        raise StaleError(f"The agent '{slug}' is at version {stored}, which the request excludes.")
