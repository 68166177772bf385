"""The base of the protocol's endpoints, and those that are not served."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from memory.api.base import ApiViewSet
from memory.satellites.chat.chat_answers import with_protocol_error
from memory.satellites.chat.requests import ChatCompletionSerializer
from teams.errors import NotFoundError

EVENT_STREAM = "text/event-stream"


class EventStreamRenderer(JSONRenderer):
    """Lets a caller ask for server-sent events, which the view writes itself; refusals are JSON."""

    media_type = EVENT_STREAM
    format = "sse"


class ProtocolViewSet(ApiViewSet):
    """Endpoints of the chat protocol, whose refusals its clients can read."""

    renderer_classes = (JSONRenderer, EventStreamRenderer)
    serializer_class: Any = ChatCompletionSerializer  # Any: a serializer class

    def handle_exception(self, exc: Exception) -> Any:  # Any: a response of either framework
        """The refusal as a problem document and as the protocol has it."""
        response = super().handle_exception(exc)
        if isinstance(response, HttpResponse) and response.status_code >= 400:
            return with_protocol_error(response, exc)
        return response


class ResponsesViewSet(ProtocolViewSet):
    """The Responses API, which is refused by name."""

    @extend_schema(exclude=True)
    def refuse(self, request: Request) -> HttpResponse:
        """Raises NotFoundError that says what to use in its place."""
        raise NotFoundError(
            "The Responses API is not served here. Use Chat Completions, POST /v1/chat/completions:"
            " client.chat.completions.create(…) of openai, OpenAIChatCompletionsModel of the OpenAI"
            " Agents SDK, use_responses_api=False of LangChain, openai.chat(…) of Vercel's AI SDK."
        )
