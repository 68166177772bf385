"""The chat protocol: point a client of the OpenAI API here, and its agent remembers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from memory.api.base import PROBLEM_MEDIA, refusals
from memory.api.request_events import context_event
from memory.api.routing import CAPS
from memory.api.schemas import ApiSerializer
from memory.satellites.chat.answering import Prepared, answer_chat, prepare_chat, stream_chat
from memory.satellites.chat.chat_answers import (
    EventStream,
    headers_of,
    palimpsest_field,
)
from memory.satellites.chat.embeddings import EmbeddingViewSet, served_embedder
from memory.satellites.chat.protocol import EVENT_STREAM, ProtocolViewSet, ResponsesViewSet
from memory.satellites.chat.requests import (
    AUTO,
    ChatCompletionSerializer,
    read_ask,
    wants_stream,
)
from memory.understanding.tools import default_tools
from routing.domain.complexity import Tier
from teams.errors import NotFoundError
from teams.models import Agent, Team
from teams.services.idempotency import Answer, ClaimedRequest, finish_request, release_request
from teams.services.people import agent_called

_EVENT = {"type": "object", "properties": {"data": {"type": "string"}}, "required": ["data"]}


class BudgetProblemSerializer(ApiSerializer):
    """A call may cost more than a budget has left; no model was called."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    cap = serializers.ChoiceField(choices=CAPS)
    limit = serializers.FloatField(help_text="Of that budget, in USD, like all amounts here.")
    remaining = serializers.FloatField()
    estimated = serializers.FloatField(help_text="What the call may cost.")
    resets_at = serializers.DateTimeField()
    suggested_tier = serializers.CharField(allow_null=True, help_text="One that still fits.")


class ChatViewSet(ProtocolViewSet):
    """Chat completions with memory."""

    operations = {"create": ("context", "chat")}

    @extend_schema(
        operation_id="chat_completions",
        request=ChatCompletionSerializer,
        responses={
            (200, "application/json"): OpenApiResponse(
                OpenApiTypes.OBJECT,
                description="A `chat.completion` of the protocol with a `palimpsest` field.",
            ),
            (200, EVENT_STREAM): OpenApiResponse(
                _EVENT, description="With stream: true, `chat.completion.chunk`s."
            ),
            (402, PROBLEM_MEDIA): OpenApiResponse(
                BudgetProblemSerializer, description="A budget is used up; nothing was called."
            ),
            **refusals(403, 404, 409, 422),
        },
    )
    def create(self, request: Request) -> HttpResponse | StreamingHttpResponse:
        """An OpenAI-compatible chat completion in which the agent remembers.

        New messages are stored once, however often a client sends its history; a prompt with the
        agent's memories precedes them; a model is chosen and its cost reserved (402 if a budget is
        used up); the answer is stored. Sampling parameters, tools, tool_choice and response_format
        are passed to the model. Headers X-Palimpsest-… and the field `palimpsest` say what was
        used. Refusals have an `error` member in the protocol's shape. Without a configured model:
        503 that explains how to configure one.
        """
        now = timezone.now()
        ask = read_ask(
            request=request,
            is_agent=self._is_agent,
            now=now,
            project_ids=self.principal.project_ids,
        )
        self.check_agent(ask.agent, field="model")
        prepared = prepare_chat(
            team_id=self.principal.team_id,
            actor=self.principal.actor,
            ask=ask,
            tools=default_tools(),
            now=now,
        )
        self._note_context(prepared)
        if wants_stream(request):
            return self._streamed(prepared)
        answered = answer_chat(prepared=prepared)
        field = palimpsest_field(answered.prepared, answered.used)
        return HttpResponse(
            json.dumps({**answered.body, "palimpsest": field}, ensure_ascii=False).encode(
                errors="replace"
            ),
            content_type="application/json",
            headers=headers_of(field),
        )

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        # Any: Django REST framework's own signature
        """The response; a stream takes the request's idempotency key along to its end."""
        if isinstance(response, StreamingHttpResponse) and self._claimed is not None:
            claimed, self._claimed = self._claimed, None
            self._marking.close()
            self._sent.at_the_end(_kept_under(claimed, self._sent))
        return super().finalize_response(request, response, *args, **kwargs)

    def _streamed(self, prepared: Prepared) -> StreamingHttpResponse:
        live = stream_chat(prepared=prepared)
        self._sent = EventStream(live)
        return StreamingHttpResponse(
            self._sent,
            content_type=EVENT_STREAM,
            headers={
                "Cache-Control": "no-cache",
                # Proxies that gather an answer would hold the words back.
                "X-Accel-Buffering": "no",
                **headers_of(palimpsest_field(live.prepared, None)),
            },
        )

    def _is_agent(self, slug: str) -> bool:
        with self.team_scope():
            return agent_called(team_id=self.principal.team_id, name=slug) is not None

    def _note_context(self, prepared: Prepared) -> None:
        built = prepared.context.built
        if built is not None:
            where = prepared.recorded.conversation.pk
            self.noted([context_event(prepared.exchange.viewer, built, where)])


class ModelViewSet(ProtocolViewSet):
    """The team's agents, and the server's encoder, as the protocol lists models."""

    @extend_schema(operation_id="models", responses={200: OpenApiTypes.OBJECT, **refusals(403)})
    def entries(self, request: Request) -> HttpResponse:
        """The agents that chat can name, also with each tier, and the model of embeddings."""
        return JsonResponse({"object": "list", "data": list(self._models().values())})

    @extend_schema(operation_id="model", responses={200: OpenApiTypes.OBJECT, **refusals(403, 404)})
    def load(self, request: Request, name: str) -> HttpResponse:
        """One of them."""
        found = self._models().get(name)
        if found is None:
            raise NotFoundError(f"There is no model '{name}'.", field="model")
        return JsonResponse(found)

    def _models(self) -> dict[str, dict[str, Any]]:
        principal = self.principal
        with self.team_scope():
            team = Team.objects.get(pk=principal.team_id)
            rows = Agent.objects.filter(team_id=principal.team_id).order_by("slug")
            if principal.agent_id:
                rows = rows.filter(pk=principal.agent_id)
            agents = list(rows.values_list("slug", "created_at"))
        embedder = served_embedder()
        encoders = [] if embedder is None else [(embedder.name, team.created_at, "palimpsest")]
        named = [
            (name, created_at, team.slug)
            for slug, created_at in agents
            for name in (slug, *(f"{slug}/{tier}" for tier in (AUTO, *Tier)))
        ]
        return {
            name: {
                "id": name,
                "object": "model",
                "created": int(created_at.timestamp()),
                "owned_by": owner,
            }
            for name, created_at, owner in [*named, *encoders]
        }


def _kept_under(claimed: ClaimedRequest, events: EventStream) -> Callable[[], None]:
    """Keep a whole answer under the request's key; what broke off may be sent again as new."""

    def keep() -> None:
        replay = events.replay
        if replay is None:
            release_request(claimed=claimed)
        else:
            finish_request(claimed=claimed, answer=Answer(200, EVENT_STREAM, replay))

    return keep


urlpatterns = [
    path("chat/completions", ChatViewSet.as_view({"post": "create"})),
    path("embeddings", EmbeddingViewSet.as_view({"post": "create"})),
    path("responses", ResponsesViewSet.as_view({"post": "refuse"})),
    path("models", ModelViewSet.as_view({"get": "entries"})),
    path("models/<path:name>", ModelViewSet.as_view({"get": "load"})),
]
