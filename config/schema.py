"""The OpenAPI document, made once a process: it takes seconds, and anybody may ask for it."""

from __future__ import annotations

from threading import Lock
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

_lock = Lock()  # drf-spectacular cannot make two at a time
_made: dict[str, bytes] = {}


class SchemaView(SpectacularAPIView):
    """The document, as JSON or YAML; it is the same for all who ask."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        # Any: Django REST framework's own signature
        renderer = request.accepted_renderer
        with _lock:
            if renderer.media_type not in _made:
                schema = super().get(request, *args, **kwargs).data  # type: ignore[no-untyped-call]
                made = renderer.render(schema, renderer.media_type, {})
                _made[renderer.media_type] = made.encode() if isinstance(made, str) else made
        return HttpResponse(_made[renderer.media_type], content_type=renderer.media_type)
