"""A question in, the right memories out, as a prompt."""

from __future__ import annotations

from functools import cache

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import conversation_of, in_conversation, weights_of
from memory.api.memory_json import (
    MEDIA_TYPE,
    packed_memory_json,
    packed_message_json,
    stats_json,
    with_fields,
)
from memory.api.request_events import context_event
from memory.api.serializers.contradictions import ContradictionSerializer
from memory.api.serializers.found import RetrievalSerializer, RetrieveSerializer
from memory.clients.token_counters import counter_for
from memory.clients.tools import default_tools
from memory.services.read.answer_cache import send_retrieval
from memory.services.read.answers import Retrieval
from memory.services.read.cascade import Depth
from memory.services.read.ranking import Question
from memory.services.read.retrieval import packing_for


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
        """The memories an agent needs for a question, within a token budget, and as a prompt."""
        given = self.body(RetrieveSerializer)
        viewer, agent, revision = self.named_agent(given)
        asked_in = given.get("conversation")
        if asked_in:
            with self.team_scope():
                conversation = conversation_of(
                    viewer, conversation_id=asked_in, field="conversation"
                )
            viewer = in_conversation(viewer, conversation)
        sent = send_retrieval(
            viewer=viewer,
            question=Question(given["query"], asked_in),
            limit=given.get("limit"),
            depth=Depth(given.get("include_cold"), given.get("include_raw")),
            packing=packing_for(
                viewer=viewer,
                weights=weights_of(agent),
                token_budget=given.get("token_budget") or agent.token_budget,
                counter=counter_for(agent.model_config),
            ),
            revision=revision,
            write=_written,
            form=_form(),
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([context_event(viewer, sent, asked_in)])
        stats = stats_json(sent.stats, leave_out="duplicates")
        return HttpResponse(with_fields(sent.body, {"stats": stats}), content_type=MEDIA_TYPE)


def _written(found: Retrieval) -> bytes:
    """What `RetrievalSerializer` shows of it, but for its stats."""
    return orjson.dumps(
        {
            "memories": [packed_memory_json(each) for each in found.memories],
            "messages": [packed_message_json(each) for each in found.messages],
            "formatted_prompt": found.formatted_prompt,
            "contradictions": [ContradictionSerializer(each).data for each in found.contradictions],
        }
    )


@cache
def _form() -> str:
    """All fields of what is written, so that another release's answers are not taken for it."""
    return repr(RetrievalSerializer())
