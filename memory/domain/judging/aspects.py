"""Two facts about one subject that concern different sides of it: a rule and a measurement, the
past and the present, a part and a case, two purposes, two objects, two dates."""

from __future__ import annotations

from datetime import datetime

from .change import Signals
from .compare import Comparison
from .frames import Reading, Word
from .quantifiers import Extent, extent_of, tells_share
from .slots import OBJECT, SUBJECT
from .tables import words
from .tellings import is_measured, is_norm, tells_event, verbs_of

_PURPOSES = frozenset({"for", "when", "during", "while"})
_PAST_STATES = words("was were had took cost lived worked used ran needed lasted belonged")
_PLACES = words("in on near inside outside")
_DATED = frozenset({"on", "in", "at", "from", "during", "before", "after", "for", "of"})


def other_aspect(
    e: Reading, n: Reading, c: Comparison, *, new: Signals, old: Signals, at: datetime
) -> str:
    """Why both can hold though they are about one subject, or "".

    `new` and `old` are the signals of either statement, `at` is when the existing one was told.
    """
    told_of_change = bool(new.change or new.weak or new.correction)
    norms = is_norm(e) != is_norm(n) and not new.change
    if c.other_values and norms and (is_measured(e) or is_measured(n)):
        return "a rule and a measurement"
    if not c.equal_values and not told_of_change:
        if _is_history(e, at) and not tells_event(n) and n.verb not in _PAST_STATES:
            return f"of {_year(e)}, not of today"
        if _is_history(n, at) and not tells_event(e) and e.verb not in _PAST_STATES:
            return f"of {_year(n)}, not of today"
    if old.past and not old.past.endswith("ago") and not new.past and not told_of_change:
        return f'told as past ("{old.past}")'
    if new.past and not old.past and not told_of_change:
        return f'told as past ("{new.past}")'
    if bool(_thought(old)) != bool(_thought(new)) and not told_of_change and not tells_event(n):
        return f'only considered ("{_thought(old) or _thought(new)}")'
    years = _years(e, n, c) if not told_of_change else ""
    if years:
        return f"different times: {years}"
    occasions = _occasions(e, n, c)
    if occasions:
        return f"different occasions: {occasions}"
    first, second = extent_of(e), extent_of(n)
    if {first, second} == {Extent.PART, Extent.PLAIN}:
        return "some of them, not all"
    told = tells_share(e) and tells_share(n)
    if (
        first is second is Extent.PART
        and not told
        and (c.left_new or c.left_existing or c.polarity)
    ):
        return "some of them and some of them"
    if is_norm(e) and not is_norm(n) and tells_event(n) and verbs_of(e, n, c)[0]:
        return "a rule and a case of it"
    purpose = _purposes(e, n, c)
    if purpose:
        return f"different purposes: {purpose}"
    sides = _sides(e, n, c)
    if sides:
        return f"different sides: {sides}"
    objects = _opposed_objects(e, n, c)
    if objects:
        return f"different objects: {objects}"
    return _other_day(e, n, c) or _opposed_places(e, n, c)


_PLANS = words(
    "might considering wishes hopes hope dreams dreaming love would whether maybe perhaps possibly "
    "wondering mulling plans planning intends aims wants thinking contemplating tempted someday day"
)


def _thought(signals: Signals) -> str:
    """What says that a thing is only planned or wished; an opinion is a fact of its own."""
    return signals.unreal if set(signals.unreal.lower().split()) & _PLANS else ""


_OCCASIONS = words("when whenever if on in at during for under with over inside outside while")
_SUBJECT_STARTS = words("the a an he she it they we you his her its their our user no all")


def _occasions(e: Reading, n: Reading, c: Comparison) -> str:
    """ "When it rains ...", "on dry days ...": what each opens with, where it differs."""
    first, second = _opening(e), _opening(n)
    mine = [w for w in c.left_existing if w.position < first]
    theirs = [w for w in c.left_new if w.position < second]
    return f"{mine[-1].text} / {theirs[-1].text}" if mine and theirs else ""


def _opening(reading: Reading) -> int:
    """The end of an opening phrase of place, time or condition, or 0."""
    tokens = reading.tokens
    if not tokens or tokens[0].lower not in _OCCASIONS:
        return 0
    for i in range(2, min(len(tokens), 9)):
        if tokens[i].separator or (i > 2 and tokens[i].lower in _SUBJECT_STARTS):
            return i
        if i == 2 and tokens[1].lower not in _SUBJECT_STARTS and tokens[i].lower in _SUBJECT_STARTS:
            return i
    return 0


def _year(reading: Reading) -> int:
    """The latest year a statement names, or 0."""
    return max((q.parts[0] for q in reading.quantities if q.kind == "date"), default=0)


def _is_history(reading: Reading, at: datetime) -> bool:
    """ "The museum was free in 2019": a state of a year gone by."""
    state = reading.verb_at == reading.head and reading.verb in _PAST_STATES
    return state and 0 < _year(reading) < at.year


_SIDES = words("north south east west northern southern eastern western left right upper lower")


def _sides(e: Reading, n: Reading, c: Comparison) -> str:
    """ "The east wing", "the west wing": opposite sides that are not all that differs."""
    for _, one, other in c.oppositions:
        if one not in _SIDES or other not in _SIDES:
            continue
        quoted = {one, other}
        rest_e = [w for w in c.left_existing if w.text not in quoted]
        rest_n = [w for w in c.left_new if w.text not in quoted]
        slots = {
            reading.slots[token]
            for reading in (e, n)
            for token, each in enumerate(reading.tokens)
            if each.lower in quoted
        }
        if slots == {SUBJECT} or (SUBJECT in slots and (rest_e or rest_n)):
            return f"{one} / {other}"
    return ""


_WAS = frozenset({"was", "were"})
# What happens to a thing once.
_ONCE = words(
    "born died built founded established opened married launched signed invented discovered "
    "written published released joined birth death wedding founding dates"
)


def _years(e: Reading, n: Reading, c: Comparison) -> str:
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


def _purposes(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Slack for chat", "Zoom for calls": what each is for, where they part in more than that."""
    for slot in _PURPOSES:
        mine = [w for w in c.left_existing if e.slots[w.position] == slot]
        theirs = [w for w in c.left_new if n.slots[w.position] == slot]
        if mine and theirs and verbs_of(e, n, c)[0]:
            return f"{mine[-1].text} / {theirs[-1].text}"
    return ""


def _opposed_objects(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Hates long meetings", "enjoys long rides": the nouns that opposite verbs act on."""
    if not c.oppositions or len(c.oppositions) > 1:
        return ""
    first, second = e.tokens[e.verb_at], n.tokens[n.verb_at]
    _, one, other = c.oppositions[0]
    if first.text not in one.split() or second.text not in other.split():
        return ""
    mine, theirs = _object_noun(e), _object_noun(n)
    if mine is None or theirs is None:
        return ""
    if mine.text in one.split() or theirs.text in other.split():
        return ""
    if mine in c.left_existing and theirs in c.left_new:
        return f"{mine.text} / {theirs.text}"
    return ""


def _object_noun(reading: Reading) -> Word | None:
    """The last content word of the object."""
    found = [word for word in reading.words if reading.slots[word.position] == OBJECT]
    return found[-1] if found else None


def _opposed_places(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Not in the building", "allowed on the terrace": opposite states of two places."""
    if c.attributes or not (c.oppositions or c.polarity):
        return ""
    quoted = {word for _, one, other in c.oppositions for word in (*one.split(), *other.split())}
    mine = [w for w in c.left_existing if e.slots[w.position] in _PLACES and w.text not in quoted]
    theirs = [w for w in c.left_new if n.slots[w.position] in _PLACES and w.text not in quoted]
    return f"different places: {mine[-1].text} / {theirs[-1].text}" if mine and theirs else ""


def _other_day(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Away on 12 March", "free on 13 March": states of two days."""
    if not (c.oppositions or c.polarity):
        return ""
    for a, b in c.other_values:
        if {a.kind, b.kind} <= {"date", "weekday"}:
            before = e.tokens[a.start - 1].lower if a.start else ""
            after = n.tokens[b.start - 1].lower if b.start else ""
            if before in _DATED and after in _DATED:
                return f"different days: {a.text} / {b.text}"
    return ""
