"""Much at once: checked batches for many people into an empty team, and a transcript imported.

Run as ``python -m benchmarks.ingest_large`` beside a running, migrated database, as
`benchmarks.ingest`. ``--memories N`` writes that many checked, in batches of 500, for ``--users``
people; ``--turns N`` imports that many turns in conversations of 500, one memory each. Prints how
many a second by the clock and by processor time, and how many pairs a memory the judge was asked, a
tenth of the way at a time: what grows shows in the last tenth. A worker's tasks run beside, as they
do for everybody (``--no-worker``: without); what they took of the database is told at the end.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from benchmarks import processor  # noqa: E402
from benchmarks.ingest_ground import (  # noqa: E402
    ACTOR,
    BULK,
    CountingJudge,
    new_ground,
    statements,
    write,
)
from benchmarks.ingest_worker import beside_a_worker  # noqa: E402
from benchmarks.texts import Texts  # noqa: E402
from config.collecting import spare_the_collector  # noqa: E402
from memory.clients.tools import default_tools  # noqa: E402
from memory.domain.transcripts import Transcript, Turn  # noqa: E402
from memory.domain.types import Role  # noqa: E402
from memory.services.extracting.importing import ImportMode, ImportTarget, import_transcripts  # noqa: E402

_PARTS = 10


def in_parts(
    *, count: int, step: Callable[[int], Counter[str]], judge: CountingJudge
) -> Iterator[str]:
    """Take the step with each batch's size until `count` are done; a line for each tenth."""
    done, outcomes = 0, Counter[str]()
    mine = [processor.session()]
    for part in range(1, _PARTS + 1):
        begun, clock, busy = done, time.perf_counter(), processor.seconds(mine)
        asked = judge.asked
        while done < count * part // _PARTS:
            size = min(BULK, count - done)
            outcomes += step(size)
            done += size
        if done > begun:
            wall, cpu = time.perf_counter() - clock, processor.seconds(mine) - busy
            written = done - begun
            pairs = (judge.asked - asked) / written
            yield f"{done:>9,}{written / wall:>10,.0f}/s{written / cpu:>10,.0f}/s{pairs:>8.2f}"
    yield ", ".join(f"{number:,} {name}" for name, number in outcomes.most_common())


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=0)
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--turns", type=int, default=0)
    parser.add_argument("--no-worker", action="store_true")
    given = parser.parse_args()
    judge = CountingJudge(default_tools().judge)
    tools, ground = replace(default_tools(), judge=judge), new_ground()
    texts = Texts(random.randrange(2**32), given.users)
    spare_the_collector()  # as every process that serves

    def remembered(size: int) -> Counter[str]:
        return write(ground, statements(texts, size, check=True), tools)

    def imported(size: int) -> Counter[str]:
        name = f"talk-{random.getrandbits(64):x}"
        turns = tuple(Turn(Role.USER, texts.remark(), f"{name}-{n}") for n in range(size))
        summary = import_transcripts(
            target=ImportTarget(ground.viewer.team_id, agent="scribe", user="ada"),
            transcripts=[Transcript(name, name, turns)],
            mode=ImportMode.VERBATIM,
            extract=False,
            tools=tools,
            actor=ACTOR,
            now=timezone.now(),
        )
        return Counter(memories=summary.new_memories)

    with nullcontext() if given.no_worker else beside_a_worker() as worker:
        for title, count, step in (
            (f"checked, {given.users} people", given.memories, remembered),
            ("turns imported", given.turns, imported),
        ):
            if count:
                print(f"{title}: by the clock, by processor time, pairs judged", flush=True)
                for line in in_parts(count=count, step=step, judge=judge):
                    print(line, flush=True)
        if worker is not None:
            print(f"the worker's tasks: {worker.seconds():,.1f} s of the database", flush=True)


if __name__ == "__main__":
    main()
