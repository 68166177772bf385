"""What cannot be undone: where somebody was born, a mother tongue, a degree."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.slots import SUBJECT
from ..reading.tables import words
from .tellings import tells_event

_HELD = words("is are was has have had")
_SPOKEN = words("language tongue speaker")
_LASTING = words("tongue birthplace born birthday graduated degree diploma exams doctorate")


def is_lasting(reading: Reading) -> bool:
    """Whether what is told cannot be undone: a mother tongue, a degree, an exam passed."""
    if reading.negative or (reading.verb not in _HELD and not tells_event(reading)):
        return False
    return any(_is_lasting_word(reading, i) for i in range(len(reading.tokens)))


def _is_lasting_word(reading: Reading, place: int) -> bool:
    """Whether the word there is the lasting thing, and no kind of another: "diploma thesis"."""
    lower = reading.tokens[place].lower
    behind = reading.tokens[place + 1].lower if place + 1 < len(reading.tokens) else ""
    if lower == "native":
        return behind in _SPOKEN and not _goes_on(reading, place + 1)
    if lower == "birthday" and reading.slots[place] == SUBJECT:
        # The day is lasting, and the feast of that name is not.
        dated = any(each.kind == "date" for each in reading.quantities)
        return dated and reading.verb_at == reading.head and not _goes_on(reading, place)
    return lower in _LASTING and not (place != reading.verb_at and _goes_on(reading, place))


def _goes_on(reading: Reading, place: int) -> bool:
    """Whether the noun group goes on behind the word there."""
    return any(
        word.position == place + 1 and reading.slots[word.position] == reading.slots[place]
        for word in reading.words
    )
