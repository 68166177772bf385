"""The words by which a statement says that something is otherwise from now on, or over."""

from __future__ import annotations

import re

from ..reading.frames import Reading, kept_by_reading, read
from ..reading.tables import words
from ..reading.tokens import stem
from .endings import endings_of
from .losses import loss_of
from .tellings import tells_event

_NOW = words("now nowadays instead anymore henceforth meanwhile")
_NOW_PHRASES: tuple[tuple[str, ...], ...] = (
    ("no", "longer"), ("from", "now", "on"), ("any", "more"), ("these", "days"), ("as", "of"),
    ("going", "forward"), ("from", "here", "on"), ("any", "longer"),
)  # fmt: skip
_TURNING = frozenset(
    stem(verb) for verb in words("switch change migrate convert transition swap shift defect")
)
MOVING = frozenset(stem(verb) for verb in words("move relocate transfer migrate"))
_TURNS = _TURNING | MOVING
_TARGETS = words("to into back over")
# Words of a subject that make no other thing of it.
FILLERS = words("now new current currently meanwhile back over no longer any more anymore")


@kept_by_reading
def change_word(reading: Reading) -> str:
    """The words by which a statement says that something is otherwise from now on, or ""."""
    tokens = reading.tokens
    lowers = [token.lower for token in tokens]
    for i, lower in enumerate(lowers):
        if lower in _NOW and not (lower == "instead" and lowers[i + 1 : i + 2] == ["of"]):
            return tokens[i].text
        for phrase in _NOW_PHRASES:
            if lower == phrase[0] and tuple(lowers[i : i + len(phrase)]) == phrase:
                return " ".join(phrase)
    return turning(reading)


def tells_change(text: str) -> bool:
    """Whether a statement says in so many words that something has changed or ended."""
    reading = read(text)
    return bool(change_word(reading) or endings_of(reading) or loss_of(reading))


def may_concern(*, new: str, text: str) -> bool:
    """Whether `text` has a word of the subject of `new`; without it no change of it is told.

    Asked of many, so that it takes nothing apart but `new`.
    """
    subject = _subject_words(read(new))
    return not subject or any(word in subject for word in _WORD.findall(text.casefold()))


_WORD = re.compile(r"\w+")


@kept_by_reading
def _subject_words(reading: Reading) -> frozenset[str]:
    return frozenset(
        part
        for word in reading.words
        if word.in_subject and word.text not in FILLERS
        for part in _WORD.findall(word.text.casefold())
    )


@kept_by_reading
def turning(reading: Reading) -> str:
    """ "Switched to", "has moved back to": the main verb, where it leads to a new value."""
    verb = reading.verb_at
    # What takes longest to find out comes last: this is asked of every neighbour.
    if verb >= len(reading.tokens) or not (
        reading.tokens[verb].stem in _TURNS or _goes_over(reading, verb)
    ):
        return ""
    if verb in reading.denied or not tells_event(reading):
        return ""
    after = [token.lower for token in reading.tokens[verb + 1 : verb + 6]]
    return reading.tokens[verb].text if not _TARGETS.isdisjoint(after) else ""


def _goes_over(reading: Reading, verb: int) -> bool:
    after = [token.lower for token in reading.tokens[verb + 1 : verb + 3]]
    return reading.tokens[verb].stem == _GO and after == ["over", "to"]


_GO = stem("go")
