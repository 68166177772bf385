"""When two lines of one prompt say the same, so that one of them is enough."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable
from functools import lru_cache

from .figures import figures_in_one_form, is_in_figures
from .judging.reading.tables import words
from .judging.reading.units import WEEKDAYS
from .rendering import EVENT_LABEL, IDENTITY_LABEL, PATTERN_LABEL, Line, mark_of
from .said_lines import SaidLine

# Words without which a sentence says the same; of the first ones another must follow.
_ARTICLES = frozenset(["a", "an", "that", "the"])
_EMPTY = _ARTICLES | {"also", "really", "very"}
_LEFT_OUT = _EMPTY | {"cannot"}
# The kinds of which the same words say another thing: who it is about, when, how well it went.
_APART = (IDENTITY_LABEL, EVENT_LABEL, PATTERN_LABEL)
# Up to so many letters each capital of a word may carry meaning: "MB" and "Mb", "US" and "us".
_SHORT = 4
# What means another one by who says it, and what another thing by when and where it is said.
_OF_ITS_SPEAKER = words(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves"
)
_OF_ITS_DAY = WEEKDAYS.keys() | words(
    "he him his himself she her hers herself it its itself they them their theirs this that these "
    "those here there now then today tonight tomorrow yesterday just ago last next soon later "
    "recently currently already still"
)
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
    (articles, "that", "very", ...), short forms ("isn't"), the final s of a subject that opens the
    sentence or of its verb ("users prefer", "user prefers") and the way in which numbers, days and
    times are written. So a number, a name, a negation or any other word that differs makes another
    statement, as `text.tell_apart` asks.
    Besides, the same mark: both disputed or past, or neither. A fact, the team's knowledge, what
    is known of a user: the same words say the same whatever they are filed as. An event is one of
    its day, identity is about the agent itself, and a pattern tells how well it went.
    """
    return line.once("_saying", _saying)


# A message is compared more than once while a prompt is packed.
@lru_cache(maxsize=512)
def said_saying(said: SaidLine) -> Hashable:
    """The same for a message: equal to the `saying` of a plain memory in the same words.

    What means another thing by who says it ("I", "you") is equal to what the same speaker says
    alone, and what hangs on the moment ("it", "today") to what that one says on the same day.
    """
    found = {word.casefold() for word in _full_words(_plain(said.text))}
    speaker = said.speaker if found & (_OF_ITS_SPEAKER | _OF_ITS_DAY) else ""
    day = f"{said.said_at:%Y-%m-%d}" if found & _OF_ITS_DAY else ""
    return (f"{speaker} {day}".strip(), "", said_words(said.text))


@lru_cache(maxsize=512)
def said_likeness(said: SaidLine) -> Hashable:
    """Equal for two messages with an equal `said_saying`, as `likeness` is for memories."""
    return plain_words(said.text)


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
    kind = line.label if line.label.startswith(_APART) else ""
    # A null character, which no name of a speaker has.
    mark = mark_of(line.status, is_disputed=line.is_disputed)
    return (kind and f"\0{kind}", mark, said_words(line.content))


def said_words(text: str) -> str:
    """The words as they are compared."""
    full = _full_words(_plain(text))
    last = len(full) - 1
    said = [word for place, word in enumerate(full) if not _is_empty(word, place, last)]
    kept = figures_in_one_form(said)
    cased = [_cased(word) for word in kept]
    if kept and kept[0] == full[0]:
        cased[0] = _opening(kept[0])
    return " ".join(_agreeing(cased))


def _is_empty(word: str, place: int, last: int) -> bool:
    # A capital inside a sentence makes a name: "Block A" is not "a block".
    plain = word if place else word.casefold()
    return plain in _EMPTY and not (plain in _ARTICLES and place == last)


def _cased(word: str) -> str:
    """A word inside a sentence: its capitals count, but for those inside a long one."""
    if len(word) <= _SHORT or not word.isalpha() or word.isupper():
        return word
    return word.casefold() if word[0].islower() else word.capitalize()


def _opening(word: str) -> str:
    """The word that opens a sentence, of which the first letter's capital says nothing."""
    if len(word) > 1 and word.isupper():
        return word
    return _cased(word[0].casefold() + word[1:])


def _agreeing(words: list[str]) -> list[str]:
    """The words with the s of the first at the second: "users prefer", "user prefers".

    Elsewhere an s tells one from several, and that of a name one person from another.
    """
    if len(words) > 1 and words[0].islower() and words[0].isalpha() and _ends_in_s(words[0]):
        verb = words[1]
        if verb.islower() and verb.isalpha() and verb[-1] != "s":
            return [words[0][:-1], f"{verb}s", *words[2:]]
    return words


def _ends_in_s(word: str) -> bool:
    return word[-1] == "s" and len(word) > 3 and word[-2] not in "sui"


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
