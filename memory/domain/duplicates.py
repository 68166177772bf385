"""When two lines of one prompt say the same, so that one of them is enough."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable
from datetime import UTC, datetime
from functools import lru_cache

from memory.domain.text.calendar import MONTHS, PARTS_OF_DAY, WEEKDAYS
from memory.domain.text.dates import Grain, read_dates
from memory.domain.text.numbers import ONES, ORDINALS, TENS, number_value, ordinal_value
from memory.domain.text.stop_words import word_set

from .rendering import EVENT_LABEL, IDENTITY_LABEL, PATTERN_LABEL, Line, SaidLine, mark_of

# The kinds of which the same words say another thing: who it is about, when, how well it went.
_APART = (IDENTITY_LABEL, EVENT_LABEL, PATTERN_LABEL)
_ARTICLES = word_set("a an the that")
_EMPTY = _ARTICLES | {"also", "really", "very"}
# What means another thing by who says it, and by when and where it is said.
_OF_ITS_SPEAKER = word_set(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves"
)
_OF_ITS_DAY = WEEKDAYS.keys() | word_set(
    """
    he him his himself she her hers herself it its itself they them their theirs this that these
    those here there now then today tonight tomorrow yesterday just ago last next soon later
    recently currently already still
    """
)
# Up to so many letters each capital of a word may carry meaning: "MB" and "Mb", "US" and "us".
_SHORT = 4
_PUNCTUATION = ".,;:!?\"'()[]{}“”‘’«»¿¡…"
_SHORT_FORMS = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not",
}  # fmt: skip
_SHORT_ENDS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'m": " am"}
_AMOUNT = re.compile(
    r"(?P<sign>[$€])?(?P<number>\d{1,3}(?:,\d{3}){1,4}|\d[\d.]*)"
    r"(?P<unit>%|kg|g|mg|km|m|cm|mm|l|ml|h|ms|s|[kKMGT][bB]|[kM]?W|px)?"
)
_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)")
_UNITS = {"$": "dollars", "€": "euros", "%": "percent"}
_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_DATES_LEFT = re.compile(r"\d|\bnoon\b|\bmidnight\b", re.IGNORECASE)
_PLAIN_WORD = re.compile(r"[a-z]{4,}")
# Words that may be written otherwise in what says the same.
_VARIABLE = frozenset(
    {*_EMPTY, *MONTHS, *WEEKDAYS, *PARTS_OF_DAY, *ONES, *TENS, *ORDINALS, *_UNITS.values()}
) | word_set("have will shall cannot clock")


def saying(line: Line) -> Hashable:
    """Equal for two lines that say the same: the rule by which a prompt shows a statement once.

    The same words in the same order, but for the case of the first, punctuation, empty words
    (articles, "that", "very", ...), short forms ("isn't") and the way in which numbers, days and
    times are written. Any other word that differs, such as a name, a number or a negation, makes
    another statement.
    Besides, the same mark: both disputed or past, or neither. A fact, the team's knowledge, what
    is known of a user: the same words say the same whatever they are filed as. An event is one of
    its day, identity is about the agent itself, and a pattern tells how well it went.
    """
    kind = line.label if line.label.startswith(_APART) else ""
    # A null character, which no name of a speaker has.
    mark = mark_of(line.status, is_disputed=line.is_disputed)
    return (kind and f"\0{kind}", mark, said_words(line.content))


def said_saying(said: SaidLine) -> Hashable:
    """The same for a message: equal to the `saying` of a plain memory in the same words.

    What means another thing by who says it ("I", "you") is equal to what the same speaker says
    alone, and what hangs on the moment ("it", "today") to what that one says on the same day.
    """
    found = set(_full_words(said.text.casefold()))
    speaker = said.speaker if found & (_OF_ITS_SPEAKER | _OF_ITS_DAY) else ""
    day = f"{said.said_at:%Y-%m-%d}" if found & _OF_ITS_DAY else ""
    return (f"{speaker} {day}".strip(), "", said_words(said.text))


# A text is compared more than once while a prompt is packed.
@lru_cache(maxsize=1024)
def plain_words(text: str) -> tuple[str, ...]:
    """Words of four letters and more in their order, but for those of numbers, days and times.

    Equal where `said_words` are, and for few others; found much sooner. Most lines of a prompt are
    like no other, which this tells.
    """
    plain = " ".join(_full_words(text)) if "'" in text or not text.isascii() else text
    return tuple([word for word in _PLAIN_WORD.findall(plain.casefold()) if word not in _VARIABLE])


@lru_cache(maxsize=1024)
def said_words(text: str) -> str:
    words = _full_words(_with_days(unicodedata.normalize("NFKC", text)))
    last = len(words) - 1
    said = [word for place, word in enumerate(words) if not _is_empty(word, place, last)]
    kept = [_amount(word) for word in said]
    cased = [_opening(word) if place == 0 else _cased(word) for place, word in enumerate(kept)]
    if said[:1] != words[:1] and kept:
        cased[0] = _cased(kept[0])
    return " ".join(
        word
        for word, following in zip(cased, [*cased[1:], ""], strict=False)
        # "On Friday": the day alone says the same.
        if word.casefold() != "on" or following.casefold() not in WEEKDAYS
    )


def _with_days(text: str) -> str:
    """The text with each day and time of day in one form; what is relative stays as it is."""
    if not _DATES_LEFT.search(text) and not any(month in text.casefold() for month in MONTHS):
        return text
    pieces, end = [], 0
    for found in read_dates(text, anchor=_ANY_DAY, lean="future"):
        is_time = found.grain <= Grain.HOUR and found.first.date() == _ANY_DAY.date()
        is_day = found.grain <= Grain.DAY and (found.yearless or not found.relative)
        if found.alternative or found.recurring or not (is_time or is_day):
            continue
        day = "" if is_time else f"{found.first:%m-%d}" if found.yearless else f"{found.first:%F}"
        hour = f"{found.first:%H:%M}" if found.grain <= Grain.HOUR else f"{found.last:%m-%d}"
        before = text[end : found.start]
        for word in ("on ", "On ", "the "):
            before = before.removesuffix(word)
        pieces += [before, f"\0{day}/{hour}"]
        end = found.end
    return "".join([*pieces, text[end:]])


def _full_words(text: str) -> list[str]:
    """The words without the punctuation around them, short forms in full."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")
    bare = (word.strip(_PUNCTUATION) or word for word in plain.split())
    return [part for word in bare for part in _in_full(word).split()]


def _in_full(word: str) -> str:
    """A short form as the words it stands for; 's and 'd may be of several."""
    lower = word.casefold()
    if lower in _SHORT_FORMS:
        return _SHORT_FORMS[lower]
    for end, full in _SHORT_ENDS.items():
        if lower.endswith(end) and len(lower) > len(end):
            return word[: -len(end)] + full
    return word


def _is_empty(word: str, place: int, last: int) -> bool:
    # A capital inside a sentence makes a name: "Block A" is not "a block".
    plain = word if place else word.casefold()
    return plain in _EMPTY and not (plain in _ARTICLES and place == last)


def _amount(word: str) -> str:
    """A number in digits, with its unit or sign as a word behind it; other words unchanged."""
    lower = word.casefold()
    match = _AMOUNT.fullmatch(word)
    if match:
        unit = match["sign"] or match["unit"] or ""
        number = match["number"].replace(",", "")
        return f"{number} {_UNITS.get(unit, unit)}".strip()
    place = _ORDINAL.fullmatch(lower)
    value = int(place[1]) if place else ordinal_value(lower)
    if value is not None:
        return f"{value}th"
    number_word = None if word.isdecimal() else number_value(lower)
    return _UNITS.get(word, word) if number_word is None else str(number_word)


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
