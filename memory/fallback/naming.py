"""Tells names from other words, also where a sentence begins and every word has a capital."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from memory.domain.text.numbers import ONES, ORDINALS, TENS

from .lexicon import word_set
from .tokens import Token, tokenize

_FOLDER = Path(__file__).parent / "tables"
_NOT_WORDS: Final = frozenset({"units"})
_COMMON_ENDINGS = ("ing", "ion", "ions", "ment", "ments", "ness", "ly", "ed", "ers", "ies")
_SINGULAR_IN_S = ("us", "as", "is", "os", "es")


def name_flags(tokens: Sequence[Token]) -> tuple[bool, ...]:
    """Which tokens are names.

    Inside a sentence capitals tell. The first word of a sentence is one where the word tables do
    not know it and what follows lets it be one: another capital, a possessive or a verb.
    """
    lower = {token.lower for token in tokens if token.is_word and not token.is_capital}
    return tuple(
        token.is_name or (token.is_first and token.lower not in lower and _may_open(tokens, place))
        for place, token in enumerate(tokens)
    )


def _may_open(tokens: Sequence[Token], place: int) -> bool:
    token = tokens[place]
    if not token.is_capital or token.stem in known_stems() or place + 1 == len(tokens):
        return False
    behind = tokens[place + 1]
    if token.lower.endswith(_COMMON_ENDINGS):
        return False
    if behind.lower == "'s" or (behind.is_word and behind.is_capital):
        return True
    if token.lower.endswith("s") and not token.lower.endswith(_SINGULAR_IN_S):
        return False
    if behind.lower in word_set("auxiliaries") or behind.lower in {",", "and", "never", "not"}:
        return True
    is_form = behind.lower.endswith(("s", "ed")) or behind.stem != behind.lower
    return behind.is_word and is_form


@cache
def known_stems() -> frozenset[str]:
    """The stems of all words in the tables, and of the number words."""
    names = (path.stem for path in sorted(_FOLDER.glob("*.txt")))
    phrases = {phrase for name in names if name not in _NOT_WORDS for phrase in word_set(name)}
    phrases |= ONES.keys() | TENS.keys() | ORDINALS.keys()
    return frozenset(token.stem for phrase in phrases for token in tokenize(phrase))
