"""A request as it arrives: collected without waiting, until a thread can serve it at once."""

from __future__ import annotations

import errno
import re
import socket
import time
from collections.abc import Callable

from gunicorn.http.unreader import SocketUnreader  # type: ignore[import-untyped]

# Bytes of the first line and the headers together; each is bounded by itself when it is read.
MOST_HEAD = 64 * 1024
# Seconds for the first line and headers; for the body as many more, and one for so many bytes.
HEAD_SECONDS = 10.0
BODY_SECONDS = 20.0
BYTES_A_SECOND = 50_000
_LONGEST_LINE = 4096
# Chunks may be smaller than this on average only in the first of them.
_SMALLEST_CHUNK = 64
_FREE_CHUNKS = 1_000
_LENGTH = re.compile(rb"\d{1,18}")
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")
_END = b"\r\n\r\n"


class HeadTooLargeError(Exception):
    """The first line and the headers are more than is read."""


class LineTooLongError(Exception):
    """The first line is more than is read."""


class BodyTooLargeError(Exception):
    """The body is more than any endpoint reads."""


class NotHttpError(Exception):
    """A chunk of the body is not written as HTTP wants it, or they are too many."""


class Incoming:
    """What has arrived of one request; a body in chunks is put together and gets a length.

    `most_body` bytes are the largest body. `proceed` is called when the client wants to be told
    that it may send the body.
    """

    def __init__(self, *, most_body: int, now: float, proceed: Callable[[], object]) -> None:
        self.head = b""
        self._data = bytearray()
        self._most_body = most_body
        self._proceed = proceed
        self._began = now
        self._searched = 0
        self._missing = 0
        self._body: bytearray | None = None  # of chunks
        self._chunks = 0
        self._in_trailers = False
        self._is_whole = False

    def __len__(self) -> int:
        return len(self._data) + len(self._body or b"")

    @property
    def deadline(self) -> float:
        """When the rest must be there, on the clock of `now`."""
        if not self.head:
            return self._began + HEAD_SECONDS
        return self._began + HEAD_SECONDS + BODY_SECONDS + len(self) / BYTES_A_SECOND

    def add(self, came: bytes) -> bool:
        """Take further bytes; True once the request is whole, or as far as it can be refused.

        Raises LineTooLongError, HeadTooLargeError, BodyTooLargeError and NotHttpError.
        """
        self._data += came
        if not self.head and not self._read_head():
            return False
        if self._body is not None and not self._is_whole:
            self._read_chunks()
        return self._is_whole or (self._body is None and len(self._data) >= self._missing)

    def taken(self) -> bytes:
        """The request and what follows it, as one would read it without chunks."""
        if self._body is None:
            return self.head + bytes(self._data)
        length = b"Content-Length: %d\r\n\r\n" % len(self._body)
        return self.head[:-2] + length + bytes(self._body) + bytes(self._data)

    def header(self, name: bytes) -> bytes | None:
        """The value of a header, named in lower case; None where it is missing or the first of
        several."""
        values = self._values(name)
        return values[0] if values else None

    def _values(self, name: bytes) -> list[bytes]:
        pairs = (line.partition(b":") for line in self.head.split(b"\r\n")[1:])
        return [value.strip() for key, _, value in pairs if key.strip().lower() == name]

    def _read_head(self) -> bool:
        end = self._data.find(_END, max(0, self._searched - len(_END)), MOST_HEAD)
        self._searched = len(self._data)
        if end < 0:
            if self._searched >= MOST_HEAD:
                raise HeadTooLargeError if b"\r\n" in self._data else LineTooLongError
            return False
        end += len(_END)
        self.head = bytes(self._data[:end])
        del self._data[:end]
        lengths, codings = self._values(b"content-length"), self._values(b"transfer-encoding")
        if codings and not lengths and codings[-1].lower() == b"chunked":
            self._body = bytearray()
            self._leave_out(b"transfer-encoding")
        elif len(lengths) == 1 and not codings and _LENGTH.fullmatch(lengths[0]):
            self._missing = int(lengths[0])
            if self._missing > self._most_body:
                raise BodyTooLargeError
        # Anything else has no body, or is refused when it is read.
        if (self.header(b"expect") or b"").lower() == b"100-continue":
            self._leave_out(b"expect")
            if self._body is not None or len(self._data) < self._missing:
                self._proceed()
        return True

    def _leave_out(self, name: bytes) -> None:
        lines = self.head.split(b"\r\n")
        self.head = b"\r\n".join(
            line for line in lines if line.partition(b":")[0].strip().lower() != name
        )

    def _read_chunks(self) -> None:
        assert self._body is not None
        data, at = self._data, 0
        while not self._is_whole:
            end = data.find(b"\r\n", at, at + _LONGEST_LINE)
            if end < 0:
                if len(data) - at >= _LONGEST_LINE:
                    raise NotHttpError
                break
            if self._in_trailers:
                # Nothing reads what stands behind the body.
                self._is_whole = end == at
                at = end + 2
                continue
            size = _SIZE.fullmatch(data[at:end].split(b";")[0].strip())
            if size is None:
                raise NotHttpError
            count = int(size[0], 16)
            if len(self._body) + count > self._most_body:
                raise BodyTooLargeError
            if count and len(data) < end + 2 + count + 2:
                break
            if count:
                self._body += data[end + 2 : end + 2 + count]
                self._chunks += 1
                if self._chunks > _FREE_CHUNKS + len(self._body) // _SMALLEST_CHUNK:
                    raise NotHttpError
                if data[end + 2 + count : end + 4 + count] != b"\r\n":
                    raise NotHttpError
            self._in_trailers = count == 0
            at = end + 2 + (count + 2 if count else 0)
        del data[:at]


class Arrived(SocketUnreader):  # type: ignore[misc]  # gunicorn has no types
    """Gives gunicorn's parser what has arrived, and never waits for the socket."""

    def __init__(self, line: socket.socket, data: bytes) -> None:
        super().__init__(line)
        self.size = len(data)
        self._rest = memoryview(data)

    def chunk(self, size_hint: int | None = None) -> bytes:
        """The next piece; empty when all is read, as if the client had closed the connection."""
        size = max(self.mxchunk, min(size_hint or 0, self.max_body_chunk))
        piece, self._rest = self._rest[:size], self._rest[size:]
        return bytes(piece)

    def has_left(self) -> bool:
        """Whether a further request has begun to arrive."""
        return bool(self._rest) or bool(self.buf.getvalue())

    def left(self) -> bytes:
        """What nobody has read: the beginning of the next request."""
        rest, self._rest = bytes(self._rest), memoryview(b"")
        return bytes(self.take_buffered()) + rest


class Line(socket.socket):
    """A client's connection; what a client does not read waits in memory, not in a thread."""

    # Bytes that wait; a longer answer is written no faster than it is read.
    MOST_UNSENT = 4 * 1024 * 1024
    STALLED_SECONDS = 10.0

    def __init__(self, *, fileno: int) -> None:
        super().__init__(fileno=fileno)
        self.unsent = bytearray()

    def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]
        """Send as much as goes at once and keep the rest; raises OSError of a broken connection.

        A client that has stopped to read a long answer counts as one.
        """
        self.unsent += data
        self.flush()
        stalled_at = time.monotonic() + self.STALLED_SECONDS
        while len(self.unsent) > self.MOST_UNSENT:
            if time.monotonic() > stalled_at:
                raise ConnectionResetError(errno.ECONNRESET, "the client does not read its answer")
            time.sleep(0.02)
            if self.flush():
                stalled_at = time.monotonic() + self.STALLED_SECONDS

    def flush(self) -> bool:
        """Send what the client takes now; whether it took anything."""
        sent = 0
        with memoryview(self.unsent) as view:
            while sent < len(view):
                try:
                    sent += self.send(view[sent:], socket.MSG_DONTWAIT)
                except BlockingIOError:
                    break
        del self.unsent[:sent]
        return sent > 0
