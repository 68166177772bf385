"""Refusals of requests that never reach the application, as problem documents."""

from __future__ import annotations

import json

from gunicorn.http.errors import (  # type: ignore[import-untyped]
    InvalidHeader,
    InvalidHeaderName,
    InvalidHTTPVersion,
    InvalidRequestLine,
    InvalidRequestMethod,
    LimitRequestHeaders,
    LimitRequestLine,
)

from config.receiving import (
    MOST_HEAD,
    BodyTooLargeError,
    HeadTooLargeError,
    LineTooLongError,
    NotHttpError,
)

# The status and its reason, the title, and what to do.
Refusal = tuple[tuple[int, str], str, str]

# The most that gunicorn reads of a request's first line (method, address and version), of a header
# and of headers.
MOST_BYTES = 8190
MOST_HEADER_BYTES = 8190
MOST_HEADERS = 100
NO_TIME = (
    (408, "Request Timeout"),
    "Request too slow",
    "The request did not arrive in time. Send it again, as fast as the line allows.",
)
NO_ROOM = (
    (503, "Service Unavailable"),
    "Too many unfinished requests",
    "Too many unfinished requests wait for their rest; this one had to go. Try again shortly.",
)
TOO_MANY = (
    (429, "Too Many Requests"),
    "Too many requests",
    "Too many requests of this caller wait for their turn already. Send fewer at a time.",
)
_NOT_HTTP = (
    (400, "Bad Request"),
    "Not HTTP",
    "The first line or a header of the request is not written as HTTP wants it. Send it"
    " with an HTTP client, with spaces and signs in its address percent-encoded.",
)
_LONG_LINE = (
    (414, "URI Too Long"),
    "Address too long",
    f"A request's first line, with its method and address, has room for {MOST_BYTES:,} bytes."
    " Ask long questions with POST: /v1/memory/query and /v1/retrieve take 8,000 characters.",
)
# By what was wrong: the status and its reason, the title and what to do.
REFUSALS: dict[type[BaseException], Refusal] = {
    **dict.fromkeys((LimitRequestLine, LineTooLongError), _LONG_LINE),
    LimitRequestHeaders: (
        (431, "Request Header Fields Too Large"),
        "Headers too long",
        f"A request may have {MOST_HEADERS} headers of {MOST_HEADER_BYTES:,} bytes each. Send fewer"
        " or shorter ones; what is long belongs in the body.",
    ),
    HeadTooLargeError: (
        (431, "Request Header Fields Too Large"),
        "Headers too long",
        f"A request's first line and headers may have {MOST_HEAD:,} bytes together.",
    ),
    BodyTooLargeError: (
        (413, "Content Too Large"),
        "Content too large",
        "The body is larger than what any endpoint takes. Send less at a time.",
    ),
    **dict.fromkeys(
        (
            InvalidHeader,
            InvalidHeaderName,
            InvalidHTTPVersion,
            InvalidRequestLine,
            InvalidRequestMethod,
            NotHttpError,
        ),
        _NOT_HTTP,
    ),
}
# After these the same request may be sent again.
_MOMENTARY = frozenset({408, 429, 503})


def written(refusal: Refusal) -> bytes:
    """The refusal as an HTTP answer, after which the connection ends."""
    (status, reason), title, detail = refusal
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    body = json.dumps(document).encode()
    again = "Retry-After: 1\r\n" if status in _MOMENTARY else ""
    head = (
        f"HTTP/1.1 {status} {reason}\r\n{again}"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
