"""Media types that a caller may ask for and that are written elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import BaseRenderer, JSONRenderer


class StreamRenderer(BaseRenderer):
    """Lets a caller ask for the media type of a stream; what is no stream is JSON all the same."""

    def render(
        self,
        data: Any,  # Any: Django REST framework's own signature
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The data as JSON."""
        return bytes(JSONRenderer().render(data))
