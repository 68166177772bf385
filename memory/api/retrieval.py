"""A question in, the right memories out, as a prompt."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import named_agent
from memory.api.contradiction_output import ContradictionSerializer
from memory.api.input import RetrieveSerializer
from memory.api.operations import context_event
from memory.api.plain_output import plain_packed_message
from memory.api.said_output import RetrievalSerializer
from memory.api.weights import weights_of
from memory.api.written_output import JSON, packed_memories, with_fields
from memory.clients.token_counters import counter_for
from memory.clients.tools import default_tools
from memory.domain.viewer import Viewer
from memory.selectors.conversations import conversation_for
from memory.services.reading.answers import Retrieval
from memory.services.reading.ranking import Question
from memory.services.reading.retrieval import retrieve_written
from memory.services.reading.retrieving import Wanted
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
    def retrieve(self, request: Request) -> HttpResponse:
        """The memories an agent needs for a question, within a token budget, ready to paste."""
        given = self.body(RetrieveSerializer)
        viewer, agent, revision = named_agent(
            principal=self.principal,
            agent=given["agent"],
            user=given.get("user"),
            project=given.get("project"),
        )
        conversation = given.get("conversation")
        if conversation:
            viewer = _in_conversation(viewer, conversation)
        sent = retrieve_written(
            wanted=Wanted(
                viewer=viewer,
                question=Question(given["query"], conversation),
                weights=weights_of(agent),
                token_budget=given.get("token_budget") or agent.token_budget,
                limit=given.get("limit"),
                include_cold=given.get("include_cold"),
                include_raw=given.get("include_raw"),
                counter=counter_for(agent.model_config),
                revision=revision,
            ),
            write=_written,
            form=_form(),
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([context_event(viewer, sent, conversation)])
        return HttpResponse(with_fields(sent.text, {"stats": sent.stats}), content_type=JSON)


def _written(found: Retrieval) -> bytes:
    """What `RetrievalSerializer` shows of it, but for its stats."""
    return orjson.dumps(
        {
            "memories": orjson.Fragment(packed_memories(found.memories)),
            "messages": [plain_packed_message(each) for each in found.messages],
            "formatted_prompt": found.formatted_prompt,
            "contradictions": [ContradictionSerializer(each).data for each in found.contradictions],
        }
    )


@cache
def _form() -> str:
    """All fields of what is written, so that another release's answers are not taken for it."""
    return repr(RetrievalSerializer())


def _in_conversation(viewer: Viewer, conversation_id: UUID) -> Viewer:
    """The viewer with the person and the project of a conversation it may see."""
    try:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            conversation = conversation_for(viewer=viewer, conversation_id=conversation_id)
    except NotFoundError as error:
        raise NotFoundError(error.message, field="conversation") from None
    if viewer.end_user_id not in (None, conversation.end_user_id):
        raise NotFoundError("There is no such conversation with this user.", field="conversation")
    return replace(
        viewer,
        end_user_id=viewer.end_user_id or conversation.end_user_id,
        project_id=viewer.project_id or conversation.project_id,
    )
