"""Do four well-behaved clients notice what a hostile one sends?

Run as ``python -m benchmarks.attack``; ``--only flood`` takes the attacks with this in their name.
It starts everything in a throwaway home, as `make run` does. Four clients, in a process of their
own, write messages and memories, read and list, a request every quarter of a second each. First
they are alone; then one attack of `attack_list.py` after the other is made beside them, with a key
of another team. Printed is a line for each attack: its answers and the seconds of the slowest, the
95th percentile and the slowest of the clients' requests until the next attack, as multiples of the
usual 95th percentile of their kind, how many failed, the memory of all the server's processes, and
after how many seconds everything was as before. Ends with status 1 where the clients' percentile is
more than three times the usual, a request of theirs failed, the attacker waited more than five
seconds or was answered 500, memory passed `--megabytes`, it took more than ten seconds to come
back, or something that was acknowledged is missing. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import gc
import http.client
import json
import multiprocessing
import os
import random
import re
import socket
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from threading import Thread
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks.attack_list import Attack, Kind, Request, attacks, kinds
from benchmarks.instance import everything, free_port, issue_keys
from benchmarks.kills import Acknowledged, missing
from benchmarks.texts import Texts

CLIENTS = 4
MOST_TIMES = 3.0
BACK_SECONDS = 10.0
MOST_SECONDS = 5.0
PAUSE_SECONDS = 0.25
_ANSWER_SECONDS = 60.0
_WHO = {"agent": "kyra", "user": "dana"}
_READY_SECONDS = 120.0
_SLOW_SECONDS = 8.0
_SOCKETS = 200
_PAUSE_SECONDS = 0.05
# Requests of a client before the usual is measured.
_WARM = 12
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")


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

    def run(self, stop: Event) -> None:
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
                "127.0.0.1", self.port, timeout=_ANSWER_SECONDS
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


@dataclass(slots=True)
class Outcome:
    """One attack: when it was, what it was answered (0: nothing) and the memory afterwards.

    `waited` is the seconds of its slowest answer; `p95` and `slowest` are the clients' times.
    """

    name: str
    began: float
    ended: float = 0.0
    answers: Counter[int] = field(default_factory=Counter)
    megabytes: float = 0.0
    waited: float = 0.0
    p95: float = 0.0
    slowest: float = 0.0
    failed: int = 0
    back: float = 0.0

    def faults(self, *, megabytes: float) -> Iterator[str]:
        """Yields the faults of the outcome; `megabytes` is the limit of memory."""
        if self.p95 > MOST_TIMES:
            yield "slow"
        if self.waited > MOST_SECONDS:
            yield "long"
        if self.failed:
            yield "failed"
        if self.answers[500]:
            yield "500"
        if self.megabytes > megabytes:
            yield "memory"
        if self.back > BACK_SECONDS:
            yield "not back"


def send(request: Request, *, port: int, key: str) -> int:
    """The status of the answer; 0 where none came or nobody waits for one."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 10.0) as line:
        line.settimeout(_ANSWER_SECONDS)
        with suppress(OSError):  # refused before all of it was sent
            line.sendall(request.line(key))
        if not request.reads:
            return 0
        found = _STATUS.match(line.recv(1 << 16))
        return int(found[1]) if found else 0
    return 0


def make(outcome: Outcome, attack: Attack, *, port: int, key: str, conversation: str) -> None:
    """Sends all of the attack's requests, and notes their answers."""
    if attack.slow:
        kind = kinds(key)[attack.slow]
        with suppress(OSError):  # it takes no more connections
            for _ in held(kind, port=port, sockets=_SOCKETS, seconds=_SLOW_SECONDS):
                outcome.answers[200 if ask(port) < 1 else 0] += 1
        return

    def timed(request: Request) -> tuple[int, float]:
        began = time.monotonic()
        return send(request, port=port, key=key), time.monotonic() - began

    with ThreadPoolExecutor(attack.at_once) as pool:
        for status, took in pool.map(timed, attack.requests(conversation)):
            outcome.answers[status] += 1
            outcome.waited = max(outcome.waited, took)


def ask(port: int) -> float:
    """Seconds until `/healthz` has answered on a connection of its own; inf for no answer."""
    began = time.perf_counter()
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        line.request("GET", "/healthz")
        line.getresponse().read()
    except OSError:
        return float("inf")
    finally:
        line.close()
    return time.perf_counter() - began


def held(kind: Kind, *, port: int, sockets: int, seconds: float) -> Iterator[None]:
    """Pauses of a moment, while so many clients of the kind are connected."""
    lines = [socket.create_connection(("127.0.0.1", port), 10.0) for _ in range(sockets)]
    for each in lines:
        each.settimeout(0.01)
        _send(each, kind.first)
    began, added = time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        yield
        if passed > added + 1:
            added += 1
            for each in lines:
                _send(each, kind.then(added))
        time.sleep(_PAUSE_SECONDS)
    for each in lines:
        each.close()


def _send(line: socket.socket, what: bytes) -> None:
    try:
        line.sendall(what)
    except OSError:  # the server has given it up, or does not read any more
        return


def steady(port: int, keys: Sequence[str], ready: Event, stop: Event, report: Connection) -> None:
    """Run the clients until told to stop, and report their samples and what they were told."""
    gc.freeze()  # so that no collection of this process is timed as an answer
    told = Acknowledged()
    clients = [SteadyClient(port=port, key=key, seed=n, told=told) for n, key in enumerate(keys)]
    threads = [Thread(target=each.run, args=(stop,)) for each in clients]
    for thread in threads:
        thread.start()
    while not all(len(each.samples) > _WARM for each in clients) and not stop.is_set():
        time.sleep(PAUSE_SECONDS)
    ready.set()
    for thread in threads:
        thread.join()
    samples = [sample for each in clients for sample in each.samples]
    report.send((samples, told.messages, told.memories))


def memory_of(launcher: psutil.Process, *, megabytes: float) -> float:
    """Megabytes of all the server's processes; what they share counts once.

    What processes share after a fork counts for each of them, unless that would be more than
    `megabytes`: counting it exactly stops each process for up to a third of a second.
    """
    children = launcher.children()
    families = [(launcher,), *((each, *each.children(recursive=True)) for each in children)]
    quickly = sum(map(_quickly, families)) / (1 << 20)
    if quickly <= megabytes:
        return quickly
    total = 0
    for each in chain(*families):
        with suppress(psutil.Error):
            total += each.memory_full_info().pss
    return total / (1 << 20)


def _quickly(family: Sequence[psutil.Process]) -> int:
    """The bytes of each by itself, and the most that one of them shares with files."""
    own, shared = 0, 0
    for each in family:
        with suppress(psutil.Error):
            told = each.memory_info()
            own += told.rss - told.shared
            shared = max(shared, told.shared)
    return own + shared


def judge(
    outcomes: Sequence[Outcome], samples: Sequence[Sample], *, alone: tuple[float, float]
) -> None:
    """Fill in what the clients noticed of each attack; within `alone` they were by themselves."""
    usual: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        if alone[0] < sample.began < alone[1] - sample.took:
            usual[sample.kind].append(sample.took)
    p95 = {kind: sorted(took)[int(len(took) * 0.95)] for kind, took in usual.items()}
    print("usual p95, ms:", ", ".join(f"{k} {1000 * v:.0f}" for k, v in sorted(p95.items())))
    alone_times = max(took / p95[kind] for kind, all_of in usual.items() for took in all_of)
    print(f"slowest of a client while they were alone: {alone_times:.1f} times the usual p95")
    until = [each.began for each in outcomes[1:]] + [float("inf")]
    for outcome, end in zip(outcomes, until, strict=True):
        all_times = [0.0]
        for sample in samples:
            done = sample.began + sample.took
            if done < outcome.began or sample.began >= end:
                continue
            times = sample.took / p95.get(sample.kind, sample.took)
            all_times.append(times)
            outcome.failed += not sample.is_answered
            if times > MOST_TIMES or not sample.is_answered:
                outcome.back = max(outcome.back, done - outcome.ended)
        all_times.sort()
        outcome.p95, outcome.slowest = all_times[int(len(all_times) * 0.95)], all_times[-1]


def table(outcomes: Sequence[Outcome], *, megabytes: float) -> int:
    """Print a line for each; how many are at fault."""
    print(
        f"{'attack':<46}{'answers':<26}{'s':>6}{'p95':>6}{'most':>6}{'failed':>7}{'MB':>6}{'back':>6}"
    )
    wrong = 0
    for each in outcomes:
        faults = ", ".join(each.faults(megabytes=megabytes))
        wrong += bool(faults)
        answers = " ".join(f"{code}x{count}" for code, count in sorted(each.answers.items()))
        print(
            f"{each.name[:45]:<46}{answers[:25]:<26}{each.waited:>6.1f}{each.p95:>6.1f}{each.slowest:>6.1f}"
            f"{each.failed:>7}{each.megabytes:>6.0f}{each.back:>6.1f}  {faults}"
        )
    return wrong


def run(
    *, environment: Mapping[str, str], launcher: psutil.Process, given: argparse.Namespace
) -> int:
    """Attack and print; the number of faults."""
    port = int(environment["PORT"])
    teams = [f"steady-{n}" for n in range(CLIENTS)]
    key, *keys = issue_keys(environment, "hostile", *teams)
    # The attacker's, for attacks on a conversation of its own.
    opened = SteadyClient(port=port, key=key, seed=99, told=Acknowledged())
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    receives, sends = context.Pipe(duplex=False)
    process = context.Process(target=steady, args=(port, keys, ready, stop, sends))
    process.start()
    os.nice(19)  # the attacker would be on another machine
    sends.close()  # the other process has it, and its end shows here
    outcomes = []
    try:
        if not ready.wait(_READY_SECONDS):
            raise RuntimeError("The clients are not answered.")
        began = time.monotonic()
        time.sleep(given.alone)
        alone = time.monotonic()
        for attack in attacks()[:: given.every]:
            if given.only not in attack.name or time.monotonic() > alone + 60 * given.minutes:
                continue
            outcome = Outcome(attack.name, time.monotonic())
            conversation = opened.open() or ""
            make(outcome, attack, port=port, key=key, conversation=conversation)
            outcome.ended = time.monotonic()
            outcome.megabytes = memory_of(launcher, megabytes=given.megabytes)
            outcomes.append(outcome)
            print(f"{attack.name}: {dict(outcome.answers)}", file=sys.stderr, flush=True)
            time.sleep(given.pause)
        time.sleep(BACK_SECONDS)
    finally:
        stop.set()
        samples, messages, memories = receives.recv()
        process.join()
    judge(outcomes, samples, alone=(began, alone))
    wrong = table(outcomes, megabytes=given.megabytes)
    lost = missing(Acknowledged(messages=messages, memories=memories), environment)
    print(f"{len(outcomes)} attacks, {wrong} at fault; {len(samples)} requests of the clients;"
          f" acknowledged: {len(messages)} messages, {len(memories)} memories; {lost}")  # fmt: skip
    return wrong + sum(lost.values())


def main() -> int:
    """Start a server, attack it, and tell by the status whether nobody noticed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", default="", help="a part of the names of attacks")
    parser.add_argument("--alone", type=float, default=40.0, help="seconds without an attack")
    parser.add_argument("--pause", type=float, default=3.0, help="seconds after each attack")
    parser.add_argument("--every", type=int, default=1, help="take only one in so many")
    parser.add_argument("--minutes", type=float, default=60.0, help="none is begun afterwards")
    parser.add_argument("--megabytes", type=float, default=3_000.0, help="all processes together")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attack-") as home:
        environment = {**os.environ, "PALIMPSEST_HOME": home, "PORT": str(free_port())}
        with everything(environment) as launcher:
            return int(run(environment=environment, launcher=launcher, given=given) > 0)


if __name__ == "__main__":
    sys.exit(main())
