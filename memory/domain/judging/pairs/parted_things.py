"""What a parted verb of change acts on: another thing than the other statement speaks of."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.slots import OBJECT
from ..reading.tables import words
from .common_ground import is_common
from .evidence import Evidence
from .nouns import head_noun
from .parted import parted_at


def parts_with_another(ev: Evidence) -> bool:
    """ "Runs the shop", "passed the parcel on": all that is common is who did it."""
    if ev.signals.kinds != {"phrasal"} or is_common(ev):
        return False
    acted = _parted_object(ev.new)
    return acted is not None and acted in ev.left_new


def _parted_object(reading: Reading) -> Word | None:
    """The noun that a parted verb acts on: "gave the tractor away", "the barn was torn down"."""
    found = parted_at(reading)
    if found is None:
        return None
    verb, particle = found
    if reading.tokens[verb - 1].lower in _PASSIVE:
        inside = [word for word in reading.words if word.position < verb]
        return head_noun(reading) or (inside[-1] if inside else None)
    between = [word for word in reading.words if verb < word.position < particle]
    behind = [word for word in reading.words if word.position > particle]
    slots = reading.slots
    acted = [w for w in behind if slots[w.position] in {OBJECT, slots[particle]}]
    return between[-1] if between else acted[-1] if acted else None


_PASSIVE = words("was were been be being")
