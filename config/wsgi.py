"""The WSGI entry point of the web processes."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

# Any: what WSGI hands from the server to the application.
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def with_length(application: Application) -> Application:
    """Wrap a WSGI application so that bodies with `Transfer-Encoding: chunked` get a length.

    One that is longer than Django accepts is read one byte beyond the limit, so that it is refused.
    """

    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH")
        if is_chunked and environ.get("wsgi.input_terminated"):
            body = environ["wsgi.input"].read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
            environ["wsgi.input"] = io.BytesIO(body)
            environ["CONTENT_LENGTH"] = str(len(body))
        return application(environ, start_response)

    return serve


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = with_length(get_wsgi_application())
