"""What does an MCP `search_memories` cost over the same search by REST?

Run as ``python -m benchmarks.mcp_overhead``. It starts everything in a throwaway home, as `make
run` does, stores ``--memories`` of one person and asks ``--searches`` different questions, in turn
by `GET /v1/memories/search`, by `POST /mcp`, each on one kept connection, and by `palimpsest-mcp`,
one program for all. It prints milliseconds of each, with their ratios to REST, and those of MCP's
`ping`, which asks nothing of the API.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import httpx2

from benchmarks.instance import everything, free_port, issue_keys
from benchmarks.texts import Texts

_LIMIT = 10
_BATCH = 500


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--searches", type=int, default=400)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PALIMPSEST_HOME": home, "PORT": str(free_port())}
        with everything(environment):
            (key,) = issue_keys(environment, "mcp")
            url = f"http://127.0.0.1:{environment['PORT']}"
            headers = {"Authorization": f"Bearer {key}", "Accept": "application/json"}
            with (
                httpx2.Client(base_url=url, headers=headers, timeout=60) as client,
                Program(url, key) as program,
            ):
                compare(client, program, memories=given.memories, searches=given.searches)


class Program:
    """`palimpsest-mcp`, as an editor speaks with it: a line for each message."""

    def __init__(self, url: str, key: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "palimpsest_client.mcp"],
            env={
                **os.environ,
                "PALIMPSEST_URL": url,
                "PALIMPSEST_API_KEY": key,
                "PYTHONPATH": "clients/python",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        client = {"name": "benchmark", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.ask("initialize", hello)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> Any:  # Any: JSON
        """The result of a message."""
        self._send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return json.loads(self._from.readline())["result"]

    def _send(self, message: dict[str, Any]) -> None:
        self._to.write(json.dumps(message) + "\n")
        self._to.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._to.close()
        self._process.wait(timeout=30)


def compare(client: httpx2.Client, program: Program, *, memories: int, searches: int) -> None:
    """Fill the team and print what each way to ask takes."""
    texts = Texts(seed=7)
    stated = [{"content": texts.statement(), "user": "sarah"} for _ in range(memories)]
    for start in range(0, memories, _BATCH):
        client.post("/v1/memories", json=stated[start : start + _BATCH]).raise_for_status()
    questions = [texts.statement() for _ in range(3 * searches)]
    ways: dict[str, Callable[[str], Any]] = {
        "REST search": lambda question: _searched(client, question),
        "MCP search_memories": lambda question: _called(partial(_message, client), question),
        "the same over stdio": lambda question: _called(program.ask, question),
    }
    took: dict[str, list[float]] = {name: [] for name in (*ways, "MCP ping")}
    for ask in ways.values():
        ask("warm up")
    for number, question in enumerate(questions):
        # Each question is asked once, as an answer is kept; the ways take turns.
        name = list(ways)[number % len(ways)]
        took[name].append(_milliseconds(partial(ways[name], question)))
        took["MCP ping"].append(_milliseconds(partial(_message, client, "ping", {})))
    for name, each in took.items():
        print(f"{name:20} median {statistics.median(each):6.2f} ms, p95 {_p95(each):6.2f} ms")
    rest, *others = (statistics.median(took[name]) for name in ways)
    for name, median in zip(list(ways)[1:], others, strict=True):
        print(f"{name} over REST: ratio {median / rest:.2f}, difference {median - rest:.2f} ms")


def _searched(client: httpx2.Client, question: str) -> Any:  # Any: JSON
    query: dict[str, str | int] = {"query": question, "user": "sarah", "limit": _LIMIT}
    return client.get("/v1/memories/search", params=query).raise_for_status().json()["results"]


def _called(message: Callable[[str, dict[str, Any]], Any], question: str) -> Any:  # Any: JSON
    arguments = {"query": question, "user_id": "sarah", "limit": _LIMIT}
    result = message("tools/call", {"name": "search_memories", "arguments": arguments})
    if result["isError"]:
        raise RuntimeError(json.dumps(result["content"]))
    return result["structuredContent"]["results"]


def _message(client: httpx2.Client, method: str, params: dict[str, Any]) -> Any:  # Any: JSON
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return client.post("/mcp", json=body).raise_for_status().json()["result"]


def _milliseconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - began)


def _p95(took: Sequence[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


if __name__ == "__main__":
    main()
