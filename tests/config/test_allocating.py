"""What threads have freed goes back to the system."""

from __future__ import annotations

import subprocess
import sys

# Something large was freed before, and behind what each of eight threads frees a little is kept.
_THREADS = """
import threading
from pathlib import Path
from config.allocating import give_memory_back

{first}
large = bytearray(30 << 20)
del large
kept, held, done = [], threading.Barrier(8), threading.Barrier(8)

def work():
    pieces = [bytearray(1 << 20) for _ in range(20)]
    kept.append(bytearray(1000))
    held.wait()
    del pieces
    done.wait()

threads = [threading.Thread(target=work) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
lines = Path("/proc/self/status").read_text().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmRSS")))
"""


def megabytes_held(first: str) -> float:
    """What a process holds after its threads have freed 160 MB."""
    script = [sys.executable, "-c", _THREADS.format(first=first)]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def test_what_threads_held_is_given_back() -> None:
    assert megabytes_held("assert give_memory_back()") < megabytes_held("") - 80
