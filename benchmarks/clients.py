"""What does the Python client cost over plain requests of httpx?

    PYTHONPATH=clients/python python -m benchmarks.clients --url http://127.0.0.1:8000 --key pal_…

Each of four requests is sent to a running server in four ways in turns: plain httpx and the client,
waiting and asynchronous. Plain httpx encodes what is sent and decodes what is answered as JSON.
Prints the median milliseconds by the clock and the mean of this process's processor time, and the
client's share of each over the plain way (1.00 is none). The memories stay: use a team of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import mean, median
from typing import Any
from uuid import uuid4

import httpx
from palimpsest_client import AsyncPalimpsest, Palimpsest
from palimpsest_client.params import NewMemory

_AGENT = "kyra"
_QUESTION = {"agent": _AGENT, "query": "Which parcel is on the third shelf?"}
_MEMORIES = 200
# Any: a client of either kind, and whatever it answers
Ask = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """A request with plain httpx and with the client."""

    plain: Ask
    ours: Ask


@dataclass(slots=True)
class Took:
    """Milliseconds of each request, by the clock and of this process."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def add(self, clock: float, processor: float) -> None:
        """One more request, in seconds."""
        self.clock.append(1000 * clock)
        self.processor.append(1000 * processor)


def unchecked() -> NewMemory:
    """A memory that nothing is compared with."""
    return {"content": f"Parcel {uuid4()} is on a shelf.", "agent": _AGENT, "check": False}


def posted(path: str, body: Callable[[], object]) -> Ask:
    """A POST with a key for repetitions, as the client sends one."""
    return lambda http: http.post(path, json=body(), headers={"Idempotency-Key": str(uuid4())})


def operations(memory: str) -> dict[str, Operation]:
    """What is sent, by its name."""
    return {
        "create": Operation(
            posted("/v1/memories", unchecked), lambda c: c.memories.create(**unchecked())
        ),
        "retrieve": Operation(
            posted("/v1/retrieve", lambda: _QUESTION), lambda c: c.retrieve(**_QUESTION)
        ),
        "get": Operation(
            lambda http: http.get(f"/v1/memories/{memory}"), lambda c: c.memories.get(memory)
        ),
        "page of 50": Operation(
            lambda http: http.get("/v1/memories", params={"limit": 50}),
            lambda c: c.memories.list(limit=50).pages(),
        ),
    }


async def answer_of(asked: Any) -> None:  # Any: see Ask
    """Wait for the answer, of any way, and read it."""
    if isinstance(asked, Awaitable):
        asked = await asked
    if isinstance(asked, httpx.Response):
        asked.raise_for_status().json()
    elif hasattr(asked, "__anext__"):
        await anext(asked)
    elif hasattr(asked, "__next__"):
        next(asked)


async def run(*, url: str, key: str, rounds: int) -> None:
    """Measure and print everything."""
    identity: dict[str, Any] = {  # Any: settings of httpx
        "base_url": url,
        "headers": {"Authorization": f"Bearer {key}"},
        "timeout": 60,
    }
    with httpx.Client(**identity) as plain, Palimpsest(url, key) as ours:
        async with (
            httpx.AsyncClient(**identity) as plain_async,
            AsyncPalimpsest(url, key) as ours_async,
        ):
            written = ours.memories.create_many([unchecked() for _ in range(_MEMORIES)])
            print(f"{'':<12}{'':<10}{'clock, ms':>18}{'processor, ms':>22}")
            print(f"{'':<22}{'plain':>8}{'ours':>8}{'ratio':>7}{'plain':>8}{'ours':>8}{'ratio':>7}")
            for name, operation in operations(str(written[0].id)).items():
                pairs = {"waiting": (plain, ours), "async": (plain_async, ours_async)}
                for way, (http, client) in pairs.items():
                    took = await compared(operation, http, client, rounds=rounds)
                    print(f"{name:<12}{way:<10}{line_of(*took)}", flush=True)


async def compared(
    operation: Operation, http: Any, client: Any, *, rounds: int
) -> tuple[Took, Took]:  # Any: see Ask
    """Both ways in turns, each going first every other time; the first turns warm up."""
    ways = [(operation.plain, http, Took()), (operation.ours, client, Took())]
    for turn in range(-3, rounds):
        for act, asked, took in ways if turn % 2 else reversed(ways):
            began, busy = time.perf_counter(), time.process_time()
            await answer_of(act(asked))
            if turn >= 0:
                took.add(time.perf_counter() - began, time.process_time() - busy)
    return ways[0][2], ways[1][2]


def line_of(plain: Took, ours: Took) -> str:
    """Both and their ratio, by the clock and by processor time."""
    clock = median(plain.clock), median(ours.clock)
    processor = mean(plain.processor), mean(ours.processor)
    return "".join(
        f"{before:>8.2f}{after:>8.2f}{after / before:>7.2f}" for before, after in (clock, processor)
    )


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="the server's address")
    parser.add_argument("--key", required=True, help="a key of a team of its own")
    parser.add_argument("--rounds", type=int, default=100, help="requests of each kind and way")
    given = parser.parse_args()
    asyncio.run(run(url=given.url, key=given.key, rounds=given.rounds))


if __name__ == "__main__":
    main()
