"""Whether a statement adds anything to one that is stored: by its words, whatever a judge says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .duplicates import said_words
from .text.normalise import normalise_text
from .text.stop_words import STOP_WORDS, word_set

# Common words that deny, limit or count, or that tell of another time: with another one, or without
# it, the same words say something else.
_DENIALS = word_set("no not nor never none nobody nothing neither cannot without")
_LIMITS = word_set(
    """
    about above after almost before below between beyond during except if least less more most
    nearly only over since than till under unless until up when where while within
    """
)
_TELLING = (
    _DENIALS
    | _LIMITS
    | word_set(
        """
        all any both can could did down each every few from had into many may might must off other
        out same several shall should some such was were will would
        """
    )
)
_EMPTY = STOP_WORDS - _TELLING
# What may open the part by which one of two statements says more: "… up to 5,000 euros".
_OPENING = _LIMITS | word_set("as at by for from in on out through to with")
_SHORTEST_STEM = 3


def adds_nothing(*, known: str, new: str) -> bool:
    """Whether `known` has every content word and number of `new`, in its order.

    What denies, limits or counts stands in both or in neither: without its limit a statement is a
    wider one.
    """
    return covers(known, new) and _telling(known) == _telling(new)


def covers(one: str, other: str) -> bool:
    """Whether `one` has every content word and number of `other`, in its order."""
    words = iter(_content(one))
    return all(word in words for word in _content(other))


def fact_words(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Equal for two statements of which neither adds anything to the other, and for no others."""
    return _content(text), tuple(sorted(_telling(text)))


def is_qualified(one: str, other: str) -> bool:
    """Whether one of the two is the other with a limit or a circumstance more, and denies nothing.

    "Signs invoices" and "signs invoices up to 5,000 euros": both may hold.
    """
    first, second = normalise_text(one).split(), normalise_text(other).split()
    shorter, longer = sorted((first, second), key=len)
    begin = _common(shorter, longer)
    end = _common(shorter[begin:][::-1], longer[begin:][::-1])
    more = longer[begin : len(longer) - end]
    return (
        bool(more)
        and begin + end == len(shorter)
        and more[0] in _OPENING
        and _DENIALS.isdisjoint(more)
    )


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


# A memory is compared with each of its neighbours.
@lru_cache(maxsize=1024)
def _content(text: str) -> tuple[str, ...]:
    words = said_words(text).casefold().split()
    return tuple([_stem(word) for word in words if word not in _EMPTY])


def _telling(text: str) -> frozenset[str]:
    return frozenset(said_words(text).casefold().split()) & _TELLING


def _stem(word: str) -> str:
    """A word without the "s" of a plural or of the third person; "user's" is not "user"."""
    stem = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    return stem if len(stem) >= _SHORTEST_STEM and stem.isalpha() else word
