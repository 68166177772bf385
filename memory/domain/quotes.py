"""Holds a model's verdict on two statements to what these say: it must quote what decides."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .judgements import as_dispute
from .text.normalise import normalise_text
from .types import Judgement, Verdict

_CONFLICTS = frozenset({Verdict.SUPERSEDE, Verdict.DISPUTE})
# Thai is the first of the scripts that put no spaces between words.
_UNSPACED = "\u0e00"


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words of the two statements: the value of each that decides, and what tells of the change."""

    older: str = ""
    newer: str = ""
    change: str = ""


def held_to_quotes(
    judgement: Judgement, *, existing: str, new: str, quoted: Quoted, is_change_told: bool
) -> Judgement:
    """The verdict as far as the quotes bear it out; `existing` and `new` are the statements.

    A conflict quotes from each statement a value, which is not all of it, and not the same from
    both; else the two coexist. A supersession also quotes words of the newer statement that tell
    of the change, which are neither its value nor in the older one; else it is a dispute, unless
    `is_change_told`, by somebody who knows the language.
    """
    if judgement.verdict not in _CONFLICTS:
        return judgement
    older, newer = normalise_text(quoted.older), normalise_text(quoted.newer)
    if older == newer or not (_is_part(older, existing) and _is_part(newer, new)):
        reason = f"{judgement.reason}; it quotes no two values that the statements hold"
        return replace(judgement, verdict=Verdict.COEXIST, reason=reason)
    if judgement.verdict is Verdict.SUPERSEDE and not is_change_told:
        change = normalise_text(quoted.change)
        if not _is_part(change, new) or _holds(existing, change) or _holds(newer, change):
            return as_dispute(judgement, because="no words of the newer one say that it changed")
    return judgement


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
