"""What does memory add to the time of an answer, and how many answers stream at once?

Run as ``python -m benchmarks.chat`` beside a running, migrated database and Redis, with the
settings that manage.py uses. A local server of the protocol stands for the model, so that nothing
but the way through Palimpsest is measured: each request stores a question, retrieves among
``--memories`` memories, builds the prompt, routes, holds and counts the money and stores the
answer. Prints milliseconds of a call made directly, of the same call through Palimpsest, and what
lies between (p50 and p95 of ``--calls``, in turns, over one open connection each), the same up to
the first word of a stream, and the processor's time that the server took for a call. Then
``--streams`` answers run at once through one worker with as many threads, and the database
connections in use meanwhile are counted. Its team stays, for nothing is ever removed: use a
database of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import uuid4

import django
import psutil  # type: ignore[import-untyped]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connections  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks.reading_http import own_server  # noqa: E402
from benchmarks.texts import Texts  # noqa: E402
from memory.clients.tools import default_tools  # noqa: E402
from memory.domain.viewer import Viewer  # noqa: E402
from memory.services.write.explicit import StatedMemory, remember  # noqa: E402
from teams.services.keys import issue_key  # noqa: E402
from teams.services.people import create_team  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402
from tests.support.openai_server import Behaviour, FakeOpenAI, answer  # noqa: E402

ACTOR = "benchmark:chat"
WORDS = "A short answer of about ten words to the question."
WARM_UP = 20
STREAM_WORDS, STREAM_PAUSE = 200, 0.05


@dataclass(frozen=True, slots=True)
class Ground:
    """A throwaway team with memories, and a key of it."""

    token: str
    texts: Texts


def make_ground(memories: int) -> Ground:
    """A team of which one person's memories are as many."""
    slug = f"chat-{uuid4().hex[:8]}"
    team = create_team(slug=slug, name=slug, actor=ACTOR)
    texts = Texts(seed=1)
    stated = [
        StatedMemory(content=texts.statement(), importance=5, user="sarah", check=False)
        for _ in range(memories)
    ]
    viewer = Viewer(team_id=team.pk, actor=ACTOR)
    for start in range(0, memories, 500):
        part = stated[start : start + 500]
        remember(viewer=viewer, stated=part, tools=default_tools(), now=timezone.now())
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE")  # as the worker does within seconds
    with team_scope(team_ids=[team.pk], actor=ACTOR):
        return Ground(issue_key(team_id=team.pk).token, texts)


class Line:
    """One open connection to an endpoint of the protocol."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def send(self, **body: object) -> http.client.HTTPResponse:
        """The response to a chat request, its body not read yet."""
        sent = json.dumps({"user": "sarah", **body}).encode()
        self._connection.request("POST", "/v1/chat/completions", sent, self._headers)
        response = self._connection.getresponse()
        if response.status != 200:
            raise RuntimeError(f"{response.status} {response.read()[:300]!r}")
        return response

    def ask(self, messages: Sequence[object], *, thread: str, stream: bool = False) -> float:
        """Milliseconds until the answer, or the first word of a stream, is there."""
        started = time.perf_counter()
        response = self.send(
            model="kyra/fast", messages=messages, metadata={"thread_id": thread}, stream=stream
        )
        response.readline() if stream else response.read()
        took = 1000 * (time.perf_counter() - started)
        response.read()
        return took


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.chat", description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--streams", type=int, default=64)
    options = parser.parse_args()
    ground = make_ground(options.memories)
    with FakeOpenAI() as model:
        model_port = int(model.base_url.split(":")[2].split("/")[0])
        environment = {
            "OPENAI_BASE_URL": model.base_url,
            "CHAT_MODEL_FAST": "local",
            "DAILY_USER_BUDGET_USD": "999999",
            "MONTHLY_TEAM_BUDGET_USD": "999999",
        }
        with own_server(threads=max(8, options.streams), environment=environment) as port:
            through, direct = Line(port, ground.token), Line(model_port, "none")
            for stream in (False, True):
                compare(model, ground, direct, through, options.calls, stream)
            hold_streams(model, ground, port, options.streams)


def compare(
    model: FakeOpenAI, ground: Ground, direct: Line, through: Line, calls: int, stream: bool
) -> None:
    """The same questions asked both ways, in turns; a thread of ten questions each."""
    times: dict[str, list[float]] = {"direct": [], "through": []}
    talk: list[object] = []
    for number in range(WARM_UP + calls):
        if number % 10 == 0:
            talk = []
        thread = f"{'s' if stream else 'w'}-{number // 10}"
        talk.append({"role": "user", "content": f"{ground.texts.remark()} What do you think?"})
        if number == WARM_UP:
            before = processor_seconds()
        for name, line in (("direct", direct), ("through", through)):
            model.will(answer(WORDS))
            took = line.ask(talk, thread=thread, stream=stream)
            if number >= WARM_UP:
                times[name].append(took)
        talk.append({"role": "assistant", "content": WORDS})
    spent = processor_seconds() - before
    what = "to the first word of a stream" if stream else "to a whole answer"
    print(f"\nmilliseconds {what}, {calls} calls")
    print(f"{'':10}{'p50':>8}{'p95':>8}{'least':>8}")
    for name, values in times.items():
        print(f"{name:10}{at(values, 50):8.1f}{at(values, 95):8.1f}{min(values):8.1f}")
    added = [at(times["through"], share) - at(times["direct"], share) for share in (50, 95, 0)]
    print(f"{'added':10}" + "".join(f"{value:8.1f}" for value in added))
    print(f"the server's processor time for a call: {1000 * spent / calls:.1f} ms")


def hold_streams(model: FakeOpenAI, ground: Ground, port: int, count: int) -> None:
    """Run so many answers at once and count the database connections while all of them run."""
    model.will(*[Behaviour(content="word " * STREAM_WORDS, pause=STREAM_PAUSE)] * count)
    begun, all_begun = threading.Semaphore(0), threading.Event()

    def one(number: int) -> float:
        started = time.perf_counter()
        response = Line(port, ground.token).send(
            model="kyra",
            user=f"person-{number}",
            messages=[{"role": "user", "content": "Go on and on."}],
            stream=True,
        )
        response.readline()
        first = time.perf_counter() - started
        begun.release()
        all_begun.wait(60)
        whole = response.read()
        if b"[DONE]" not in whole:
            raise RuntimeError("A stream broke off.")
        return first

    with ThreadPoolExecutor(count) as pool:
        running = [pool.submit(one, number) for number in range(count)]
        for _ in range(count):
            begun.acquire(timeout=60)
        held = app_connections()
        all_begun.set()
        firsts = [each.result() for each in running]
    print(f"\n{count} streams at once through one worker of {count} threads")
    print(f"database connections of the application meanwhile: {held}")
    print(f"seconds to the first word: p50 {at(firsts, 50):.2f}, p95 {at(firsts, 95):.2f}")


def app_connections() -> int:
    """Connections of others that are not idle in the pool, and those that are in a transaction."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND usename <> current_user AND state <> 'idle'"
        )
        return int(cursor.fetchone()[0])


def processor_seconds() -> float:
    """Seconds of processor that the living processes begun from here have taken so far."""
    times = [each.cpu_times() for each in psutil.Process().children(recursive=True)]
    return float(sum(each.user + each.system for each in times))


def at(values: Sequence[float], percent: int) -> float:
    """The value that so many percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


if __name__ == "__main__":
    main()
