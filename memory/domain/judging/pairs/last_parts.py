"""Two senses of "ended": something is over, or its last part is told ("ended in a swirl")."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.tables import words
from ..reading.tokens import stem

_ENDING = frozenset(stem(verb) for verb in words("end finish close conclude terminate"))
_INTO = words("in with on at by")
_ARTICLES = words("a an the its their his her one two three")
# How and when what goes on comes to be over, beside a date.
_OUTCOMES = words(
    "divorce separation compromise draw tie defeat victory settlement agreement verdict judgment "
    "failure disaster bankruptcy collapse death merger acquisition takeover sale launch release "
    "contract war season year month week day quarter semester term spring summer autumn winter "
    "morning evening night end beginning start arrival departure resignation vote election "
    "decision court tears success strike crisis pandemic deal truce argument quarrel row fight"
)
_TIMED = frozenset({"date", "weekday", "clock", "duration", "frequency"})


def tells_last_part(reading: Reading, verb: int) -> bool:
    """Whether the ending at `verb` says what the last part of a thing is, and not that it is over.

    "The number ended in 4471", "the list ended with the pears"; but "ended in June", "ended in a
    compromise".
    """
    tokens = reading.tokens
    if verb + 2 >= len(tokens) or tokens[verb].stem not in _ENDING:
        return False
    if tokens[verb + 1].lower not in _INTO:
        return False
    first = tokens[verb + 2]
    if any(q.start <= verb + 2 < q.end for q in reading.quantities if q.kind in _TIMED):
        return False
    behind = [token.lower for token in tokens[verb + 2 : verb + 7]]
    if not _OUTCOMES.isdisjoint(behind):
        return False
    return first.lower in _ARTICLES or any(c.isdigit() for c in first.text) or first.lower == "-"
