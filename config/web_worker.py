"""The process that answers: gunicorn's threads, with a refusal that clients of the API can read."""

import json
import socket
from typing import Any

from gunicorn.http.errors import LimitRequestLine  # type: ignore[import-untyped]
from gunicorn.util import write  # type: ignore[import-untyped]

from config.even_worker import EvenWorker

# The most that gunicorn reads of a request's first line: method, address and version.
MOST_BYTES = 8190


class WebWorker(EvenWorker):
    """Refuses an address that is too long with a problem document, as the API refuses anything."""

    def handle_error(
        self, req: object, client: socket.socket, addr: Any, exc: BaseException
    ) -> None:  # Any: gunicorn's own signature
        """Answer a request that could not be read."""
        if not isinstance(exc, LimitRequestLine):
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("An address was refused: %s.", exc)
        try:
            write(client, _refusal())
        except OSError:
            self.log.debug("Nobody waited for the refusal of an address.")


def _refusal() -> bytes:
    document = {
        "type": "about:blank",
        "title": "Address too long",
        "status": 414,
        "detail": f"A request's first line has room for {MOST_BYTES} bytes. Ask long questions with"
        " POST: /v1/memory/query and /v1/retrieve take 8,000 characters.",
    }
    body = json.dumps(document).encode()
    head = (
        "HTTP/1.1 414 URI Too Long\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
