"""How much slower is it to write many memories over HTTP than in process, and to list them?

Run as ``python -m benchmarks.ingest_http`` beside a running, migrated database, with the settings
that manage.py uses. A gunicorn of its own takes 500 unchecked memories a request; the same many
are written in process, in turns with it, so that what else the machine does takes from both.
Prints memories written a second each way, by the clock and by processor time (of this process,
the server, Redis and the database, where that is on this machine), the share that HTTP reaches,
then milliseconds for a page of 50 memories and kilobytes of a usual answer of `retrieve`. The
rows stay: use a database of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from benchmarks.ground import computed, new_team, scope_of, statements
from benchmarks.ingest import BULK, write
from benchmarks.reading_http import own_server
from benchmarks.texts import Texts
from memory.domain.viewer import Viewer
from memory.services.messages.posting import open_conversation
from memory.services.write.explicit import StatedMemory
from memory.understanding.tools import default_tools
from teams.services.keys import issue_key

_SENT = ("content", "importance", "user", "check")
_QUESTIONS = 10


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of the clock and of the processors."""

    clock: float
    processor: float


class Server:
    """A connection to the server that is kept, with a key of the team."""

    def __init__(self, port: int, viewer: Viewer) -> None:
        with scope_of(viewer):
            token = issue_key(team_id=viewer.team_id).token
        self._line = http.client.HTTPConnection("127.0.0.1", port)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: object = None) -> bytes:
        """The answer's body; RuntimeError for a refusal."""
        content = None if body is None else json.dumps(body)
        self._line.request(method, f"/v1/{path}", content, self._headers)
        answer = self._line.getresponse()
        found = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{answer.status}: {found[:300].decode(errors='replace')}")
        return found


def spent_on(act: Callable[[], object]) -> Spent:
    """What it took."""
    busy = sum(computed().values())
    began = time.perf_counter()
    act()
    took = time.perf_counter() - began
    return Spent(took, sum(computed().values()) - busy)


def as_sent(stated: Sequence[StatedMemory]) -> list[dict[str, object]]:
    """The memories as a caller of the API states them."""
    return [{name: asdict(each)[name] for name in _SENT} for each in stated]


def run(*, rounds: int, workers: int) -> None:
    """Measure and print everything."""
    tools, viewer = default_tools(), new_team("ingest-http")
    texts = Texts(random.randrange(2**32))
    with scope_of(viewer):
        open_conversation(team_id=viewer.team_id, agent="scribe", user="reader")
    with own_server(workers=workers) as port:
        server = Server(port, viewer)
        ways: dict[str, list[Spent]] = {"in process": [], "over HTTP": []}
        for turn in range(rounds + 1):
            direct = statements(texts, BULK)
            sent = as_sent(statements(texts, BULK))
            inside = spent_on(lambda stated=direct: write(viewer, stated, tools))  # type: ignore[misc]
            outside = spent_on(lambda body=sent: server.ask("POST", "memories", body))  # type: ignore[misc]
            if turn:  # The first one warms up.
                ways["in process"].append(inside)
                ways["over HTTP"].append(outside)
        print(f"unchecked, {BULK} at a time: memories/s by clock, by processor")
        for title, each in ways.items():
            by_clock = BULK / median(one.clock for one in each)
            by_processor = BULK / median(one.processor for one in each)
            print(f"{title:<12}{by_clock:>10,.0f}{by_processor:>10,.0f}")
        pairs = list(zip(ways["in process"], ways["over HTTP"], strict=True))
        by_clock = median(inside.clock / outside.clock for inside, outside in pairs)
        by_processor = median(inside.processor / outside.processor for inside, outside in pairs)
        print(f"{'HTTP reaches':<12}{by_clock:>10.0%}{by_processor:>10.0%}")

        pages = [spent_on(lambda: server.ask("GET", "memories?limit=50")) for _ in range(50)][10:]
        took = [1000 * each.clock for each in pages]
        busy = 1000 * median(each.processor for each in pages)
        print(f"page of 50, ms: {median(took):.1f}, least {min(took):.1f}, processor {busy:.1f}")
        questions = [each.content for each in statements(texts, _QUESTIONS)]
        sizes = [
            len(server.ask("POST", "retrieve", {"agent": "scribe", "query": text, **shape})) / 1000
            for shape in ({}, {"return": "full"})
            for text in questions
        ]
        brief, full = median(sizes[:_QUESTIONS]), median(sizes[_QUESTIONS:])
        most = max(sizes[:_QUESTIONS])
        print(f"retrieve, KB: {brief:.1f}, at most {most:.1f}; in full {full:.1f}")


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="of each way; the median counts")
    parser.add_argument("--workers", type=int, default=1, help="processes of the server")
    given = parser.parse_args()
    run(rounds=given.rounds, workers=given.workers)


if __name__ == "__main__":
    main()
