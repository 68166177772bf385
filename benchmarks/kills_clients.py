"""Clients that write to a server whose processes are killed, and note what was acknowledged."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any
from uuid import uuid4

from benchmarks.texts import Texts

_SECONDS = 40.0
_TRIES = 6
_PAUSE_SECONDS = 0.5
_DONE = (200, 201)
# What tells a text that was stated from one that was extracted, and one from another.
NOTED = ", as note "


@dataclass(slots=True)
class Acknowledged:
    """What the server said that it has; thread-safe.

    `messages` are conversations and external ids, `memories` ids, `compacted` the ids of memories
    that compactions named; `answers` counts all by request and status, 0 where none came.
    """

    messages: list[tuple[str, str]] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    compacted: list[str] = field(default_factory=list)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    _changing: Lock = field(default_factory=Lock)

    def note(self, request: str, status: int) -> None:
        """Count an answer."""
        with self._changing:
            self.answers[request, status] += 1


@dataclass(slots=True)
class Writer:
    """One person's agent, which asks again where no answer came, as a client should."""

    port: int
    key: str
    seed: int
    told: Acknowledged
    _count: int = 0

    def run(self, stop: Event) -> None:
        """Write until told to stop."""
        chance = random.Random(self.seed)
        texts, conversation = Texts(self.seed), None
        while not stop.is_set():
            self._count += 1
            if conversation is None or chance.random() < 0.05:
                conversation = self._open()
                continue
            kind = chance.random()
            if kind < 0.5:
                self._say(conversation, texts.remark())
            elif kind < 0.95:
                self._state(texts.statement(), is_keyed=kind > 0.75)
            else:
                self._compact(conversation)

    def _open(self) -> str | None:
        body = {"agent": "kyra", "user": f"user-{self.seed}"}
        status, answer = self._call("conversation", "/v1/conversations", body)
        if status not in _DONE:
            time.sleep(_PAUSE_SECONDS)
            return None
        return str(answer["id"])

    def _say(self, conversation: str, text: str) -> None:
        # Sent again under the same external id, a message is stored once.
        name = f"{self.seed}-{self._count}"
        message = {"role": "user", "content": text, "external_id": name}
        path = f"/v1/conversations/{conversation}/messages"
        for _ in range(_TRIES):
            status, _ = self._call("message", path, {"messages": [message]})
            if status in _DONE:
                self.told.messages.append((conversation, name))
                return
            time.sleep(_PAUSE_SECONDS)

    def _state(self, text: str, *, is_keyed: bool) -> None:
        # No two are alike, so that one that stands twice was stored twice.
        body = {
            "content": f"{text.rstrip('.')}{NOTED}{self.seed}x{self._count} says.",
            "user": f"user-{self.seed}",
        }
        key = str(uuid4()) if is_keyed else None
        for _ in range(_TRIES if is_keyed else 1):
            status, answer = self._call(
                "keyed" if is_keyed else "memory", "/v1/memories", body, key
            )
            if status in _DONE:
                self.told.memories.append(answer["id"])
            if status in (*_DONE, 409):
                return
            time.sleep(_PAUSE_SECONDS)

    def _compact(self, conversation: str) -> None:
        path = f"/v1/conversations/{conversation}/compact"
        status, answer = self._call("compaction", path, {"keep_last": 3})
        if status == 200:
            extraction = answer.get("extraction") or {}
            self.told.compacted.extend(extraction.get("memories", ()))

    def _call(
        self, request: str, path: str, body: Mapping[str, object], key: str | None = None
    ) -> tuple[int, dict[str, Any]]:  # Any: JSON
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        status, answer = 0, dict[str, Any]()
        try:
            line.request("POST", path, json.dumps(body), headers)
            response = line.getresponse()
            status, answer = response.status, json.loads(response.read() or b"{}")
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            pass  # it was killed before it had answered
        finally:
            line.close()
        self.told.note(request, status)
        return status, answer
