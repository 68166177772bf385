"""What does a request cost around what it asks for?

Run as ``python -m benchmarks.requests`` beside a running, migrated database and Redis, with the
settings that manage.py uses. One person has ``--memories`` memories; two processes answer, as with
`make run`. Prints, for one client and for ``--clients`` at once, milliseconds of a request (p50,
p95 and the least), requests a second and the processor's time that the server took for each: of an
address that does nothing, of the list of agents (which is authentication and one scope), of a
retrieval asked again, and of a retrieval that is new each time. The share of a new retrieval that
its own stats do not account for is what the way over HTTP costs. Its team stays, for nothing is
ever removed: use a database of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.chat import Ground, at, make_ground, processor_seconds
from benchmarks.locomo_runs import own_server

WARM_UP = 20
AGENT = "kyra"


class Line:
    """One open connection to the server, and what its retrievals say that they took."""

    def __init__(self, port: int, ground: Ground) -> None:
        self.inside: list[float] = []
        self._texts = ground.texts
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {
            "Authorization": f"Bearer {ground.token}",
            "Content-Type": "application/json",
        }

    def send(self, method: str, path: str, body: object = None) -> bytes:
        """The answer's body; raises RuntimeError for a refusal."""
        data = None if body is None else json.dumps(body).encode()
        self._connection.request(method, path, data, self._headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{response.status} {answer[:300]!r}")
        return answer

    def nothing(self) -> None:
        """Ask an address that does nothing."""
        self.send("GET", "/healthz")

    def agents(self) -> None:
        """Ask for the agents."""
        self.send("GET", "/v1/models")

    def again(self) -> None:
        """Ask what was asked before."""
        self._retrieve("What did she say about the plan?")

    def fresh(self) -> None:
        """Ask something new."""
        self._retrieve(self._texts.statement())

    def _retrieve(self, query: str) -> None:
        body = {"query": query, "agent": AGENT, "user": "sarah", "token_budget": 2000}
        stats = json.loads(self.send("POST", "/v1/retrieve", body))["stats"]
        self.inside.append(stats["total_ms"])


WAYS: dict[str, Callable[[Line], None]] = {
    "nothing": Line.nothing,
    "agents": Line.agents,
    "retrieve again": Line.again,
    "retrieve": Line.fresh,
}


def measure(*, port: int, ground: Ground, way: str, requests: int, clients: int) -> str:
    """One row of the table."""
    lines = [Line(port, ground) for _ in range(clients)]

    def client(line: Line) -> list[float]:
        took = []
        for _ in range(requests // clients):
            started = time.perf_counter()
            WAYS[way](line)
            took.append(1000 * (time.perf_counter() - started))
        return took

    for _ in range(WARM_UP):
        WAYS[way](lines[0])
    lines[0].inside.clear()
    before, started = processor_seconds(), time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        took = [each for mine in pool.map(client, lines) for each in mine]
    lasted = time.perf_counter() - started
    spent = 1000 * (processor_seconds() - before) / len(took)
    row = f"{way:16}{at(took, 50):8.1f}{at(took, 95):8.1f}{min(took):8.1f}"
    row += f"{len(took) / lasted:9.0f}{spent:12.1f}"
    inside = [each for line in lines for each in line.inside]
    return row + (f"{at(took, 50) - at(inside, 50):12.1f}" if inside else "")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.requests", description=__doc__)
    parser.add_argument("--requests", type=int, default=200, help="of each kind")
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--clients", type=int, default=8, help="that ask at once")
    options = parser.parse_args()
    ground = make_ground(options.memories)
    with own_server(workers=2) as server:
        body = {"content": "She likes tea.", "agent": AGENT, "user": "sarah"}
        Line(server.port, ground).send("POST", "/v1/memories", body)
        for clients in (1, options.clients):
            print(f"\n{clients} client{'s' if clients > 1 else ''}; ms but for requests a second")
            print(
                f"{'':16}{'p50':>8}{'p95':>8}{'least':>8}{'a second':>9}{'processor':>12}"
                f"{'around it':>12}"
            )
            for way in WAYS:
                row = measure(
                    port=server.port,
                    ground=ground,
                    way=way,
                    requests=options.requests,
                    clients=clients,
                )
                print(row, flush=True)


if __name__ == "__main__":
    main()
