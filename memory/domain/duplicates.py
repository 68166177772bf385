"""When two lines of one prompt say the same, so that one of them is enough."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable

from .rendering import Line

# Words without which a sentence says the same.
_EMPTY = frozenset(["a", "also", "an", "just", "really", "simply", "that", "the", "very"])
_PUNCTUATION = ".,;:!?\"'()[]{}“”‘’«»¿¡…"


def saying(line: Line) -> Hashable:
    """Equal for two lines that say the same: the rule by which a prompt shows a statement once.

    The same words in the same order, but for the case of the first, punctuation, empty words
    (articles, "that", "very", ...) and a final s ("prefers", "prefer"). So a number, a name, a
    negation or any other word that differs makes another statement, as `text.tell_apart` asks.
    Besides, the same label, for an event with its day, and both disputed or neither. Two copies of
    a fact, the team's and an agent's own, differ in nothing but their audience.
    """
    return line.once("_saying", _saying)


def _saying(line: Line) -> Hashable:
    # A fact that an agent noted for itself is the same fact.
    label = line.label.replace("NOTE", "FACT")
    return (label, line.is_disputed, _words(line.content))


def _words(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    words = []
    for place, word in enumerate(text.split()):
        bare = word.strip(_PUNCTUATION) or word
        folded = bare.casefold()
        if folded in _EMPTY:
            continue
        if folded[-1] == "s" and len(folded) > 3 and folded[-2] not in "sui":
            folded = folded[:-1]
        # A capital inside a sentence makes a name: "Polish" is not "polish".
        words.append(folded if place == 0 or bare[0].islower() else folded.capitalize())
    return " ".join(words)
