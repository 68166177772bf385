"""Bodies that come in pieces without saying how long they are."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings

# Any: what WSGI hands from the server to the application.
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def with_length(application: Application) -> Application:
    """The application, with every body at the length that it has: Django takes none for empty.

    One that is longer than Django takes is cut behind that, so that it is refused for its length.
    """

    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        is_in_pieces = "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH")
        if is_in_pieces and environ.get("wsgi.input_terminated"):
            body = environ["wsgi.input"].read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
            environ["wsgi.input"] = io.BytesIO(body)
            environ["CONTENT_LENGTH"] = str(len(body))
        return application(environ, start_response)

    return serve
