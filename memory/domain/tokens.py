"""How many tokens a text takes."""

from __future__ import annotations

import math

CHARS_PER_TOKEN = 3.5


def estimate_tokens(text: str) -> int:
    """An upper-leaning estimate: characters / 3.5, rounded up (seed 000, step 5)."""
    return math.ceil(len(text) / CHARS_PER_TOKEN)
