"""The OpenAPI document, made once a server: it takes a second, and anybody may ask for it."""

from __future__ import annotations

import multiprocessing
import signal
from threading import Lock, Thread
from typing import Any

from django.http import HttpResponse
from django.utils.encoding import force_bytes
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

from config.shared_document import SCHEMA

_lock = Lock()  # drf-spectacular cannot make two at a time
_MOST_SECONDS = 60
_RENDERERS = {"json": OpenApiJsonRenderer, "yaml": OpenApiYamlRenderer}


class SchemaView(SpectacularAPIView):
    """The document, as JSON or YAML; it is the same for all who ask."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        # Any: Django REST framework's own signature
        renderer = request.accepted_renderer
        return HttpResponse(_document(renderer.format), content_type=renderer.media_type)


def make_ahead() -> None:
    """Make both formats in a process of its own, which holds nobody up; does not wait for it."""
    process = multiprocessing.get_context("fork").Process(target=_make_all, daemon=True)
    process.start()
    # Collects it when it has ended.
    Thread(target=process.join, name="schema", daemon=True).start()


def _make_all() -> None:
    # Those of gunicorn's process would keep it alive; and it ends, whatever it may wait for.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.alarm(_MOST_SECONDS)
    for name in _RENDERERS:
        _document(name)


def _document(name: str) -> bytes:
    """The document in format `json` or `yaml`; made where that has not been done."""
    with _lock:
        if not SCHEMA[name].get():
            generator = SchemaGenerator()  # type: ignore[no-untyped-call]
            schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
            SCHEMA[name].put(force_bytes(_RENDERERS[name]().render(schema)))
        return SCHEMA[name].get()
