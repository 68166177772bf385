"""A serving process looks for what nothing needs less often, and still does."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

_PROBE = """
import gc
from config.collecting import OBJECTS, spare_the_collector

spare_the_collector()
assert gc.isenabled() and gc.get_freeze_count() > 0
assert gc.get_threshold()[0] == OBJECTS
gone = []

class Ring:
    def __init__(self):
        self.itself = self
    def __del__(self):
        gone.append(1)

rings = [Ring() for _ in range(3)]
del rings
kept = [[] for _ in range(2 * OBJECTS)]
print(len(gone))
"""


def test_rings_are_still_found() -> None:
    """In a process of its own: what is frozen and how often is of the whole process."""
    before = gc.get_threshold()

    done = subprocess.run(
        [sys.executable, "-c", _PROBE],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )

    assert done.stdout.strip() == "3"
    assert gc.get_threshold() == before
