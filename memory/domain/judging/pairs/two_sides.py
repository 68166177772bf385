"""Two sides of one thing that only look opposed: two doings, a part with a quality, an occasion."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.slots import OBJECT, is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .evidence import Evidence
from .structure import governor
from .tellings import is_norm, left_slots, tells_event, verbs_of
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
    if tells_event(e) or tells_event(n) or not (_does(e) and _does(n)):
        return ""
    if is_copular(e.tokens, e.verb_at) or is_copular(n.tokens, n.verb_at):
        return ""
    if not verbs_of(e, n, c)[1] or any(not (a.in_subject and b.in_subject) for a, b in c.shared):
        return ""
    return f"two doings: {e.tokens[e.verb_at].text} / {n.tokens[n.verb_at].text}"


def _does(reading: Reading) -> bool:
    """Whether it tells what somebody does, or what a group does that not only takes place."""
    if is_person(reading):
        return True
    verb = reading.tokens[reading.verb_at : reading.verb_at + 1]
    return bool(verb) and verb[0].stem not in _TAKING_PLACE


# Of a thing these tell its time, whichever of them is used.
_TAKING_PLACE = frozenset(
    stem(verb)
    for verb in words(
        "take run happen occur begin start go leave depart come hold sit fall end finish last "
        "close open arrive expire repeat recur schedule set be air sail fly land launch release "
        "ship deploy refresh renew return"
    )
)


def _quality_of_a_part(ev: Evidence) -> str:
    """ "Costs 9 euros", "has a free trial": of a thing the other does not know."""
    c = ev.comparison
    if len(c.oppositions) != 1 or c.polarity or "only" in {*ev.existing.lowers, *ev.new.lowers}:
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


def _figure_of_a_part(ev: Evidence) -> str:
    """ "Lasts three hours", "there is a break of half an hour": how long a part of it is."""
    c = ev.comparison
    if len(c.other_values) != 1 or c.oppositions or c.polarity or ev.signals.change:
        return ""
    ((a, b),) = c.other_values
    if not a.kind == b.kind == "duration":
        return ""
    for reading, value, left in ((ev.existing, a, ev.left_existing), (ev.new, b, ev.left_new)):
        noun = governor(reading, value, left)
        if noun:
            return f"of a part of it: {noun}"
    return ""


_MEASURED = frozenset({"count", "duration", "length", "mass", "area", "volume", "temperature"})


def _two_measures(ev: Evidence) -> str:
    """ "Sixty people came to the reading", "the reading lasted an hour": of two dimensions."""
    c, e, n = ev.comparison, ev.existing, ev.new
    if c.other_values or c.equal_values or c.oppositions or c.polarity or ev.ending or ev.clash:
        return ""
    if len(e.quantities) != 1 or len(n.quantities) != 1 or ev.signals.change:
        return ""
    first, second = e.quantities[0], n.quantities[0]
    if first.kind == second.kind or not {first.kind, second.kind} <= _MEASURED:
        return ""
    return f"two dimensions: {first.text} / {second.text}" if verbs_of(e, n, c)[1] else ""


_ADMITTING = frozenset(stem(verb) for verb in words("support accept offer stock sell serve speak"))


def _admits_both(ev: Evidence) -> str:
    """ "Supports Python 3.10", "supports Python 3.12": one does not shut out the other."""
    c, e, n = ev.comparison, ev.existing, ev.new
    verb = e.tokens[e.verb_at : e.verb_at + 1]
    if not verb or verb[0].stem not in _ADMITTING or not verbs_of(e, n, c)[0]:
        return ""
    if c.oppositions or c.polarity or e.negative or n.negative or is_norm(e) or is_norm(n):
        return ""
    values = [value for pair in c.other_values for value in pair]
    if not values or any(value.kind not in _NAMING for value in values) or e.exclusive:
        return ""
    return "" if n.exclusive else f"one beside the other: {values[0].text} / {values[1].text}"


_NAMING = frozenset({"label", "version", "frequency_hz", "number"})


_SIDES = (
    _two_doings, _quality_of_a_part, _on_occasion, _offered_apart, _by_two_tools,
    _figure_of_a_part, _admits_both, _two_measures,
)  # fmt: skip
