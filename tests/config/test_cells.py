"""Two deployments side by side, and a team that moves from one to the other under load."""

from __future__ import annotations

import http.client
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

import pytest

from tests.support.examples import examples
from tests.support.installation import Installation
from tests.support.waiting import until

WRITERS = 3
# Written by each writer before the move and after it.
EACH = examples(8)
_REFUSED_FOR_A_WHILE = (409, 429, 503)
SEALS = "palimpsest-seals-of-a"


@pytest.fixture(scope="module")
def cells() -> Iterator[tuple[Installation, Installation]]:
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        a, b = (Installation(Path(folder) / name) for name in ("a", "b"))
        a.environment["SEAL_KEY"] = SEALS
        b.environment |= {"SEAL_KEY": "of-b", "SEAL_KEYS_PREVIOUS": SEALS}
        try:
            a.start()
            b.start()
            yield a, b
        finally:
            for each in (a, b):
                each.kill_everything()


@dataclass
class Clients:
    """Writers that send everything until it is acknowledged, and follow the team when told."""

    home: Installation
    next: Installation
    stop: Event = field(default_factory=Event)
    answers: Counter[int] = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    written: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)

    def ask(self, method: str, path: str, body: object, key: str = "") -> tuple[int, Any, str]:
        """Sends a request until it is taken; (status, answer, where)."""
        place = self.home
        while True:
            headers = {"Authorization": f"Bearer {self.home.key}"}
            headers |= {"Content-Type": "application/json"}
            headers |= {"Idempotency-Key": key} if key else {}
            with closing(http.client.HTTPConnection("127.0.0.1", place.port, timeout=60)) as line:
                line.request(method, path, json.dumps(body), headers)
                answer = line.getresponse()
                status, said = answer.status, json.loads(answer.read() or b"null")
                wait = answer.getheader("Retry-After")
            with self.lock:
                self.answers[status] += 1
            if status == 421:
                assert said["moved_to"] == f"http://127.0.0.1:{self.next.port}"
                place = self.next
            elif status in _REFUSED_FOR_A_WHILE and wait:
                time.sleep(0.2)
            else:
                return status, said, "b" if place is self.next else "a"

    def write(self, conversation: str) -> None:
        """Writes messages and memories, one after the other, until told to stop."""
        while not self.stop.is_set():
            name = uuid4().hex
            message = {"role": "user", "content": f"Said {name}.", "external_id": name}
            status, said, where = self.ask("POST", conversation, {"messages": [message]})
            assert status == 201, said
            text = f"Note {name}."
            stated = {"agent": "kyra", "content": text, "check": False}
            status, memory, _ = self.ask("POST", "/v1/memories", stated, key=name)
            assert status in (200, 201), memory
            with self.lock:
                self.names.add(name)
                self.texts[memory["id"]] = text
                self.written[where] += 1


def rows(cell: Installation, path: str) -> list[dict[str, Any]]:
    """All rows of a list."""
    found, address = [], path
    while address:
        status, body = cell.ask(address)
        assert status == 200, body
        page = json.loads(body)
        found += page["results"]
        address = page["next"] and page["next"][page["next"].index("/v1/") :]
    return found


def test_a_team_moves_under_load_with_all_that_was_acknowledged(
    cells: tuple[Installation, Installation], tmp_path: Path
) -> None:
    a, b = cells
    conversations = [a.converse() for _ in range(WRITERS)]
    b.key = a.key
    clients = Clients(a, b)
    writers = [Thread(target=clients.write, args=(path,)) for path in conversations]
    file, address = tmp_path / "acme.jsonl", f"http://127.0.0.1:{b.port}"
    try:
        for writer in writers:
            writer.start()
        until(lambda: clients.written["a"] >= EACH * WRITERS, seconds=300)
        past = f"/v1/audit/state?limit=100&at={datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        before = rows(a, past)
        assert before

        a.manage("move_team", "--team", "acme", "--out", str(file))
        assert a.ask("/v1/memories")[0] == 200
        assert a.ask("/v1/memories", {"agent": "kyra", "content": "Now."})[0] == 503
        assert "its API keys go on working" in b.manage("import_team", str(file))
        a.manage("move_team", "--team", "acme", "--to", address)

        until(lambda: clients.written["b"] >= EACH * WRITERS, seconds=300)
    finally:
        clients.stop.set()
        for writer in writers:
            writer.join(60)

    assert a.ask("/v1/memories")[0] == 421
    assert clients.answers[503]
    assert clients.answers[421]
    assert not {each for each in clients.answers if each >= 400} - {409, 421, 503}
    messages = Counter(
        each["external_id"] for path in conversations for each in rows(b, f"{path}?limit=100")
    )
    assert messages == Counter(dict.fromkeys(clients.names, 1))
    memories = {each["id"]: each["content"] for each in rows(b, "/v1/memories?limit=100")}
    notes = {key: text for key, text in memories.items() if text.startswith("Note ")}
    assert notes == clients.texts
    assert rows(b, past) == before
    # Work that was waiting is done there.
    assert [b.extracts(path) for path in conversations] == ["done"] * WRITERS
    assert "as it was sealed" in b.manage("verify_log", "--team", "acme")
