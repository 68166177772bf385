"""A well-behaved client that notes how long each of its requests took."""

from __future__ import annotations

import http.client
import json
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from benchmarks.kills import Acknowledged
from benchmarks.texts import Texts

PAUSE_SECONDS = 0.25
_SECONDS = 60.0
_WHO = {"agent": "kyra", "user": "dana"}


class Stop(Protocol):
    """What tells to end, of threads or of processes."""

    def is_set(self) -> bool:
        """Whether it is time."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One request: its kind, its start on the monotonic clock, its seconds, how it ended."""

    kind: str
    began: float
    took: float
    is_answered: bool


@dataclass(slots=True)
class SteadyClient:
    """An agent that says, states, asks and lists in turn on one connection."""

    port: int
    key: str
    seed: int
    told: Acknowledged
    samples: list[Sample] = field(default_factory=list)
    _line: http.client.HTTPConnection | None = None
    _count: int = 0

    def run(self, stop: Stop) -> None:
        """One request after the other until told to stop."""
        texts = Texts(random.randrange(2**32))
        conversation = None
        while not stop.is_set():
            conversation = conversation or self.open()
            for act in (self._say, self._state, self._ask, self._list):
                if conversation and not stop.is_set():
                    act(conversation, texts)
                time.sleep(PAUSE_SECONDS)

    def open(self) -> str | None:
        """A new conversation."""
        status, answer = self._call("open", "POST", "conversations", _WHO)
        return str(answer["id"]) if status in (200, 201) else None

    def _say(self, conversation: str, texts: Texts) -> None:
        self._count += 1
        name = f"{self.seed}-{self._count}"
        said = {"role": "user", "content": texts.remark(), "external_id": name}
        path = f"conversations/{conversation}/messages"
        if self._call("message", "POST", path, {"messages": [said]})[0] in (200, 201):
            self.told.messages.append((conversation, name))

    def _state(self, conversation: str, texts: Texts) -> None:
        body = {"content": texts.statement(), "check": False}
        status, answer = self._call("memory", "POST", "memories", body)
        if status == 201:
            self.told.memories.append(answer["id"])

    def _ask(self, conversation: str, texts: Texts) -> None:
        asked = {"agent": "kyra", "query": texts.remark()}
        self._call("retrieve", "POST", "retrieve", asked)

    def _list(self, conversation: str, texts: Texts) -> None:
        self._call("list", "GET", "memories?limit=50")

    def _call(
        self, kind: str, method: str, path: str, body: object = None
    ) -> tuple[int, dict[str, Any]]:  # Any: JSON
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body)
        began, status, answer = time.monotonic(), 0, dict[str, Any]()
        for _ in range(2):  # a kept connection may have been closed meanwhile
            self._line = self._line or http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=_SECONDS
            )
            with suppress(OSError, http.client.HTTPException, json.JSONDecodeError):
                self._line.request(method, f"/v1/{path}", content, headers)
                response = self._line.getresponse()
                status, answer = response.status, json.loads(response.read() or b"{}")
                break
            self._line.close()
            self._line = None
        took = time.monotonic() - began
        self.samples.append(Sample(kind, began, took, status in (200, 201, 202)))
        return status, answer
