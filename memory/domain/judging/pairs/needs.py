"""One needs a thing, the other does without: "works without batteries", "only with batteries"."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.tables import words
from ..reading.tokens import stem
from .evidence import Evidence
from .tellings import tells_event

_WORKING = frozenset(
    stem(verb) for verb in words("work run function start open light go play turn operate boot")
)
_NEEDING = frozenset(stem(verb) for verb in words("need require"))


def opposed_needs(ev: Evidence) -> str:
    """What one statement says is needed and the other is not, of one thing, or ""."""
    c, e, n = ev.comparison, ev.existing, ev.new
    if ev.other_names or ev.other_person or ev.signals.change or ev.signals.unreal:
        return ""
    subjects = [word for word in (*c.left_existing, *c.left_new) if word.in_subject]
    if subjects or c.other_values or not any(a.in_subject and b.in_subject for a, b in c.shared):
        return ""
    mine, theirs = _needs(e), _needs(n)
    for a, b in c.shared:
        first, second = mine.get(a.position), theirs.get(b.position)
        if first is not None and second is not None and first != second:
            return f"one needs it, the other does without: {a.text}"
    return ""


@kept_by_reading
def _needs(reading: Reading) -> dict[int, bool]:
    """Where the things stand that it takes to work (True) or that it works without (False)."""
    verb = reading.verb_at
    if verb >= len(reading.tokens) or tells_event(reading):
        return {}
    lowers = [token.lower for token in reading.tokens]
    # "Does not open unless" is read as denying nothing.
    denied = not _DENYING.isdisjoint(lowers[reading.head : verb])
    root = reading.tokens[verb].stem
    if root in _NEEDING:
        link, needed = verb, not denied
    elif root not in _WORKING:
        return {}
    elif "unless" in lowers[verb:]:
        link, needed = lowers.index("unless", verb), True
        if not denied:
            return {}
    elif "without" in lowers[verb:]:
        link, needed = lowers.index("without", verb), denied
    else:
        return {}
    end = next((i for i in range(link + 1, len(lowers)) if lowers[i] in _NEXT), len(lowers))
    return {word.position: needed for word in reading.words if link < word.position < end}


_DENYING = words("not never n't no hardly")
_NEXT = words("to , ; . when if for and but")
