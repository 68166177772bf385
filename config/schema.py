"""The OpenAPI document, made once in each process: that takes half a second."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any

from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

_lock = Lock()  # drf-spectacular cannot make two at a time
_RENDERERS = {"json": OpenApiJsonRenderer, "yaml": OpenApiYamlRenderer}


class SchemaView(SpectacularAPIView):
    """The document, as JSON or YAML; it is the same for all who ask."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        # Any: Django REST framework's own signature
        renderer = request.accepted_renderer
        with _lock:
            document = _document(renderer.format)
        return HttpResponse(document, content_type=renderer.media_type)


@cache
def _document(name: str) -> Any:  # Any: bytes or a text, by the renderer
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return _RENDERERS[name]().render(schema)
