"""Agents as documents: read, written whole, without lost updates, each version kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from teams.domain.agent_document import AgentDocument, MemoryConfig, ModelConfig
from teams.domain.documents import DocumentError
from teams.errors import UNCONDITIONAL, Condition, InvalidError, NotFoundError
from teams.models import Agent, AgentVersion
from teams.services.people import agent_called, check_new_slug, slug_called

# What an answer has beside the document; sent back with it, it is passed over.
READ_ONLY = ("aliases", "effective_weights", "version", "created_at", "changed_at", "changed_by")


def agent_of_slug(*, team_id: UUID, slug: str) -> Agent:
    """The team's agent of that slug or alias; raises NotFoundError."""
    agent = agent_called(team_id=team_id, name=slug)
    if agent is None:
        raise NotFoundError(f"There is no agent '{slug}'.", field="slug")
    return agent


def versions_of(*, agent: Agent) -> QuerySet[AgentVersion, AgentVersion]:
    """The versions of the agent's document, the latest first; call it in the team's scope."""
    return AgentVersion.objects.filter(team_id=agent.team_id, agent_id=agent.pk).order_by("-number")


def model_config_of(agent: Agent) -> ModelConfig:
    """The agent's model configuration; raises InvalidError where raw SQL left an invalid one."""
    try:
        return ModelConfig.read(agent.model_config, at="model_config")
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
    """Replace the agent's document, or create the agent; returns it and whether it is new.

    A trigger stores the new version with the actor and the reason of the team's scope; an
    unchanged document makes none. Raises StaleError when the current version does not meet the
    condition, and InvalidError for a new agent whose slug has spaces. Call it in the team's scope.
    """
    columns, what = columns_of(document), f"an agent '{slug}'"
    rows = Agent.objects.filter(team_id=team_id, slug=slug_called(team_id=team_id, name=slug))
    agent = rows.select_for_update().first()
    if agent is None:
        condition.check(stored=0, what=what)
        check_new_slug(slug, field="slug")
        made = Agent(team_id=team_id, slug=slug, **columns)
        Agent.objects.bulk_create([made], ignore_conflicts=True)
        agent = rows.select_for_update().get()
        if agent.pk == made.pk:
            return agent, True
        # Another request created it first.
    condition.check(stored=agent.version, what=what)
    rows.update(**columns)
    return rows.get(), False


def change_agent(
    *, agent: Agent, columns: Mapping[str, object], condition: Condition = UNCONDITIONAL
) -> Agent:
    """Changes columns (see `columns_of`) of the agent's document; returns the agent."""
    rows = Agent.objects.filter(team_id=agent.team_id, pk=agent.pk)
    stored = rows.select_for_update().get()
    condition.check(stored=stored.version, what=f"an agent '{stored.slug}'")
    if columns:
        rows.update(**columns)
    return rows.get()


def columns_of(document: AgentDocument) -> dict[str, Any]:  # Any: columns of any type
    """Returns the document as the columns of an agent's row, without what has its default."""
    memory = document.memory
    interval = memory.summarize_interval
    return {
        "name": document.name,
        "tagline": document.tagline,
        "personality": document.personality.differing(),
        "rules": document.rules.differing(),
        "skills": document.skills.differing(),
        "model_config": document.model.differing(),
        "retrieval_weights": memory.retrieval_weights.chosen(),
        "token_budget": memory.token_budget,
        "summarize_interval": settings.SUMMARIZE_INTERVAL if interval is None else interval,
        "extraction_instructions": memory.extraction_instructions,
        "allowed_categories": memory.allowed_categories,
        "keeps_to_itself": memory.keeps_to_itself,
        "context_policy": memory.context_policy.chosen(),
    }


def document_of(agent: Agent) -> dict[str, Any]:  # Any: JSON
    """Returns the document in the shape of the API, verbatim as the row holds it."""
    own = ("name", "tagline", "personality", "rules", "skills", "model_config")
    return {
        **{name: getattr(agent, name) for name in own},
        "memory_config": {name: getattr(agent, name) for name in MemoryConfig.model_fields},
    }
