"""The weights and the budget of an agent's document, where a read says nothing else."""

from __future__ import annotations

from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.scoring import Weights
from teams.errors import InvalidError
from teams.models import Agent


def own_weights(agent: Agent) -> Weights:
    """The weights of the agent's document; InvalidError where they cannot be used."""
    try:
        return Weights.from_config(agent.retrieval_weights)
    except ValueError as error:
        raise InvalidError(
            f"The agent '{agent.slug}' has retrieval weights that cannot be used: {error}."
            " Correct them in its document, or give weights.",
            field="weights",
        ) from None


def budget_for(agent: Agent, given: int | None) -> int:
    """The given tokens, or else the agent's own; InvalidError where its own are too few."""
    if given is None and agent.token_budget < MINIMUM_BUDGET:
        raise InvalidError(
            f"The agent's own budget of {agent.token_budget} tokens is under the floor of"
            f" {MINIMUM_BUDGET}. Raise it in its document, or give token_budget.",
            field="token_budget",
        )
    return given or agent.token_budget
