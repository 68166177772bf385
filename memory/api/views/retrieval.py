"""A question in; the right memories, or an agent's whole system prompt, out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from memory.api.base import ApiViewSet, answers
from memory.api.memory_json import (
    MEDIA_TYPE,
    answer_form,
    packed_memory_json,
    packed_message_json,
    with_stats,
)
from memory.api.request_events import context_event
from memory.api.serializers.contradictions import ContradictionSerializer
from memory.api.serializers.found import RetrievalSerializer, RetrieveSerializer
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
from memory.domain.scoring import Weights
from memory.domain.viewer import Viewer
from memory.selectors.conversations import conversation_for
from memory.services.read.answer_cache import Sent, send_retrieval
from memory.services.read.answers import Retrieval
from memory.services.read.cascade import Depth
from memory.services.read.prompting import (
    BuiltPrompt,
    build_prompt,
    prompt_without_memory,
    send_prompt,
)
from memory.services.read.ranking import Question
from memory.services.read.retrieval import packing_for
from memory.services.read.updates import News, with_news
from teams.errors import InvalidError, NotFoundError
from teams.models import Agent, Conversation


class RetrievalViewSet(ApiViewSet):
    """The read path."""

    serializer_class = RetrievalSerializer
    operations = {"retrieve": ("context", "context")}
    memory_actions = ("retrieve",)

    @extend_schema(
        request=RetrieveSerializer,
        responses=answers(RetrievalSerializer, 403, 404, 422),
    )
    def retrieve(self, request: Request) -> HttpResponse:
        """The memories an agent needs for a question, within a token budget, and as a prompt."""
        given = self.body(RetrieveSerializer)
        viewer, agent, revision = self.named_agent(given)
        asked_in = given.get("conversation")
        if asked_in:
            with self.team_scope():
                viewer = _in_conversation(viewer, _conversation(viewer, asked_in, "conversation"))
        sent = send_retrieval(
            viewer=viewer,
            question=Question(given["query"], asked_in),
            limit=given.get("limit"),
            depth=Depth(given.get("include_cold"), given.get("include_raw")),
            packing=packing_for(
                viewer=viewer,
                weights=_own_weights(agent),
                token_budget=given.get("token_budget") or agent.token_budget,
                counter=counter_for(agent.model_config),
            ),
            revision=revision,
            write=_written_retrieval,
            form=answer_form(RetrievalSerializer),
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([context_event(viewer, sent, asked_in)])
        body = with_stats(sent.body, sent.stats, leave_out="duplicates")
        return HttpResponse(body, content_type=MEDIA_TYPE)


class PromptViewSet(ApiViewSet):
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
        at most three bullets, each reported once. For a team with memory switched off the prompt
        is the agent's document alone, with a warning.
        """
        given = self.body(PromptSerializer)
        viewer, agent, _ = self.named_agent(given)
        conversation = None
        if given.get("conversation") or given.get("thread_id") is not None:
            with self.team_scope():
                conversation = _named_conversation(viewer, agent, given)
        token_budget = _budget(agent, given.get("token_budget"))
        counter = counter_for(agent.model_config)
        if not self.principal.flags.memory:
            built = prompt_without_memory(agent=agent, token_budget=token_budget, counter=counter)
            return _prompt_response(_written_prompt(built), built)
        if conversation is not None:
            viewer = _in_conversation(viewer, conversation)
        options: dict[str, Any] = {  # Any: keyword arguments of every type
            "viewer": viewer,
            "agent": agent,
            "question": Question(given["query"], conversation.pk if conversation else None),
            "weights": given.get("weights") or _own_weights(agent),
            "depth": Depth(given.get("include_cold"), given.get("include_raw")),
            "tools": default_tools(),
            "counter": counter,
            "now": timezone.now(),
        }
        if conversation is None:
            sent = send_prompt(
                **options,
                token_budget=token_budget,
                write=_written_prompt,
                form=answer_form(BuiltPromptSerializer),
            )
            self.noted([context_event(viewer, sent, None)])
            return _prompt_response(sent.body, sent)
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
        return _prompt_response(_written_prompt(built, news), built)


def _conversation(viewer: Viewer, conversation_id: UUID, field: str) -> Conversation:
    """The conversation that a read names; NotFoundError for one with another user."""
    try:
        conversation = conversation_for(viewer=viewer, conversation_id=conversation_id)
    except NotFoundError as error:
        raise NotFoundError(error.message, field=field) from None
    if viewer.end_user_id not in (None, conversation.end_user_id):
        raise NotFoundError("There is no such conversation with this user.", field=field)
    return conversation


def _named_conversation(viewer: Viewer, agent: Agent, given: dict[str, Any]) -> Conversation:
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


def _written_retrieval(found: Retrieval) -> bytes:
    """What `RetrievalSerializer` describes, without its stats."""
    return orjson.dumps(
        {
            "memories": [packed_memory_json(each) for each in found.memories],
            "messages": [packed_message_json(each) for each in found.messages],
            "formatted_prompt": found.formatted_prompt,
            "contradictions": [ContradictionSerializer(each).data for each in found.contradictions],
        }
    )


def _written_prompt(built: BuiltPrompt, news: News | None = None) -> bytes:
    """What `BuiltPromptSerializer` describes, without its stats."""
    return orjson.dumps(
        {
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
    )


def _prompt_response(body: bytes, told: BuiltPrompt | Sent) -> HttpResponse:
    shown = with_stats(body, told.stats, leave_out="warnings")
    return HttpResponse(shown, content_type=MEDIA_TYPE)
