"""What retrieve, prompt and query have in common: who asks, where, and with which options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from memory.api.base import ApiViewSet
from memory.domain.audience import Viewer
from memory.domain.scoring import Weights
from memory.domain.types import MemoryType
from memory.reading.answers import budget_for, own_weights, weights_of
from memory.reading.ranking import Question
from memory.reading.retrieval import Read, of_types
from memory.reading.search import Depth
from memory.selectors.conversations import conversation_with, viewer_in
from memory.selectors.revisions import Revision
from memory.understanding.tools import default_tools
from teams.errors import NotFoundError
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
        return self.given_weights or own_weights(self.agent)

    def read(self) -> Read:
        """Returns the read of a prompt, narrowed to the types that were asked for."""
        return Read(
            viewer=self.viewer,
            question=self.question,
            tools=default_tools(),
            now=timezone.now(),
            limit=self.limit,
            depth=self.depth,
            rows=of_types(self.memory_types),
            min_score=self.min_score,
            revision=self.revision,
        )


class ReadViewSet(ApiViewSet):
    """A viewset that answers an agent's question."""

    only_reads = True

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
            viewer = viewer_in(viewer, conversation)
        return Asked(
            viewer=viewer,
            agent=agent,
            revision=revision,
            conversation=conversation,
            question=Question(given["query"], conversation.pk if conversation else None),
            token_budget=budget_for(agent, given.get("token_budget")),
            limit=given.get("limit"),
            memory_types=tuple(dict.fromkeys(given.get("memory_types") or ())),
            given_weights=weights_of(given["weights"]) if given.get("weights") else None,
            depth=Depth(
                given.get("include_cold", False),
                given.get("include_raw"),
                include_private=MemoryType.AGENT_PRIVATE in (given.get("memory_types") or ()),
            ),
            min_score=given.get("min_score"),
        )


def _named_conversation(viewer: Viewer, agent: Agent, given: Mapping[str, Any]) -> Conversation:
    """The conversation that the request names by its id, or by its thread and user."""
    if given.get("conversation"):
        return conversation_with(viewer=viewer, conversation_id=given["conversation"])
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
