"""What do traces cost a read? The same questions to a server with them and to one without.

Run as ``python -m benchmarks.tracing``. It starts two servers in throwaway homes, as `make run`
does, the second with OTEL_EXPORTER_OTLP_ENDPOINT at a sink of its own; stores ``--memories`` of one
person in both and asks ``--questions`` different ones by `POST /v1/retrieve`, in turn. It prints
milliseconds of both, their ratio, and how many exports of spans came.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

from benchmarks.instance import everything, free_port, issue_keys
from benchmarks.texts import Texts

_BATCH = 500
_WARM = 20


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--questions", type=int, default=400)
    given = parser.parse_args()
    with sink() as (url, exports), ExitStack() as stack:
        settings = {"off": {}, "on": {"OTEL_EXPORTER_OTLP_ENDPOINT": url}}
        clients = {name: stack.enter_context(served(more)) for name, more in settings.items()}
        compare(clients, memories=given.memories, questions=given.questions)
    print(f"{len(exports)} exports")


@contextmanager
def served(more: dict[str, str]) -> Iterator[httpx.Client]:
    """A client of a new server with these settings."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PALIMPSEST_HOME": home, "PORT": str(free_port()), **more}
        with everything(environment):
            (key,) = issue_keys(environment, "traced")
            url = f"http://127.0.0.1:{environment['PORT']}"
            headers = {"Authorization": f"Bearer {key}"}
            with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
                yield client


def compare(clients: dict[str, httpx.Client], *, memories: int, questions: int) -> None:
    """Fill both teams alike and print what a question takes of each."""
    texts = Texts(seed=7)
    stated = [
        {"content": texts.statement(), "agent": "kyra", "user": "sarah"} for _ in range(memories)
    ]
    for client in clients.values():
        for start in range(0, memories, _BATCH):
            client.post("/v1/memories", json=stated[start : start + _BATCH]).raise_for_status()
    took: dict[str, list[float]] = {name: [] for name in clients}
    for number in range(_WARM + questions):
        body = {"agent": "kyra", "user": "sarah", "query": texts.statement()}
        # Each is asked first as often as second.
        for name in sorted(clients, reverse=bool(number % 2)):
            began = time.perf_counter()
            clients[name].post("/v1/retrieve", json=body).raise_for_status()
            if number >= _WARM:
                took[name].append(1000 * (time.perf_counter() - began))
    for name, each in took.items():
        p95 = statistics.quantiles(each, n=20)[-1]
        print(f"traces {name:3} median {statistics.median(each):6.2f} ms, p95 {p95:6.2f} ms")
    ratio = statistics.median(took["on"]) / statistics.median(took["off"])
    print(f"ratio of the medians {ratio:.2f}")


@contextmanager
def sink() -> Iterator[tuple[str, list[int]]]:
    """A collector that keeps nothing: its address, and the sizes of what came."""
    sizes: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sizes.append(len(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", sizes
    server.shutdown()


if __name__ == "__main__":
    main()
