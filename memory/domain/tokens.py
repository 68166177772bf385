"""How many tokens a text takes."""

from __future__ import annotations

from typing import Protocol

# Seed 000, step 5.
CHARACTERS_A_TOKEN = 3.5


def estimate_tokens(text: str) -> int:
    """An upper-leaning estimate: characters / 3.5, rounded up (seed 000, step 5)."""
    # In whole numbers, as it is asked of each of hundreds of lines.
    return (2 * len(text) + 6) // 7


class TokenCounter(Protocol):
    """Says how many tokens a model reads; `name` tells an answer's reader how it was counted."""

    @property
    def name(self) -> str:
        """`estimate`, or the tokenizer's name."""

    def count(self, text: str) -> int:
        """The tokens of the text, 0 for an empty one."""


class Estimate:
    """The `TokenCounter` that stands for every model."""

    name = "estimate"

    def count(self, text: str) -> int:
        return estimate_tokens(text)


ESTIMATE = Estimate()
