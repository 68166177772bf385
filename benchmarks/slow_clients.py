"""How long `/healthz` takes while many sockets never finish what they began.

    python -m benchmarks.slow_clients --port 8000 --sockets 200 --seconds 20

Each kind of slow client is tried in turn against a running server; printed are the slowest answer,
the 95th of 100 and how many did not come within ten seconds. Ends with status 1 if one took longer
than `--limit` milliseconds.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_HEAD = b"POST /v1/memories HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
_PAUSE = 0.05


@dataclass
class Kind:
    """What one kind of client sends at first, and what it adds each second."""

    first: bytes
    then: Callable[[int], bytes] = field(default=lambda _: b"")


KINDS = {
    "nothing": Kind(b""),
    "half a header": Kind(_HEAD),
    "a header a second": Kind(_HEAD, lambda n: b"X-%d: 1\r\n" % n),
    "half a body": Kind(_HEAD + b'Content-Length: 900\r\n\r\n{"content": "'),
    "a byte of the body a second": Kind(
        _HEAD + b'Content-Length: 900\r\n\r\n{"content": "', lambda _: b"x"
    ),
    "half a chunked body": Kind(_HEAD + b'Transfer-Encoding: chunked\r\n\r\n400\r\n{"content": "'),
    "half a large body": Kind(_HEAD + b"Content-Length: 30000000\r\n\r\n" + b" " * 100_000),
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
    lines = [socket.create_connection(("127.0.0.1", port)) for _ in range(sockets)]
    for each in lines:
        each.settimeout(0.01)
        _send(each, kind.first)
    taken, began, added = [], time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        taken.append(ask(port))
        if passed > added + 1:
            added += 1
            for each in lines:
                _send(each, kind.then(added))
        time.sleep(_PAUSE)
    for each in lines:
        each.close()
    return sorted(taken)


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
    given = parser.parse_args()
    worst = 0.0
    for name, kind in {"no slow client": Kind(b""), **KINDS}.items():
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
