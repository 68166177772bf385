"""The process that answers: gunicorn's threads, with a refusal that clients of the API can read."""

import json
import socket
from typing import Any

from gunicorn.http.errors import (  # type: ignore[import-untyped]
    InvalidHeader,
    InvalidHeaderName,
    InvalidHTTPVersion,
    InvalidRequestLine,
    InvalidRequestMethod,
    LimitRequestHeaders,
    LimitRequestLine,
)
from gunicorn.util import write  # type: ignore[import-untyped]

from config.balanced_worker import BalancedWorker

# The most that gunicorn reads of a request's first line (method, address and version), of a header
# and of headers.
MOST_BYTES = 8190
MOST_HEADER_BYTES = 8190
MOST_HEADERS = 100
# By what was wrong: the status and its reason, the title and what to do.
_REFUSALS = {
    LimitRequestLine: (
        (414, "URI Too Long"),
        "Address too long",
        f"A request's first line, with its method and address, has room for {MOST_BYTES:,} bytes."
        " Ask long questions with POST: /v1/memory/query and /v1/retrieve take 8,000 characters.",
    ),
    LimitRequestHeaders: (
        (431, "Request Header Fields Too Large"),
        "Headers too long",
        f"A request may have {MOST_HEADERS} headers of {MOST_HEADER_BYTES:,} bytes each. Send fewer"
        " or shorter ones; what is long belongs in the body.",
    ),
    **dict.fromkeys(
        (
            InvalidHeader,
            InvalidHeaderName,
            InvalidHTTPVersion,
            InvalidRequestLine,
            InvalidRequestMethod,
        ),
        (
            (400, "Bad Request"),
            "Not HTTP",
            "The first line or a header of the request is not written as HTTP wants it. Send it"
            " with an HTTP client, with spaces and signs in its address percent-encoded.",
        ),
    ),
}


class WebWorker(BalancedWorker):
    """Refuses what it cannot read with a problem document, as the API refuses anything."""

    def handle_error(
        self, req: object, client: socket.socket, addr: Any, exc: BaseException
    ) -> None:  # Any: gunicorn's own signature
        """Answer a request that could not be read."""
        refusal = _REFUSALS.get(type(exc))
        if refusal is None:
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("A request was refused: %s.", exc)
        try:
            write(client, _written(*refusal))
        except OSError:
            self.log.debug("Nobody waited for the refusal of a request.")


def _written(status: tuple[int, str], title: str, detail: str) -> bytes:
    document = {"type": "about:blank", "title": title, "status": status[0], "detail": detail}
    body = json.dumps(document).encode()
    head = (
        f"HTTP/1.1 {status[0]} {status[1]}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
