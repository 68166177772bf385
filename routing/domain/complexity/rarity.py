"""How rare a word is, by its place in a list of words in the order of their frequency."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, lru_cache

from .cues import list_lines

UNKNOWN = 1.15
_ENDINGS = (
    ("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"),
    ("ing", ""), ("ing", "e"), ("ly", ""), ("er", ""), ("er", "e"), ("isation", "ization"),
    ("ise", "ize"), ("ised", "ize"), ("ising", "ize"), ("our", "or"), ("re", "er"),
    ("'s", ""), ("n't", ""),
)  # fmt: skip


@cache
def _ranks() -> dict[str, int]:
    return {line.split()[0]: rank for rank, line in enumerate(list_lines("words"), start=1)}


def known_form(word: str) -> str | None:
    """The form of a word that the list holds: itself, or without a common ending."""
    ranks = _ranks()
    if word in ranks:
        return word
    return next((form for form in _forms(word) if form in ranks), None)


def _forms(word: str) -> Iterator[str]:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: len(word) - len(ending)]
            yield stem + instead
            if not instead and len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]


@lru_cache(maxsize=20_000)
def rarity(word: str) -> float:
    """0 for the commonest word, 1 at the end of the list, a little more for a word beyond it."""
    form = known_form(word)
    if form is None:
        return UNKNOWN
    return math.log(_ranks()[form]) / math.log(len(_ranks()))
