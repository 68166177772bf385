"""A question in; the right memories, or an agent's whole system prompt, out."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request

from memory.api.base import answers
from memory.api.memory_json import (
    Json,
    answer_form,
    brief_contradiction_json,
    brief_memory_json,
    brief_message_json,
    json_response,
    packed_memory_json,
    packed_message_json,
    stats_json,
)
from memory.api.request_events import context_event
from memory.api.serializers.contradictions import ContradictionSerializer
from memory.api.serializers.found import (
    BRIEF,
    FULL,
    FullRetrievalSerializer,
    RetrievalSerializer,
    RetrieveSerializer,
)
from memory.api.serializers.prompt import (
    BuiltPromptSerializer,
    LayerSerializer,
    PromptSerializer,
    ToldDocumentsSerializer,
    TrimmedLayerSerializer,
    UpdatesSerializer,
)
from memory.api.views.reading import ReadViewSet
from memory.clients.token_counters import counter_for
from memory.domain.plans.documents import Document
from memory.reading.answers import Prompt
from memory.reading.cache import Sent
from memory.reading.news import News, with_news
from memory.reading.retrieval import packing_for, retrieve
from memory.reading.seven_layers import (
    BuiltPrompt,
    build_prompt,
    prompt_without_memory,
    send_prompt,
    with_documents,
)


class RetrievalViewSet(ReadViewSet):
    """The read path."""

    serializer_class = RetrievalSerializer
    operations = {"retrieve": ("context", "context")}
    memory_actions = ("retrieve",)

    @extend_schema(
        request=RetrieveSerializer,
        responses=answers(
            PolymorphicProxySerializer(
                component_name="RetrievalAnswer",
                serializers=[RetrievalSerializer, FullRetrievalSerializer],
                resource_type_field_name=None,
            ),
            *(403, 404, 422),
        ),
    )
    def retrieve(self, request: Request) -> HttpResponse:
        """The memories an agent needs for a question, within a token budget, and as a prompt.

        What the prompt tells is listed briefly; with `return: full` each memory, message and
        contradiction has all its fields. What `POST /v1/context/predict` predicted for the same
        agent, user and project in the last 15 minutes is among the candidates; what is likelier
        than not to be needed is told whatever is asked.
        """
        given = self.body(RetrieveSerializer)
        asked = self.asked(given)
        viewer = asked.viewer
        is_full = given["return"] == FULL
        sent = retrieve(
            asked.read(),
            packing=packing_for(
                weights=asked.weights,
                token_budget=asked.token_budget,
                counter=counter_for(asked.agent.model_config),
            ),
            render=_in_full if is_full else _briefly,
            form=answer_form(FullRetrievalSerializer if is_full else RetrievalSerializer),
        )
        self.noted([context_event(viewer, sent, asked.question.conversation_id)])
        return json_response(sent.body | {"stats": stats_json(sent.stats, without="duplicates")})


class PromptViewSet(ReadViewSet):
    """The seven layers."""

    serializer_class = BuiltPromptSerializer
    operations = {"build": ("context", "context")}

    @extend_schema(
        request=PromptSerializer,
        responses=answers(BuiltPromptSerializer, 403, 404, 422),
    )
    def build(self, request: Request) -> HttpResponse:
        """An agent's system prompt for a question, in seven layers, within a token budget.

        The layers: personality, identity memories, skills, the user's profile, retrieved memories,
        team knowledge, the conversation's summary. Layers 7, 6, 5 and 4 are trimmed in this order;
        layers 1 to 3 and pinned memories never are, with a warning if they alone exceed the budget.
        In a conversation the prompt begins with changes of its memories since its last prompt, in
        at most three bullets, each reported once. `documents` are told after the layers, apart
        from memory. For a team with memory switched off the prompt is the agent's document and
        these alone, with a warning.
        """
        given = self.body(PromptSerializer)
        asked = self.asked(given)
        viewer, agent, token_budget = asked.viewer, asked.agent, asked.token_budget
        conversation = asked.conversation
        counter = counter_for(agent.model_config)
        documents = [Document(**each) for each in given.get("documents") or ()]
        if not self.principal.flags.memory:
            built = with_documents(
                documents,
                token_budget=token_budget,
                counter=counter,
                build=lambda left: prompt_without_memory(
                    agent=agent, token_budget=left, counter=counter
                ),
            )
            return _prompt_response(_prompt_json(built), built)
        read = asked.read()
        options: dict[str, Any] = {  # Any: keyword arguments of every type
            "agent": agent,
            "weights": asked.weights,
            "counter": counter,
        }

        def build(budget: int) -> BuiltPrompt:
            return with_documents(
                documents,
                token_budget=budget,
                counter=counter,
                build=lambda left: build_prompt(
                    read, **options, conversation=conversation, token_budget=left
                ),
            )

        if conversation is None and documents:
            # What a caller passes along with one question is not worth keeping.
            built = build(token_budget)
            self.noted([context_event(viewer, built, None)])
            return _prompt_response(_prompt_json(built), built)
        if conversation is None:
            sent = send_prompt(
                read,
                **options,
                token_budget=token_budget,
                render=_prompt_json,
                form=answer_form(BuiltPromptSerializer),
            )
            self.noted([context_event(viewer, sent, None)])
            return _prompt_response(sent.body, sent)
        built, news = with_news(
            viewer=viewer,
            conversation_id=conversation.pk,
            counter=counter,
            token_budget=token_budget,
            build=build,
        )
        self.noted([context_event(viewer, built, conversation.pk)])
        return _prompt_response(_prompt_json(built, news), built)


def _briefly(found: Prompt) -> Json:
    """What `RetrievalSerializer` describes, without its stats."""
    return {
        "return": BRIEF,
        "memories": [brief_memory_json(each) for each in found.memories],
        "messages": [brief_message_json(each) for each in found.messages],
        "formatted_prompt": found.formatted_prompt,
        "contradictions": [brief_contradiction_json(each) for each in found.contradictions],
    }


def _in_full(found: Prompt) -> Json:
    """What `FullRetrievalSerializer` describes, without its stats."""
    return {
        "return": FULL,
        "memories": [packed_memory_json(each) for each in found.memories],
        "messages": [packed_message_json(each) for each in found.messages],
        "formatted_prompt": found.formatted_prompt,
        "contradictions": [ContradictionSerializer(each).data for each in found.contradictions],
    }


def _prompt_json(built: BuiltPrompt, news: News | None = None) -> Json:
    """What `BuiltPromptSerializer` describes, without its stats."""
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
        "documents": ToldDocumentsSerializer(built.documents).data if built.documents else None,
        "warnings": list(built.warnings),
    }


def _prompt_response(body: Json, told: BuiltPrompt | Sent) -> HttpResponse:
    return json_response(body | {"stats": stats_json(told.stats, without="warnings")})
