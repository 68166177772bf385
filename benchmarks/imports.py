"""How fast is an import of ChatGPT's history, and does its memory grow with the file?

Run as ``python -m benchmarks.imports``. It starts everything in a throwaway home, as `make run`
does. For 10,000 and for ``--messages`` messages it writes an export
of conversations with 20 messages each, and imports it in a process of its own, without extraction.
It prints the messages a second of the checking and of the writing, and the peak of the process's
memory above that of one that imported 100 messages.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from benchmarks.instance import everything, free_port, run_command
from benchmarks.texts import Texts

_TURNS = 20
_FIRST, _SMALL = 100, 10_000
# One process for each file: the peak of a process never falls.
_IMPORT = """
import resource, sys, time
import django
django.setup()
from pathlib import Path
from django.utils import timezone
from memory.understanding.tools import default_tools
from memory.domain.viewer import Viewer
from memory.satellites.transfer.formats.items import Names
from memory.satellites.transfer.import_runs import run_import
from memory.satellites.transfer.imports import start_import
from teams.services.people import create_team
team = create_team(slug=sys.argv[2], name=sys.argv[2], actor="benchmark").pk
names, started = Names(agent="archive", user="sarah"), time.perf_counter()
run = start_import(viewer=Viewer(team_id=team, actor="benchmark"), source=Path(sys.argv[1]),
    names=names, now=timezone.now(), does_extract=False, is_published=False)
checked = time.perf_counter()
assert run_import(team_id=team, run_id=run.pk, tools=default_tools())
written = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(checked - started, written - checked, peak / 1024)
"""


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PALIMPSEST_HOME": home, "PORT": str(free_port())}
        with everything(environment):
            measure(Path(home) / "conversations.json", environment, most=given.messages)


def measure(file: Path, environment: Mapping[str, str], *, most: int) -> None:
    """Import files of growing size, and print what each took."""
    least = None
    for messages in (_FIRST, _SMALL, most):
        write_export(file, messages=messages)
        team = f"imports-{uuid4().hex[:8]}"
        told = run_command(["-c", _IMPORT, str(file), team], environment)
        checked, written, peak = map(float, told.split())
        least = peak if least is None else least
        print(
            f"{messages:>8,} messages ({file.stat().st_size / 1e6:6.1f} MB):"
            f" checked {messages / checked:8,.0f}/s, written {messages / written:8,.0f}/s,"
            f" both {messages / (checked + written):8,.0f}/s, peak {peak:6.1f} MiB"
            f" ({peak - least:+.1f})",
            flush=True,
        )


def write_export(file: Path, *, messages: int) -> None:
    """An export of conversations as ChatGPT writes them, one after the other."""
    texts = Texts(seed=11)
    with file.open("w") as out:
        for number in range(messages // _TURNS):
            out.write("[" if number == 0 else ",\n")
            json.dump(_conversation(texts, number), out)
        out.write("]")


def _conversation(texts: Texts, number: int) -> dict[str, object]:
    keys = [f"{number}-{turn}" for turn in range(_TURNS)]
    mapping = {
        key: {
            "id": key,
            "parent": keys[turn - 1] if turn else None,
            "children": keys[turn + 1 : turn + 2],
            "message": {
                "id": key,
                "author": {"role": ("user", "assistant")[turn % 2], "name": None, "metadata": {}},
                "create_time": 1_700_000_000 + number * 3600 + turn * 30,
                "content": {"content_type": "text", "parts": [texts.statement()]},
                "status": "finished_successfully",
                "metadata": {"model_slug": "gpt-4o", "parent_id": key},
                "recipient": "all",
            },
        }
        for turn, key in enumerate(keys)
    }
    return {
        "title": f"Talk {number}",
        "create_time": 1_700_000_000 + number * 3600,
        "mapping": mapping,
        "current_node": keys[-1],
        "conversation_id": f"talk-{number}",
    }


if __name__ == "__main__":
    main()
