"""Kills processes under load and counts what of the acknowledged writes is lost, or there twice.

Run as ``python -m benchmarks.kills --seconds 240``. It starts everything in a throwaway home, as
`make run` does, and has eight clients write messages, memories, memories under an Idempotency-Key,
and compactions. Every 6 to 16 seconds (``--pause 2 5``: 2 to 5) SIGKILL ends one of PostgreSQL, one
of its backends, Redis, the web server, one of its processes, or the worker. Prints what was
answered, and afterwards how much of what was acknowledged is missing or stands twice and what
`verify_log` says. Ends with status 1 when anything is.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

import psutil  # type: ignore[import-untyped]

from benchmarks.instance import everything, free_port, issue_keys, run_command
from benchmarks.texts import Texts

# Time for the last requests to be answered by servers that are all back.
CALM_SECONDS = 25.0
_PAUSE = (6.0, 16.0)
# Whom to end, by a part of the command line of the launcher's child.
_VICTIMS = {
    "PostgreSQL": "/postgres",
    "a backend": "/postgres",
    "Redis": "redis-server",
    "web": "config.web_server",
    "a web process": "config.web_server",
    "worker": "config --quiet worker",
}
_ANSWER_SECONDS = 40.0
_TRIES = 6
_REST_SECONDS = 0.5
_DONE = (200, 201)
# What tells a text that was stated from one that was extracted, and one from another.
_NOTED = ", as note "
_IN_STORE = """
import json, sys
import django
django.setup()
from django.db import connections
with connections["owner"].cursor() as cursor:
    cursor.execute("SELECT conversation_id::text, external_id FROM teams_message")
    messages = cursor.fetchall()
    cursor.execute("SELECT id::text, content FROM memory_memory")
    json.dump({"messages": messages, "memories": cursor.fetchall()}, sys.stdout)
"""


@dataclass(slots=True)
class Acknowledged:
    """The writes that the server acknowledged; thread-safe.

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
            time.sleep(_REST_SECONDS)
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
            time.sleep(_REST_SECONDS)

    def _state(self, text: str, *, is_keyed: bool) -> None:
        # No two are alike, so that one that stands twice was stored twice.
        body = {
            "content": f"{text.rstrip('.')}{_NOTED}{self.seed}x{self._count} says.",
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
            time.sleep(_REST_SECONDS)

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
        status, answer = 0, dict[str, Any]()
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ANSWER_SECONDS)
        # It may be killed before it has answered.
        with closing(line), suppress(OSError, http.client.HTTPException, json.JSONDecodeError):
            line.request("POST", path, json.dumps(body), headers)
            response = line.getresponse()
            status, answer = response.status, json.loads(response.read() or b"{}")
        self.told.note(request, status)
        return status, answer


def main() -> int:
    """Run, print, and tell by the status whether all is there once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--pause", type=float, nargs=2, default=_PAUSE, help="seconds, from and to")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        environment = {**os.environ, "PALIMPSEST_HOME": folder, "PORT": str(free_port())}
        with everything(environment) as launcher:
            key = issue_keys(environment, "kills")[0]
            acknowledged = Acknowledged()
            stop = Event()
            writers = [
                Thread(
                    target=Writer(
                        port=int(environment["PORT"]), key=key, seed=n, told=acknowledged
                    ).run,
                    args=(stop,),
                )
                for n in range(options.clients)
            ]
            for writer in writers:
                writer.start()
            killed = _kill(
                launcher, seconds=options.seconds, pause=options.pause, seed=options.seed
            )
            stop.wait(CALM_SECONDS)
            stop.set()
            for writer in writers:
                writer.join()
            wrong = missing(acknowledged, environment)
            verified = run_command(["manage.py", "verify_log"], environment)
    print(f"killed: {dict(killed)}")
    print("answers, by request and status (0: none came):")
    for (request, status), count in sorted(acknowledged.answers.items()):
        print(f"  {request:<12}{status:>4}{count:>8,}")
    print(f"the log: {verified.strip()}")
    for what, count in wrong.items():
        print(f"{what}: {count}")
    return 1 if any(wrong.values()) else 0


def _kill(
    launcher: psutil.Process, *, seconds: float, pause: Sequence[float], seed: int
) -> Counter[str]:
    """End one process after another; how often which."""
    chance, killed = random.Random(seed), Counter[str]()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(chance.uniform(*pause))
        victim = chance.choice(list(_VICTIMS))
        with suppress(psutil.Error):
            found = _processes(launcher, victim)
            if found:
                chance.choice(found).kill()
                killed[victim] += 1
    return killed


def _processes(launcher: psutil.Process, victim: str) -> list[psutil.Process]:
    """Returns the processes of the kind: servers and children, or what they have started."""
    found = _with(_VICTIMS[victim], launcher.children())
    if victim in ("a backend", "a web process"):
        mark = "palimpsest" if victim == "a backend" else ""
        return [each for parent in found for each in _with(mark, parent.children())]
    return found


def _with(mark: str, processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    return [each for each in processes if mark in " ".join(each.cmdline())]


def missing(told: Acknowledged, environment: Mapping[str, str]) -> dict[str, int]:
    """Counts the acknowledged writes that are missing, or stored twice."""
    stored = json.loads(run_command(["-c", _IN_STORE], environment))
    messages = Counter((where, name) for where, name in stored["messages"] if name)
    ids = {pk for pk, _ in stored["memories"]}
    texts = Counter(text for _, text in stored["memories"] if _NOTED in text)
    return {
        "messages missing": sum(not messages[each] for each in told.messages),
        "messages twice": sum(count > 1 for count in messages.values()),
        "memories missing": len(set(told.memories) - ids),
        "memories twice": sum(count > 1 for count in texts.values()),
        "memories of a compaction missing": len(set(told.compacted) - ids),
    }


if __name__ == "__main__":
    sys.exit(main())
