"""What retrieve, prompt and query have in common: who asks, where, and with which options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memory.api.base import ApiViewSet
from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.scoring import Weights
from memory.domain.viewer import Viewer
from memory.selectors.conversations import conversation_for
from memory.selectors.revisions import Revision
from memory.services.read.cascade import Depth
from memory.services.read.ranking import Question
from teams.errors import InvalidError, NotFoundError
from teams.models import Agent, Conversation


@dataclass(frozen=True, slots=True)
class Asked:
    """A read as `ReadOptionsSerializer` describes it, its names looked up.

    `viewer` is narrowed to the user and project of the `conversation` where the request names
    none. `given_weights` are None where the request has none.
    """

    viewer: Viewer
    agent: Agent
    revision: Revision | None
    conversation: Conversation | None
    question: Question
    token_budget: int
    limit: int | None
    memory_types: tuple[str, ...]
    given_weights: Weights | None
    depth: Depth
    min_score: float | None

    @property
    def weights(self) -> Weights:
        """Those of the request, or else of the agent; InvalidError where they cannot be used."""
        return self.given_weights or _own_weights(self.agent)


class ReadViewSet(ApiViewSet):
    """A viewset that answers an agent's question."""

    def asked(self, given: Mapping[str, Any]) -> Asked:
        """What is asked by the validated input.

        Raises NotFoundError for an unknown agent or conversation, ForbiddenError for another agent
        than the key's, and InvalidError for an agent whose own budget cannot be used.
        """
        viewer, agent, revision = self.named_agent(given)
        conversation = None
        if given.get("conversation") or given.get("thread_id") is not None:
            with self.team_scope():
                conversation = _named_conversation(viewer, agent, given)
            viewer = _in_conversation(viewer, conversation)
        return Asked(
            viewer=viewer,
            agent=agent,
            revision=revision,
            conversation=conversation,
            question=Question(given["query"], conversation.pk if conversation else None),
            token_budget=_budget(agent, given.get("token_budget")),
            limit=given.get("limit"),
            memory_types=tuple(dict.fromkeys(given.get("memory_types") or ())),
            given_weights=given.get("weights"),
            depth=Depth(given.get("include_cold"), given.get("include_raw")),
            min_score=given.get("min_score"),
        )


def _conversation(viewer: Viewer, conversation_id: UUID, field: str) -> Conversation:
    """The conversation that a read names; NotFoundError for one with another user."""
    try:
        conversation = conversation_for(viewer=viewer, conversation_id=conversation_id)
    except NotFoundError as error:
        raise NotFoundError(error.message, field=field) from None
    if viewer.end_user_id not in (None, conversation.end_user_id):
        raise NotFoundError("There is no such conversation with this user.", field=field)
    return conversation


def _named_conversation(viewer: Viewer, agent: Agent, given: Mapping[str, Any]) -> Conversation:
    """The conversation that the request names by its id, or by its thread and user."""
    if given.get("conversation"):
        return _conversation(viewer, given["conversation"], "conversation")
    rows = Conversation.objects.filter(
        team_id=viewer.team_id,
        agent=agent,
        end_user_id=viewer.end_user_id,
        thread_id=given["thread_id"],
    )
    found = rows.select_related("agent", "end_user", "project").first()
    if found is None:
        raise NotFoundError("There is no such conversation.", field="thread_id")
    return found


def _in_conversation(viewer: Viewer, conversation: Conversation) -> Viewer:
    """The viewer with the conversation's user and project where the request names none."""
    return replace(
        viewer,
        end_user_id=viewer.end_user_id or conversation.end_user_id,
        project_id=viewer.project_id or conversation.project_id,
    )


def _own_weights(agent: Agent) -> Weights:
    """The weights of the agent's document; InvalidError where they cannot be used."""
    try:
        return Weights.from_config(agent.retrieval_weights)
    except ValueError as error:
        raise InvalidError(
            f"The agent '{agent.slug}' has retrieval weights that cannot be used: {error}."
            " Correct them in its document, or give weights.",
            field="weights",
        ) from None


def _budget(agent: Agent, given: int | None) -> int:
    if given is None and agent.token_budget < MINIMUM_BUDGET:
        raise InvalidError(
            f"The agent's own budget of {agent.token_budget} tokens is under the floor of"
            f" {MINIMUM_BUDGET}. Raise it in its document, or give token_budget.",
            field="token_budget",
        )
    return given or agent.token_budget
