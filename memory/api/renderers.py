"""Media types of streams, which a caller may ask for and which the views write themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import BaseRenderer, JSONRenderer

EVENT_STREAM = "text/event-stream"
JSON_LINES = "application/x-ndjson"


class _StreamRenderer(BaseRenderer):
    """Lets a caller ask for the media type of a stream; what is no stream is JSON all the same."""

    def render(
        self,
        data: Any,  # Any: Django REST framework's own signature
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The data as JSON."""
        return bytes(JSONRenderer().render(data))


class EventStreamRenderer(_StreamRenderer):
    """Server-sent events."""

    media_type = EVENT_STREAM
    format = "sse"


class JsonLinesRenderer(_StreamRenderer):
    """JSON Lines."""

    media_type = JSON_LINES
    format = "jsonl"
