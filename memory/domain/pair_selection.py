"""Matters and common words of statements, found without reading any language."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache

from memory.domain.types import Statement

# Words of more than this share of a statement's neighbours are usual ones.
_USUAL_SHARE = 0.4
_FEWEST_TO_COUNT = 6
_WORD = re.compile(r"[^\W_]+")
# The ending of a longer word hardly changes what it is about.
_BEGINNING = 5
# The longer a word, the rarer it is; names are as rare as long words, a figure counts double. Words
# of fewer letters than _SHORT are mostly those of grammar and count one less.
_RAREST, _SHORT = 9, 5
# First parts under which a text is filed when nobody knows what it is about.
_KINDS = frozenset({"activity", "event", "fact"})


def shared_words(one: str, other: str, *, usual: Collection[str] = ()) -> float:
    """How much of the text with fewer words the other one has as well, rare words first; 0-1."""
    first, second = weighed_words(one), weighed_words(other)
    if usual:
        first, second = _without(usual, first), _without(usual, second)
    least = min(sum(first.values()), sum(second.values()))
    if not least:
        return 0.0
    return sum(min(first[word], second[word]) for word in first.keys() & second.keys()) / least


def _without(usual: Collection[str], words: dict[str, int]) -> dict[str, int]:
    return {word: weight for word, weight in words.items() if word not in usual}


def usual_words(texts: Sequence[str]) -> frozenset[str]:
    """The words that so many of these neighbours have that they tell no two of them together.

    Nearly always the names of the people who talk. Of few neighbours nothing can be said.
    """
    if len(texts) < _FEWEST_TO_COUNT:
        return frozenset()
    counts = Counter(word for text in texts for word in weighed_words(text))
    return frozenset(word for word, count in counts.items() if count > _USUAL_SHARE * len(texts))


@lru_cache(maxsize=4_096)
def weighed_words(text: str) -> dict[str, int]:
    """The beginnings of the words, each with how rare it is, 1 to 9; without single letters."""
    found: dict[str, int] = {}
    for place, word in enumerate(_WORD.findall(unicodedata.normalize("NFKC", text))):
        lower = word.casefold()
        if len(lower) == 1 and not lower.isdigit():
            continue
        if lower[0].isdigit():
            weight = min(2 * len(lower), _RAREST)
        elif place > 0 and word[0].isupper():
            weight = _RAREST
        else:
            weight = min(len(lower) - (len(lower) < _SHORT), _RAREST)
        beginning = lower[:_BEGINNING] if lower.isalpha() else lower
        found[beginning] = max(weight, found.get(beginning, 0))
    return found


def is_specific(subject: str) -> bool:
    """Whether a subject path names a matter, and not only the kind of memory it is."""
    kind, _, rest = subject.partition(".")
    return bool(rest) and kind not in _KINDS


def is_same_matter(one: str, other: str) -> bool:
    """Whether two paths name one and the same matter."""
    return one == other and is_specific(one)


def as_compared(existing: Statement, new: Statement) -> tuple[Statement, Statement]:
    """The two statements as a judge reads them: without paths of which one names no matter."""
    if is_specific(existing.subject) and is_specific(new.subject):
        return existing, new
    return replace(existing, subject=""), replace(new, subject="")
