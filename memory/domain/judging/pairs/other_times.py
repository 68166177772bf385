"""What two statements tell of two times: a year gone by, another year's figure, another event."""

from __future__ import annotations

from datetime import datetime

from ..reading.frames import Reading
from ..reading.tables import words
from .compare import Comparison
from .tellings import tells_event, verbs_of

_PAST_STATES = words("was were had took cost lived worked used ran needed lasted belonged")
_DATED = frozenset({"on", "in", "at", "from", "during", "before", "after", "for", "of"})


def other_time(e: Reading, n: Reading, c: Comparison, *, is_changed: bool, at: datetime) -> str:
    """The year of which one of the two was so, where the other tells of today, or "".

    `at` is when the existing one was told; what is told as a change is of today.
    """
    if c.equal_values or is_changed:
        return ""
    for past, now in ((e, n), (n, e)):
        if _is_history(past, at) and not tells_event(now) and now.verb not in _PAST_STATES:
            return f"of {_year(past)}, not of today"
    return ""


def _year(reading: Reading) -> int:
    """The latest year a statement names, or 0."""
    return max((q.parts[0] for q in reading.quantities if q.kind == "date"), default=0)


def _is_history(reading: Reading, at: datetime) -> bool:
    """ "The museum was free in 2019": a state of a year gone by."""
    state = reading.verb_at == reading.head and reading.verb in _PAST_STATES
    return state and 0 < _year(reading) < at.year


_WAS = frozenset({"was", "were"})
# What happens to a thing once.
_ONCE = words(
    "born died built founded established opened married launched signed invented discovered "
    "written published released joined birth death wedding founding dates"
)


def other_years(e: Reading, n: Reading, c: Comparison) -> str:
    """ "3 tonnes in 2024", "5 tonnes in 2025": other figures of other times."""
    dates = [(a, b) for a, b in c.other_values if a.kind == b.kind == "date"]
    if len(dates) == len(c.other_values):
        happened = (tells_event(e) or e.verb in _WAS) and (tells_event(n) or n.verb in _WAS)
        apart = any(w.position != e.verb_at for w in c.left_existing)
        apart = apart and any(w.position != n.verb_at for w in c.left_new)
        if not (happened and apart) or not _ONCE.isdisjoint(e.lowers | n.lowers):
            return ""
    for a, b in dates:
        before = e.tokens[a.start - 1].lower if a.start else ""
        after = n.tokens[b.start - 1].lower if b.start else ""
        if before in _DATED and after in _DATED:
            return f"{a.text} / {b.text}"
    return ""


def two_events(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Built in 1931", "renovated in 2008": what happened when, of two things that happened."""
    dated = bool(c.other_values) and all(a.kind == b.kind == "date" for a, b in c.other_values)
    if not dated or not (tells_event(e) and tells_event(n)) or c.oppositions:
        return ""
    if not verbs_of(e, n, c)[1]:
        return ""
    return f"{e.tokens[e.verb_at].text} / {n.tokens[n.verb_at].text}"
