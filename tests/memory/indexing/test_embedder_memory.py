"""The embedded embedder keeps nothing of the texts it was asked for."""

from __future__ import annotations

import subprocess
import sys

# The most memory that it ever took in between, in bytes, but on Linux in kilobytes.
_EMBED_MANY = """
import resource
from memory.understanding.embedders import WordLlamaEmbedder

embedder = WordLlamaEmbedder()

def most_after(texts):
    for start in range(0, len(texts), 500):
        embedder.embed(texts[start : start + 500])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

text = "Order {} went to the flat on the third floor, where nobody answered the door, and back."
few = most_after([text.format(number) for number in range(1_000)])
many = most_after([text.format(number) for number in range(1_000, 16_000)])
print(many / few)
"""


def test_fifteen_thousand_texts_take_no_more_memory_than_one_thousand() -> None:
    script = [sys.executable, "-c", _EMBED_MANY]
    done = subprocess.run(script, capture_output=True, text=True, check=True)

    assert float(done.stdout) < 1.1
