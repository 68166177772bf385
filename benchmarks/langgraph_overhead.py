"""What do LangGraph's saver and store cost over plain requests of httpx?

    PYTHONPATH=clients/python python -m benchmarks.langgraph_overhead --key pal_…

Each operation is carried out by the saver or the store and by plain httpx, waiting and
asynchronous, in turns, with the same bodies on a running server. A state is a list of messages of
`--kilobytes`, one of which is new in each step. Prints the median milliseconds by the clock and
the mean of this process's processor time with their ratios (1.00 is no overhead), and how many
bytes base64 adds to a state. What is written stays: use a team of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping
from itertools import count
from typing import Any
from uuid import uuid4

import httpx
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from palimpsest_client.langgraph import PalimpsestSaver, PalimpsestStore

from benchmarks.clients import Operation, compared, line_of

_STEPS = count(1)
_QUESTION = "Which parcel is on the third shelf?"


def state(kilobytes: int) -> Checkpoint:
    """A state whose messages have so many kilobytes, as the next step of a graph saves it."""
    step = next(_STEPS)
    messages = [{"role": "user", "content": f"{each} " * 200} for each in range(kilobytes)]
    made = empty_checkpoint()
    made["channel_values"] = {"messages": messages, "step": step}
    made["channel_versions"] = {"messages": f"{step:032}.0", "step": f"{step:032}.0"}
    return made


class Ways:
    """The operations by their names; `ours` are those of a saver and a store."""

    def __init__(self, saver: PalimpsestSaver, store: PalimpsestStore, kilobytes: int) -> None:
        self.saver, self.store, self.kilobytes = saver, store, kilobytes
        self.thread = f"thread-{uuid4()}"
        self.config: RunnableConfig = {
            "configurable": {"thread_id": self.thread, "checkpoint_ns": ""}
        }
        made = state(kilobytes)
        saved = saver.put(self.config, made, {}, made["channel_versions"])
        self.saved: RunnableConfig = saved

    def operations(self, prefix: str) -> Mapping[str, Operation]:
        """Those that are called, or with the prefix "a" awaited."""
        saver, store = self.saver, self.store

        def method(owner: object, name: str) -> Any:  # Any: a method
            return getattr(owner, f"{prefix}{name}")

        def put(_: object) -> Any:  # Any: see Operation
            made = state(self.kilobytes)
            return method(saver, "put")(self.config, made, {}, made["channel_versions"])

        def put_plain(http: Any) -> Any:  # Any: as above
            made = state(self.kilobytes)
            body = saver._state(self.config, made, {}, made["channel_versions"])
            path = f"/v1/threads/{self.thread}/checkpoints/{made['id']}"
            return http.put(path, json=body)

        writes = [("messages", {"role": "user", "content": "x" * 200})]
        written = f"/v1/threads/{self.thread}/checkpoints"
        latest = {"thread_id": self.thread, "namespace": "", "limit": 1}
        where = ("bench", self.thread)
        place = {"namespace": where, "key": "k"}
        search = {"namespace": where, "query": _QUESTION}

        def write_plain(http: Any) -> Any:  # Any: as above
            body = saver._written(self.saved, writes, str(uuid4()), "")
            number = self.saved["configurable"]["checkpoint_id"]
            return http.post(f"{written}/{number}/writes", json=body, headers=_key())

        def item(number: str) -> dict[str, str]:
            return {"text": f"Parcel {number} is on a shelf."}

        def keep_plain(http: Any) -> Any:  # Any: as above
            value = item(str(uuid4()))
            body = {"items": [{**place, "value": value, "text": f"text: {value['text']}"}]}
            return http.post("/v1/items", json=body, headers=_key())

        def ask_plain(body: object) -> Any:  # Any: as above
            return lambda http: http.post("/v1/items/query", json=body, headers=_key())

        return {
            "put": Operation(put_plain, put),
            "put_writes": Operation(
                write_plain,
                lambda _: method(saver, "put_writes")(self.saved, writes, str(uuid4())),
            ),
            "get_tuple": Operation(
                lambda http: http.get("/v1/checkpoints", params=latest),
                lambda _: method(saver, "get_tuple")(self.config),
            ),
            "store.put": Operation(
                keep_plain, lambda _: method(store, "put")(where, "k", item(str(uuid4())))
            ),
            "store.get": Operation(
                ask_plain({"get": [place]}), lambda _: method(store, "get")(where, "k")
            ),
            "store.search": Operation(
                ask_plain({"search": [search]}),
                lambda _: method(store, "search")(where, query=_QUESTION),
            ),
        }


def _key() -> dict[str, str]:
    return {"Idempotency-Key": str(uuid4())}


async def run(*, url: str, key: str, rounds: int, kilobytes: int) -> None:
    """Measure and print everything."""
    identity: dict[str, Any] = {  # Any: settings of httpx
        "base_url": url,
        "headers": {"Authorization": f"Bearer {key}"},
        "timeout": 60,
    }
    serde = JsonPlusSerializer()
    values = state(kilobytes)["channel_values"]
    raw = sum(len(serde.dumps_typed(each)[1]) for each in values.values())
    with PalimpsestSaver(url, key) as saver, PalimpsestStore(url, key) as store:
        made = state(kilobytes)
        body = saver._state(
            {"configurable": {"thread_id": "t"}}, made, {}, made["channel_versions"]
        )
        sent = len(json.dumps(body))
        print(f"a state of {raw:,} bytes is sent as {sent:,} ({sent / raw:.2f})\n")
        ways = Ways(saver, store, kilobytes)
        with httpx.Client(**identity) as plain:
            async with httpx.AsyncClient(**identity) as plain_async:
                print(f"{'':<14}{'':<10}{'clock, ms':>18}{'processor, ms':>22}")
                for prefix, way, http in (("", "waiting", plain), ("a", "async", plain_async)):
                    for name, operation in ways.operations(prefix).items():
                        took = await compared(operation, http, None, rounds=rounds)
                        print(f"{name:<14}{way:<10}{line_of(*took)}", flush=True)


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="the server's address")
    parser.add_argument("--key", required=True, help="a key of a team of its own")
    parser.add_argument("--rounds", type=int, default=100, help="operations of each kind and way")
    parser.add_argument("--kilobytes", type=int, default=16, help="about the size of a state")
    given = parser.parse_args()
    asyncio.run(run(url=given.url, key=given.key, rounds=given.rounds, kilobytes=given.kilobytes))


if __name__ == "__main__":
    main()
