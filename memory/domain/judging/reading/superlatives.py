"""Superlatives: who or what is told to be the youngest, the tallest, the only one."""

from __future__ import annotations

from .frames import Reading, kept_by_reading
from .tables import words

_ADJECTIVES = words(
    "young old tall large big small long short high low fast slow cheap strong heavy deep new busy "
    "rich wide narrow hot cold early bright dark loud quiet thick thin light steep dry wet warm"
)
_DOUBLING = words("big hot thin wet")


def form_of(adjective: str, ending: str) -> str:
    """An adjective with "er" or "est"."""
    if adjective in _DOUBLING:
        return adjective + adjective[-1] + ending
    if adjective.endswith("y"):
        return adjective[:-1] + "i" + ending
    return adjective.rstrip("e") + ending


HIGHEST = {form_of(each, "est"): each for each in _ADJECTIVES}
HIGHER = {form_of(each, "er"): each for each in _ADJECTIVES}


@kept_by_reading
def superlative_of(reading: Reading) -> str:
    """The quality of which the subject is told to have most of all, or ""."""
    for i, token in enumerate(reading.tokens):
        before = reading.tokens[i - 1].lower if i else ""
        if token.lower in HIGHEST and before in _DETERMINING and reading.verb in _COPULAS:
            return HIGHEST[token.lower] if i > reading.head else ""
    return ""


_DETERMINING = words("the 's its our their her his my")
_COPULAS = words("is are 's")


@kept_by_reading
def is_sole(reading: Reading) -> bool:
    """ "Is the only one", "is the tallest": what is told of one thing at a time."""
    if superlative_of(reading):
        return True
    lowers = [token.lower for token in reading.tokens[reading.head :]]
    return reading.verb in _COPULAS and "the" in lowers and not _SOLE.isdisjoint(lowers)


_SOLE = words("only sole")
