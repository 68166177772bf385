"""An agent and a question in, the agent's whole system prompt out."""

from __future__ import annotations

from functools import cache
from typing import Any

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
from memory.api.serializers.prompt import (
    BuiltPromptSerializer,
    LayerSerializer,
    PromptSerializer,
    TrimmedLayerSerializer,
    UpdatesSerializer,
)
from memory.clients.token_counters import counter_for
from memory.clients.tools import default_tools
from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.viewer import Viewer
from memory.services.read.cascade import Depth
from memory.services.read.prompting import (
    BuiltPrompt,
    build_prompt,
    prompt_without_memory,
    send_prompt,
)
from memory.services.read.ranking import Question
from memory.services.read.updates import News, with_news
from teams.errors import InvalidError, NotFoundError
from teams.models import Agent, Conversation


class PromptViewSet(ApiViewSet):
    """The seven layers."""

    serializer_class = BuiltPromptSerializer
    operations = {"build": ("context", "context")}

    @extend_schema(
        request=PromptSerializer,
        responses={200: BuiltPromptSerializer, **refusals(403, 404, 422)},
    )
    def build(self, request: Request) -> HttpResponse:
        """An agent's system prompt for a question, in seven layers, within a token budget.

        The layers: personality, identity memories, skills, the user's profile, retrieved memories,
        team knowledge, the conversation's summary. Layers 7, 6, 5 and 4 are trimmed in this order;
        layers 1 to 3 and pinned memories never are, with a warning if they alone exceed the budget.
        In a conversation the prompt begins with changes of its memories since its last prompt, in
        at most three bullets, each reported once. For a team with memory switched off the prompt
        is the agent's document alone, with a warning.
        """
        given = self.body(PromptSerializer)
        viewer, agent, _ = self.named_agent(given)
        conversation = None
        if given.get("conversation") or given.get("thread_id") is not None:
            with self.team_scope():
                conversation = _conversation(viewer, agent, given)
        token_budget = _budget(agent, given.get("token_budget"))
        counter = counter_for(agent.model_config)
        if not self.principal.flags.memory:
            built = prompt_without_memory(agent=agent, token_budget=token_budget, counter=counter)
            return self._response(built, None)
        if conversation is not None:
            viewer = in_conversation(viewer, conversation)
        question = Question(given["query"], conversation.pk if conversation else None)
        options: dict[str, Any] = {
            "viewer": viewer,
            "agent": agent,
            "question": question,
            "weights": weights_of(agent, given=given.get("weights")),
            "depth": Depth(given.get("include_cold"), given.get("include_raw")),
            "tools": default_tools(),
            "counter": counter,
            "now": timezone.now(),
        }
        if conversation is None:
            sent = send_prompt(**options, token_budget=token_budget, write=_written, form=_form())
            self.noted([context_event(viewer, sent, None)])
            stats = stats_json(sent.stats, leave_out="warnings")
            return HttpResponse(with_fields(sent.body, {"stats": stats}), content_type=MEDIA_TYPE)
        built, news = with_news(
            viewer=viewer,
            conversation_id=conversation.pk,
            counter=counter,
            token_budget=token_budget,
            build=lambda budget: build_prompt(
                **options, conversation=conversation, token_budget=budget
            ),
        )
        self.noted([context_event(viewer, built, conversation.pk)])
        return self._response(built, news)

    def _response(self, built: BuiltPrompt, news: News | None) -> HttpResponse:
        stats = stats_json(built.stats, leave_out="warnings")
        return HttpResponse(
            orjson.dumps({**_answer(built, news), "stats": stats}), content_type=MEDIA_TYPE
        )


def _conversation(viewer: Viewer, agent: Agent, given: dict[str, Any]) -> Conversation:
    """The conversation that the request names.

    Raises NotFoundError for one that is not there or not with the user of the request.
    """
    if given.get("conversation"):
        return conversation_of(viewer, conversation_id=given["conversation"], field="conversation")
    rows = Conversation.objects.filter(
        team_id=viewer.team_id,
        agent=agent,
        end_user_id=viewer.end_user_id,
        thread_id=given["thread_id"],
    )
    found = rows.values_list("id", flat=True).first()
    if found is None:
        raise NotFoundError("There is no such conversation.", field="thread_id")
    return conversation_of(viewer, conversation_id=found, field="thread_id")


def _budget(agent: Agent, given: int | None) -> int:
    if given is None and agent.token_budget < MINIMUM_BUDGET:
        raise InvalidError(
            f"The agent's own budget of {agent.token_budget} tokens is under the floor of"
            f" {MINIMUM_BUDGET}. Raise it in its document, or give token_budget.",
            field="token_budget",
        )
    return given or agent.token_budget


def _answer(built: BuiltPrompt, news: News | None) -> dict[str, Any]:
    return {
        "prompt": built.prompt,
        "updates": UpdatesSerializer(news).data if news is not None and news.text else None,
        "layers": LayerSerializer(built.layers, many=True).data,
        "trimmed": TrimmedLayerSerializer(built.trimmed, many=True).data,
        "memories": [
            {**packed_memory_json(each.scored), "layer": each.layer} for each in built.memories
        ],
        "messages": [packed_message_json(each) for each in built.messages],
        "contradictions": [ContradictionSerializer(each).data for each in built.contradictions],
        "warnings": list(built.warnings),
    }


def _written(built: BuiltPrompt) -> bytes:
    """What `BuiltPromptSerializer` describes, but for its stats."""
    return orjson.dumps(_answer(built, None))


@cache
def _form() -> str:
    """All fields of what is written, so that another release's answers are not taken for it."""
    return repr(BuiltPromptSerializer())
