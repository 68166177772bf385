"""How long `/healthz` takes while many sockets never finish what they began.

    python -m benchmarks.slow_clients --port 8000 --key pk_… --sockets 200 --seconds 20

With a key the bodies are those of a caller who is let in, so the server wants to read them. Each
kind of slow client is tried in turn against a running server; printed are the slowest answer, the
95th of 100 and how many did not come within ten seconds. Ends with status 1 if one took longer than
`--limit` milliseconds.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_PAUSE = 0.05


@dataclass
class Kind:
    """What one kind of client sends at first, and what it adds each second."""

    first: bytes
    then: Callable[[int], bytes] = field(default=lambda _: b"")


def kinds(key: str) -> dict[str, Kind]:
    """The kinds of slow clients by their names."""
    head = b"POST /v1/memories HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {key}\r\n".encode() if key else b""
    half = head + b'Content-Length: 900\r\n\r\n{"content": "'
    return {
        "nothing": Kind(b""),
        "half a header": Kind(head),
        "a header a second": Kind(head, lambda n: b"X-%d: 1\r\n" % n),
        "half a body": Kind(half),
        "a byte of the body a second": Kind(half, lambda _: b"x"),
        "half a chunked body": Kind(
            head + b'Transfer-Encoding: chunked\r\n\r\n400\r\n{"content": "'
        ),
        "a chunk's length without an end": Kind(
            head + b"Transfer-Encoding: chunked\r\n\r\n400;a=" + b"x" * 1_000_000
        ),
        "half a large body": Kind(head + b"Content-Length: 30000000\r\n\r\n" + b" " * 15_000_000),
        "requests whose answers nobody reads": Kind(
            b"GET /v1/schema HTTP/1.1\r\nHost: test\r\n\r\n" * 20
        ),
    }


def ask(port: int) -> float:
    """Seconds until `/healthz` has answered on a connection of its own; inf for no answer."""
    began = time.perf_counter()
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        line.request("GET", "/healthz")
        line.getresponse().read()
    except OSError:
        return float("inf")
    finally:
        line.close()
    return time.perf_counter() - began


def measure(kind: Kind, *, port: int, sockets: int, seconds: float) -> list[float]:
    """Seconds of each answer while so many clients of the kind are connected."""
    return sorted(ask(port) for _ in held(kind, port=port, sockets=sockets, seconds=seconds))


def held(kind: Kind, *, port: int, sockets: int, seconds: float) -> Iterator[None]:
    """Pauses of a moment, while so many clients of the kind are connected."""
    lines = [socket.create_connection(("127.0.0.1", port), 10.0) for _ in range(sockets)]
    for each in lines:
        each.settimeout(0.01)
        _send(each, kind.first)
    began, added = time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        yield
        if passed > added + 1:
            added += 1
            for each in lines:
                _send(each, kind.then(added))
        time.sleep(_PAUSE)
    for each in lines:
        each.close()


def _send(line: socket.socket, what: bytes) -> None:
    try:
        line.sendall(what)
    except OSError:  # the server has given it up, or does not read any more
        return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--sockets", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each kind of client")
    parser.add_argument("--limit", type=float, default=100.0, help="milliseconds")
    parser.add_argument("--key", default="", help="an API key of the server")
    given = parser.parse_args()
    worst = 0.0
    for name, kind in {"no slow client": Kind(b""), **kinds(given.key)}.items():
        sockets = 0 if name == "no slow client" else given.sockets
        taken = measure(kind, port=given.port, sockets=sockets, seconds=given.seconds)
        lost = taken.count(float("inf"))
        p95 = taken[int(len(taken) * 0.95)]
        worst = max(worst, taken[-1])
        print(
            f"{name:38} {len(taken):4} answers, p95 {p95 * 1000:8.1f} ms,"
            f" slowest {taken[-1] * 1000:8.1f} ms, {lost} without an answer",
            flush=True,
        )
        time.sleep(1)
    return int(worst * 1000 > given.limit)


if __name__ == "__main__":
    sys.exit(main())
