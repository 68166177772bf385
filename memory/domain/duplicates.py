"""When two lines of one prompt say the same, so that one of them is enough."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable

from .figures import figures_in_one_form, is_in_figures
from .rendering import Line

# Words without which a sentence says the same.
_EMPTY = frozenset(["a", "also", "an", "just", "really", "simply", "that", "the", "very"])
_LEFT_OUT = _EMPTY | {"cannot"}
_PUNCTUATION = ".,;:!?\"'()[]{}“”‘’«»¿¡…"
_SHORT_FORMS = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
}
# Letters up to the last that is no s, in words of more than three of them.
_PLAIN_WORD = re.compile(r"(?<![\w-])(?<!\w')[a-z]{3,}[a-rt-z](?=s*(?![\w-])(?!'\w))")
_SHORT_ENDS = {"n't": "not", "'re": "are", "'ve": "have", "'ll": "will", "'m": "am"}


def saying(line: Line) -> Hashable:
    """Equal for two lines that say the same: the rule by which a prompt shows a statement once.

    The same words in the same order, but for the case of the first, punctuation, empty words
    (articles, "that", "very", ...), short forms ("isn't"), a final s that moves from one word to
    another ("users prefer", "user prefers") and the way in which numbers, days and times are
    written. So a number, a name, a negation or any other word that differs makes another
    statement, as `text.tell_apart` asks.
    Besides, the same label, for an event with its day, and both disputed or neither. Two copies of
    a fact, the team's and an agent's own, differ in nothing but their audience.
    """
    return line.once("_saying", _saying)


def likeness(line: Line) -> Hashable:
    """Equal for two lines with an equal `saying`, and for few others; found in a third of the time.

    Most lines of a prompt are like no other, which this tells: their words differ.
    """
    return line.once("_likeness", lambda line: plain_words(line.content))


def plain_words(text: str) -> tuple[str, ...]:
    """Words of four letters and more in their order, but for those of numbers, days and times.

    Equal where `said_words` are.
    """
    plain = _plain(text)
    if "'" in plain:
        plain = " ".join(_full_words(plain))
    found = _PLAIN_WORD.findall(plain.casefold())
    return tuple([word for word in found if word not in _LEFT_OUT and not is_in_figures(word)])


def _saying(line: Line) -> Hashable:
    # A fact that an agent noted for itself is the same fact.
    label = line.label.replace("NOTE", "FACT")
    return (label, line.is_disputed, said_words(line.content))


def said_words(text: str) -> tuple[str, int]:
    """The words as they are compared, and how many had a final s."""
    full = _full_words(_plain(text))
    kept = figures_in_one_form([word for word in full if word.casefold() not in _EMPTY])
    words, endings = [], 0
    for place, word in enumerate(kept):
        folded = word.casefold()
        if folded[-1] == "s" and len(folded) > 3 and folded[-2] not in "sui":
            folded = folded[:-1]
            endings += 1
        # A capital inside a sentence makes a name: "Polish" is not "polish".
        is_first = place == 0 and word == full[0]
        words.append(folded if is_first or word[0].islower() else folded.capitalize())
    return " ".join(words), endings


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")


def _full_words(text: str) -> list[str]:
    bare = [word.strip(_PUNCTUATION) or word for word in text.split()]
    return [part for word in bare for part in _in_full(word)]


def _in_full(word: str) -> tuple[str, ...]:
    """A short form as the words it stands for; 's and 'd may be of several."""
    if "'" not in word and word != "cannot":
        return (word,)
    lower = word.casefold()
    if lower in _SHORT_FORMS:
        return _SHORT_FORMS[lower]
    for end, stands_for in _SHORT_ENDS.items():
        if lower.endswith(end) and len(lower) > len(end):
            return word[: -len(end)], stands_for
    return (word,)
