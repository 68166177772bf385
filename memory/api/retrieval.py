"""A question in, the right memories out, as a prompt."""

from __future__ import annotations

from dataclasses import asdict, replace
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import named_agent
from memory.api.input import RetrieveSerializer
from memory.api.operations import context_event
from memory.api.output import ContradictionSerializer
from memory.api.plain_output import plain_packed_memory, plain_packed_message
from memory.api.said_output import RetrievalSerializer
from memory.api.weights import weights_of
from memory.clients.token_counters import counter_for
from memory.clients.tools import default_tools
from memory.domain.viewer import Viewer
from memory.selectors.conversations import conversation_for
from memory.services.ranking import Question
from memory.services.retrieval import retrieve
from teams.errors import NotFoundError
from teams.tenancy import team_scope


class RetrievalViewSet(ApiViewSet):
    """The read path."""

    serializer_class = RetrievalSerializer
    operations = {"retrieve": ("context", "context")}
    memory_actions = ("retrieve",)

    @extend_schema(
        request=RetrieveSerializer,
        responses={200: RetrievalSerializer, **refusals(403, 404, 422)},
    )
    def retrieve(self, request: Request) -> Response:
        """The memories an agent needs for a question, within a token budget, ready to paste."""
        given = self.body(RetrieveSerializer)
        viewer, agent = named_agent(
            principal=self.principal,
            agent=given["agent"],
            user=given.get("user"),
            project=given.get("project"),
        )
        if given.get("conversation"):
            viewer = _in_conversation(viewer, given["conversation"])
        found = retrieve(
            viewer=viewer,
            question=Question(given["query"], given.get("conversation")),
            weights=weights_of(agent),
            token_budget=given.get("token_budget") or agent.token_budget,
            limit=given.get("limit"),
            include_cold=given.get("include_cold"),
            include_raw=given.get("include_raw"),
            tools=default_tools(),
            counter=counter_for(agent.model_config),
            now=timezone.now(),
        )
        self.noted([context_event(viewer, found.memories, found.stats, given.get("conversation"))])
        return Response(
            {
                "memories": [plain_packed_memory(each) for each in found.memories],
                "messages": [plain_packed_message(each) for each in found.messages],
                "formatted_prompt": found.formatted_prompt,
                "stats": asdict(found.stats),
                "contradictions": [
                    ContradictionSerializer(each).data for each in found.contradictions
                ],
            }
        )


def _in_conversation(viewer: Viewer, conversation_id: UUID) -> Viewer:
    """The viewer with the person and the project of a conversation it may see."""
    try:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            conversation = conversation_for(viewer=viewer, conversation_id=conversation_id)
    except NotFoundError as error:
        raise NotFoundError(error.message, field="conversation") from None
    return replace(
        viewer,
        end_user_id=viewer.end_user_id or conversation.end_user_id,
        project_id=viewer.project_id or conversation.project_id,
    )
