"""Two sides of one thing that only look opposed: two doings, a part with a quality, an occasion."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.slots import OBJECT, is_copular
from ..reading.tables import words
from .evidence import Evidence
from .tellings import left_slots, tells_event, verbs_of
from .values import BROAD, is_person

_TIMED = frozenset({"clock", "date", "weekday"})
_OCCASIONS = words("when whenever while if unless")


def other_side(ev: Evidence) -> str:
    """Why the two speak of two sides of what they are about, or ""."""
    return next((found for side in _SIDES if (found := side(ev))), "")


def _two_doings(ev: Evidence) -> str:
    """ "Gets up at 6", "goes to bed at 10": what one does at two times."""
    c, e, n = ev.comparison, ev.existing, ev.new
    if not c.other_values or c.oppositions or c.polarity or ev.ending or ev.clash:
        return ""
    if any(not {a.kind, b.kind} <= _TIMED for a, b in c.other_values):
        return ""
    if tells_event(e) or tells_event(n) or not (is_person(e) and is_person(n)):
        return ""
    if is_copular(e.tokens, e.verb_at) or is_copular(n.tokens, n.verb_at):
        return ""
    if not verbs_of(e, n, c)[1] or any(not (a.in_subject and b.in_subject) for a, b in c.shared):
        return ""
    return f"two doings: {e.tokens[e.verb_at].text} / {n.tokens[n.verb_at].text}"


def _quality_of_a_part(ev: Evidence) -> str:
    """ "Costs 9 euros", "has a free trial": of a thing the other does not know."""
    c = ev.comparison
    if len(c.oppositions) != 1 or c.polarity:
        return ""
    _, one, other = c.oppositions[0]
    for reading, quote, facing, against in (
        (ev.existing, one, ev.new, other),
        (ev.new, other, ev.existing, one),
    ):
        lost = {word.position: word.text for word in (*c.left_existing, *c.left_new)}
        if any(t.lower == against and i + 1 in _nouns(facing) for i, t in enumerate(facing.tokens)):
            # "A petrol engine", "an electric motor".
            continue
        for i in _attributes(reading):
            if reading.tokens[i].lower == quote and i + 1 in lost:
                return f"of a part of it: {quote} {lost[i + 1]}"
    return ""


def _nouns(reading: Reading) -> set[int]:
    return {word.position for word in reading.words if not word.in_subject}


@kept_by_reading
def _attributes(reading: Reading) -> tuple[int, ...]:
    """Where an adjective stands in what somebody or something is said to have."""
    if reading.verb not in _HAVING or reading.verb_at != reading.head:
        return ()
    return tuple(
        i
        for i, token in enumerate(reading.tokens)
        if reading.slots[i] == OBJECT and i and token.lower not in _ARTICLES
        and reading.tokens[i - 1].lower in _ARTICLES
    )  # fmt: skip


_HAVING = words("has have offers offer includes include provides provide")
_ARTICLES = words("a an")


def _on_occasion(ev: Evidence) -> str:
    """ "Works offline", "syncs every 10 minutes when online": it is so at times only."""
    c = ev.comparison
    if len(c.oppositions) != 1 or c.polarity or verbs_of(ev.existing, ev.new, c)[0]:
        return ""
    _, one, other = c.oppositions[0]
    for reading, quote in ((ev.existing, one), (ev.new, other)):
        before = [token.lower for token in reading.tokens]
        if quote in before and before.index(quote) > 1:
            place = before.index(quote)
            if before[place - 1] in _OCCASIONS and place > reading.verb_at:
                return f"on some occasions: {before[place - 1]} {quote}"
    return ""


_OFFERED = words("available offered sold usable supported published")
_SITES = words("in on at for from through via")


def _offered_apart(ev: Evidence) -> str:
    """ "Is available in German", "is available on Android": how, and where."""
    c = ev.comparison
    if c.other_values or c.oppositions or c.polarity or ev.signals.change or ev.signals.correction:
        return ""
    met = any(a.text in _OFFERED and a.text == b.text for a, b in c.shared)
    first = {ev.existing.slots[word.position] for word in ev.left_existing}
    second = {ev.new.slots[word.position] for word in ev.left_new}
    if not (met and first and second and first | second <= _SITES) or first & second:
        return ""
    return f"in two respects: {min(first)} / {min(second)}"


_WITH = words("in with by object")


def _by_two_tools(ev: Evidence) -> str:
    """ "Is written in Go", "is deployed with Helm": for two doings each its own."""
    c = ev.comparison
    if c.attribute_name() not in BROAD or c.contrasts or c.other_values or c.oppositions:
        return ""
    if ev.signals.change or not verbs_of(ev.existing, ev.new, c)[1] or c.polarity:
        return ""
    slots = left_slots(ev.existing, ev.left_existing) | left_slots(ev.new, ev.left_new)
    if not (ev.left_existing and ev.left_new) or c.equal_values or not slots <= _WITH:
        return ""
    return "two tools for two doings"


_SIDES = (_two_doings, _quality_of_a_part, _on_occasion, _offered_apart, _by_two_tools)
