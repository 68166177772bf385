"""A statement as a standalone sentence in the third person, with its dates in full."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.domain.personal_names import possessive
from memory.domain.text.dates import Lean
from memory.domain.text.written_dates import WrittenDate, write_dates

from .grammar import Tense, request_of, tense_of
from .statements import Statement
from .third_person import as_wish, in_third_person

_MAX_CHARS = 280
_FEWEST_CHARS = 90
_FULL_NAME = r"(?P<full>[A-ZÀ-Þ][\w'’-]+(?:\s[A-ZÀ-Þ][\w'’-]+)*)"
_HERE = re.compile(_FULL_NAME + r"\s(?:here|speaking)\b(?:\s*,\s*|\s*$)")
_JOINT = re.compile(r"[,;]\s|\s(?:and|but|because|so)\s")
_MARKS_BEFORE_END = re.compile(r"[\s,;:–—-]+(?=[.!?]*$)")


@dataclass(frozen=True, slots=True)
class Worded:
    """The sentence that a memory holds, and the dates that it names."""

    text: str
    dates: tuple[WrittenDate, ...]


def worded(statement: Statement) -> Worded:
    """The statement as it would be stored."""
    text = _told(statement, statement.text, is_told=statement.is_told)
    text = _introduced(statement, text)
    found = [_dated(statement, text)]
    found += [_dated(statement, _told(statement, each, is_told=False)) for each in statement.joined]
    text = " ".join(_sentence(each.text) for each in found)
    return Worded(_bounded(text), tuple(date for each in found for date in each.dates))


def _told(statement: Statement, text: str, *, is_told: bool) -> str:
    if is_told:
        return text
    voices = statement.turn.voices
    request = request_of(text)
    return as_wish(text, request, voices) if request else in_third_person(text, voices)


def _introduced(statement: Statement, text: str) -> str:
    """ "Sarah is Sarah Whitcombe" and "Sarah Whitcombe here" as what they say of a name."""
    if not statement.is_persons or statement.is_told:
        return text
    name = statement.turn.voices.speaker
    first = re.escape(name.split()[0])
    match = re.match(rf"{re.escape(name)} is {_FULL_NAME}(?=\W|$)", text) or _HERE.match(text)
    if match is None or not re.search(rf"\b{first}\b", match["full"], re.IGNORECASE):
        return text
    rest = text[match.end() :].strip(" ,.")
    told = f"{possessive(name)} name is {match['full']}"
    return f"{told}, {rest}" if rest else told


def _dated(statement: Statement, text: str) -> Worded:
    lean: Lean = "past" if tense_of(text) is Tense.PAST else "future"
    found = write_dates(text, anchor=statement.turn.message.created_at, lean=lean)
    return Worded(found.text, found.dates)


def _sentence(text: str) -> str:
    text = _MARKS_BEFORE_END.sub("", " ".join(text.split()))
    text = text[:1].upper() + text[1:]
    return text if text[-1:] in {".", "!", "?"} else text + "."


def _bounded(text: str) -> str:
    """The text within a memory's length, cut where a clause ends."""
    if len(text) <= _MAX_CHARS:
        return text
    ends = [match.start() for match in _JOINT.finditer(text, 0, _MAX_CHARS - 1)]
    end = ends[-1] if ends and ends[-1] > _FEWEST_CHARS else text.rfind(" ", 0, _MAX_CHARS - 1)
    return text[:end].rstrip(" ,;:") + "."
