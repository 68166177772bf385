"""Holds a model's supersession to the statements: it must quote the values that changed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from .judgements import as_dispute
from .text.normalise import normalise_text
from .types import Judgement, Verdict

# Thai is the first of the scripts that put no spaces between words.
_UNSPACED = "\u0e00"


def held_to_quotes(
    judgement: Judgement, *, existing: str, new: str, older_value: str, newer_value: str
) -> Judgement:
    """Returns a supersession as a dispute unless its quoted values stand in the two statements.

    The values are what cannot hold of both: not the same, and neither the whole of its statement.
    """
    if judgement.verdict is not Verdict.SUPERSEDE:
        return judgement
    older, newer = normalise_text(older_value), normalise_text(newer_value)
    if older != newer and _is_part(older, existing) and _is_part(newer, new):
        return judgement
    return as_dispute(judgement, because="it quotes no two values that the statements hold")


def _is_part(quote: str, text: str) -> bool:
    """Whether a normalised quote stands in a text and leaves something of it."""
    return quote != normalise_text(text) and _holds(text, quote)


def _holds(text: str, quote: str) -> bool:
    """Whether a normalised quote stands in a text as whole words; one without any never does."""
    if not any(char.isalnum() for char in quote):
        return False
    said = normalise_text(text)
    return any(
        _is_edge(said[at - 1 : at], quote[0])
        and _is_edge(said[at + len(quote) : at + len(quote) + 1], quote[-1])
        for at in _places(said, quote)
    )


def _places(text: str, quote: str) -> Iterator[int]:
    at = text.find(quote)
    while at >= 0:
        yield at
        at = text.find(quote, at + 1)


def _is_edge(outside: str, inside: str) -> bool:
    """Whether a word may end between two characters."""
    return not (_is_of_word(outside) and _is_of_word(inside))


def _is_of_word(char: str) -> bool:
    is_mark = bool(char) and unicodedata.category(char).startswith("M")
    return (char.isalnum() or is_mark) and char < _UNSPACED
