"""Clients that ask a server for prompts at the same time."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.locomo_runs import Server


def concurrent_calls(
    *, port: int, token: str, bodies: Sequence[Mapping[str, object]], clients: int
) -> list[float]:
    """Milliseconds of each `POST /v1/retrieve`, sent by so many clients that never wait."""

    def client(mine: Sequence[Mapping[str, object]]) -> list[float]:
        server = Server(port)
        took = []
        for body in mine:
            started = time.perf_counter()
            server.call("POST", "/v1/retrieve", token=token, body=json.dumps(body))
            took.append(1000 * (time.perf_counter() - started))
        return took

    with ThreadPoolExecutor(clients) as pool:
        shares = [bodies[number::clients] for number in range(clients)]
        return [value for values in pool.map(client, shares) for value in values]
