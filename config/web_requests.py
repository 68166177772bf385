"""What is read of a request before the application sees it, and refusals that clients can read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakSet

from waitress.parser import HTTPRequestParser  # type: ignore[import-untyped]
from waitress.receiver import ChunkedReceiver  # type: ignore[import-untyped]
from waitress.utilities import (  # type: ignore[import-untyped]
    RequestEntityTooLarge,
    RequestHeaderFieldsTooLarge,
    ServerNotImplemented,
)

# Bytes of a request's first line (method, address and version), bytes of all its headers with it,
# and how many they may be.
MOST_BYTES = 8190
MOST_HEADER_BYTES = 64 * 1024
MOST_HEADERS = 100
# Bodies that one process holds at a time while they come, in largest bodies.
MOST_HELD_BODIES = 4
# Bytes of a body that are not counted among those held: there are too many small ones.
_SMALL_BODY = 64 * 1024
# Of a line between two chunks of a body, and of what may follow the last one.
_MOST_CHUNK_LINE = 4096


@dataclass(frozen=True, slots=True)
class Refusal:
    """A problem document (RFC 9457) in place of an answer; waitress writes it and hangs up."""

    code: int
    reason: str
    title: str
    detail: str

    def to_response(self, ident: object = None) -> tuple[str, list[tuple[str, str]], bytes]:
        """Status line, headers and body, as waitress asks its own errors for them."""
        document = {"type": "about:blank", "title": self.title, "status": self.code}
        headers = [("Content-Type", "application/problem+json")]
        if self.code == 503:
            headers.append(("Retry-After", "5"))
        body = json.dumps({**document, "detail": self.detail}).encode()
        return f"{self.code} {self.reason}", headers, body


_LONG_ADDRESS = Refusal(
    414,
    "URI Too Long",
    "Address too long",
    f"A request's first line, with its method and address, has room for {MOST_BYTES:,} bytes."
    " Ask long questions with POST: /v1/memory/query and /v1/retrieve take 8,000 characters.",
)
_LONG_HEADERS = Refusal(
    431,
    "Request Header Fields Too Large",
    "Headers too long",
    f"A request may have {MOST_HEADERS} headers of {MOST_HEADER_BYTES:,} bytes together. Send fewer"
    " or shorter ones; what is long belongs in the body.",
)
_NO_HTTP = Refusal(
    400,
    "Bad Request",
    "Not HTTP",
    "The first line, a header or a chunk of the request is not written as HTTP wants it. Send it"
    " with an HTTP client, with spaces and signs in its address percent-encoded.",
)
_UNKNOWN_CODING = Refusal(
    501,
    "Not Implemented",
    "Unknown coding",
    "The only Transfer-Encoding that is read is «chunked».",
)
_TOO_MUCH_AT_ONCE = Refusal(
    503,
    "Service Unavailable",
    "Service unavailable",
    "Too many large bodies are on their way here. Nothing was changed; try again shortly.",
)


class Request(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A request on its way in; what is too much, or is no HTTP, becomes a `Refusal` at once."""

    # Large bodies of this process that are on their way or being answered.
    _held: WeakSet[Request] = WeakSet()
    first_line = b""
    # For how many rounds it has been coming, how many bytes of it the last of them counted and what
    # credit is left of them; and how to close its connection.
    rounds, counted, credit = 0, 0, 0
    hang_up: Callable[[], Callable[[], None] | None] = staticmethod(lambda: None)

    def received(self, data: bytes) -> int:
        """Take what came of it, and return how many bytes of that belong to it."""
        taken: int = super().received(data)
        if refusal := self._refusal():
            self.error, self.completed = refusal, True
        if self.completed:
            # waitress would ask to continue what is refused, or has no body, and wait for it.
            self.expect_continue = False
        return taken

    def _refusal(self) -> Refusal | None:
        most = self.adj.max_request_body_size
        begun = self.header_plus.partition(b"\r\n")[0]
        if max(len(begun), len(self.first_line)) > MOST_BYTES:
            return _LONG_ADDRESS
        if len(self.headers) > MOST_HEADERS or isinstance(self.error, RequestHeaderFieldsTooLarge):
            return _LONG_HEADERS
        if isinstance(self.error, RequestEntityTooLarge):
            detail = f"A body may have {most - 1:,} bytes. Send less at a time."
            return Refusal(413, "Content Too Large", "Content too large", detail)
        if isinstance(self.error, ServerNotImplemented):
            return _UNKNOWN_CODING
        if self.error is not None or self._is_endless():
            return _NO_HTTP
        if self.body_bytes_received > _SMALL_BODY and not self.completed:
            self._held.add(self)
            if not self._has_room(MOST_HELD_BODIES * most):
                return _TOO_MUCH_AT_ONCE
        return None

    def _has_room(self, most: int) -> bool:
        """Whether the bodies held are within `most` bytes; those that take long make room."""
        while sum(each.body_bytes_received for each in self._held) > most:
            slow = [each for each in self._held if each.rounds > 1 and not each.completed]
            if not slow:
                return False
            slowest = max(slow, key=lambda each: each.rounds)
            self._held.discard(slowest)
            if (hang_up := slowest.hang_up()) is not None:
                hang_up()
            if slowest is self:
                return False
        return True

    def _is_endless(self) -> bool:
        """Whether more came between two chunks than anybody means; waitress would keep it all."""
        body = self.body_rcv
        return isinstance(body, ChunkedReceiver) and (
            max(len(body.control_line), len(body.trailer)) > _MOST_CHUNK_LINE
        )
