"""Since when something is so, beside the day that another thing of it falls on.

"The beta ships on 18 March", "since 12 March the beta hangs": the day on which one begins is no
other value of the day on which the other takes place.
"""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.quantities import Quantity
from ..reading.slots import SUBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .clauses import clauses_of
from .evidence import Evidence
from .tellings import tells_event, verbs_of

_TIMES = frozenset({"date", "weekday", "clock"})
_DAYS = frozenset({"date", "weekday"})
_RELEASES = frozenset({"version", "number", "label", "count"})
_REACH, _OPENING = 5, 3
# What is told of a thing by these is told of its time.
_OF_ITS_TIME = frozenset(
    stem(verb)
    for verb in words(
        "cancel call disband scrap postpone abolish discontinue dissolve shelve defer move push "
        "shift delay bring pull put reschedule set fix change advance slip extend shorten end "
        "finish ship launch release open start begin happen take hold expire close drop plan "
        "schedule announce fall run last stop suspend pause halt freeze renew cut terminate "
        "arrive leave depart go come do meet pay deliver publish complete pass reach book"
    )
)
_OF_THE_TIME = words(
    "over off hold late early delayed cancelled canceled postponed paused suspended halted frozen "
    "stalled closed shut ended finished live out available ready done due scheduled planned "
    "overdue earlier later sooner now valid out broken longer anymore more"
)


def began_beside(ev: Evidence) -> str:
    """The day since which something else of the same thing is so, or ""."""
    c, e, n = ev.comparison, ev.existing, ev.new
    if c.oppositions or c.polarity or c.attributes or ev.ending or not verbs_of(e, n, c)[1]:
        return ""
    for day, state in ((e, n), (n, e)):
        since = _begun(state)
        if since is None or not _tells_when(day) or _tells_of_its_time(state):
            continue
        met = [pair for pair in c.other_values if _is_told(day, pair[state is e])]
        same = [pair for pair in c.equal_values if _is_told(day, pair[state is e])]
        if all(_is_of_beginning(state, pair[state is n]) for pair in met) and all(
            _is_since(state, pair[state is n]) for pair in same
        ):
            return f"since {since.text} something else is so"
    return ""


def _is_told(reading: Reading, value: Quantity) -> bool:
    return reading.slots[value.start] != SUBJECT


@kept_by_reading
def _begun(reading: Reading) -> Quantity | None:
    """The day or the release since which it is so, or the day that opens the statement."""
    return next(
        (
            each
            for each in reading.quantities
            if each.kind in _DAYS | _RELEASES and _is_of_beginning(reading, each)
        ),
        None,
    )


def _is_of_beginning(reading: Reading, value: Quantity) -> bool:
    """Whether a value says since when, or stands in the phrase of time that opens it."""
    opens = value.kind in _DAYS and value.start < min(reading.start, _OPENING)
    return opens or _is_since(reading, value)


def _is_since(reading: Reading, value: Quantity) -> bool:
    before = reading.tokens[max(0, value.start - _REACH) : value.start]
    return any(token.lower == "since" for token in before)


@kept_by_reading
def _tells_when(reading: Reading) -> bool:
    """Whether all that a statement tells of its subject is when: "ships on 18 March"."""
    timed = any(
        each.kind in _TIMES and each.start >= reading.verb_at for each in reading.quantities
    )
    others = [
        word
        for word in reading.words
        if not word.in_subject and word.position > reading.verb_at and word.text not in _OF_THE_TIME
    ]
    return timed and not others and _begun(reading) is None


@kept_by_reading
def _tells_of_its_time(reading: Reading) -> bool:
    """Whether the statement tells of the time of its subject: that it moved, or is off."""
    verb = reading.tokens[reading.verb_at : reading.verb_at + 1]
    if not verb or verb[0].stem in _OF_ITS_TIME:
        return True
    if len(clauses_of(reading)) > 1 and any(
        token.stem in _OF_ITS_TIME for token in reading.tokens[reading.verb_at :]
    ):
        return True
    behind = {token.lower for token in reading.tokens[reading.verb_at :]}
    return not tells_event(reading) and not _OF_THE_TIME.isdisjoint(behind)
