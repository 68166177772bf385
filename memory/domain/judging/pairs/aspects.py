"""Two facts about one subject that concern different sides of it: a rule and a measurement, the
past and the present, a part and a case, two purposes, two objects, two dates."""

from __future__ import annotations

from datetime import datetime

from ..reading.frames import Reading
from ..reading.slots import OBJECT, SUBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .change import Signals
from .compare import Comparison
from .endings import endings_of
from .opposed import opposed_elsewhere
from .other_times import other_time, other_years, two_events
from .quantifiers import Extent, extent_of, tells_share
from .subjects import subject_names
from .tellings import is_attitude, is_measured, is_norm, tells_event, verbs_of

_PURPOSES = frozenset({"for", "when", "during", "while"})


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
    if c.other_values and norms and _is_case(e, n, c):
        return "a rule and a case of it"
    gone = other_time(e, n, c, is_changed=told_of_change, at=at)
    if gone:
        return gone
    if old.past and not old.past.endswith("ago") and not new.past and not told_of_change:
        return f'told as past ("{old.past}")'
    if new.past and not old.past and not told_of_change:
        return f'told as past ("{new.past}")'
    if bool(_thought(old)) != bool(_thought(new)) and not told_of_change and not tells_event(n):
        return f'only considered ("{_thought(old) or _thought(new)}")'
    planned = "" if told_of_change else _planned(e, n)
    if planned:
        return f'planned, and not yet so ("{planned}")'
    years = other_years(e, n, c) if not told_of_change else ""
    if years:
        return f"different times: {years}"
    occasions = _occasions(e, n, c)
    if occasions:
        return f"different occasions: {occasions}"
    first, second = extent_of(e), extent_of(n)
    if {first, second} == {Extent.PART, Extent.PLAIN} and not _takes_from(e, n):
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
    if is_attitude(e) and tells_event(n) and not (c.oppositions or c.polarity or told_of_change):
        return "what one likes, and a deed"
    turned = _turned_to_name(e, n, c)
    if turned:
        return f"a change of something else: {turned}"
    if new.kinds == {"now"}:
        side = _other_side(e, n, c)
        if side:
            return f"different sides: {side}"
    over = _other_over(e, n, c)
    if over:
        return f"different objects: {over}"
    events = two_events(e, n, c)
    if events:
        return f"different events: {events}"
    cases = _cases(e, n, c)
    if cases:
        return f"different cases: {cases}"
    return opposed_elsewhere(e, n, c)


def _takes_from(e: Reading, n: Reading) -> bool:
    """ "The farm employs nine pickers", "a third of the pickers went home": fewer are left."""
    parted = tells_share(n) and tells_event(n) and not tells_event(e)
    return parted and any(each.kind == "count" for each in e.quantities)


_FORESEEN = words(
    "will shall plan plans planned planning foresee foresees roadmap intends aims expected "
    "schedule scheduled announced promised next upcoming soon by due goal target"
)


def _planned(e: Reading, n: Reading) -> str:
    """ "A port is planned for May", "there is no port yet": the word that says not yet."""
    for plan, state in ((e, n), (n, e)):
        lowers = [token.lower for token in state.tokens]
        if "yet" in lowers and state.negative and not _FORESEEN.isdisjoint(plan.lowers):
            return "yet"
    return ""


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


_EMPLOYED = frozenset(stem(verb) for verb in ("work", "employ"))


def _purposes(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Slack for chat", "Zoom for calls": what each is for, where they part in more than that."""
    verb = e.tokens[e.verb_at : e.verb_at + 1]
    if verb and verb[0].stem in _EMPLOYED:
        # "Works for X", "works for Y": whom one works for.
        return ""
    for slot in _PURPOSES:
        mine = [w for w in c.left_existing if e.slots[w.position] == slot]
        theirs = [w for w in c.left_new if n.slots[w.position] == slot]
        if mine and theirs and verbs_of(e, n, c)[0]:
            return f"{mine[-1].text} / {theirs[-1].text}"
    return ""


_POSTS = frozenset({"at", "for", "by"})
_WAYS = frozenset({"to", "in", "at", "by"})
_CIRCUMSTANCES = frozenset({"on", "from", "with", "during", "until", "after", "before"})


def _other_side(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Works at X", "now works on weekends": for whom, and when or how."""
    if c.oppositions or c.contrasts or not verbs_of(e, n, c)[0]:
        return ""
    mine = [w for w in c.left_existing if not w.in_subject and w.is_name]
    theirs = [w for w in c.left_new if not w.in_subject and w.text != "now"]
    slots_e = {e.slots[w.position] for w in mine}
    slots_n = {n.slots[w.position] for w in theirs}
    plain = bool(theirs) and not any(w.is_name for w in theirs)
    if subject_names(e) and plain and slots_e == {OBJECT} and slots_n <= _WAYS | _CIRCUMSTANCES:
        # "Drives a Saab", "drives to work now".
        return f"{mine[-1].text} / {theirs[-1].text}"
    if not mine or not slots_e <= _POSTS or not slots_n <= _CIRCUMSTANCES:
        return ""
    when = theirs[-1].text if theirs else "another side of it"
    return f"{mine[-1].text} / {when}"


_TURNING = frozenset(stem(verb) for verb in ("switch", "migrate", "convert", "defect"))
_HAVING = words("has have is are")


def _turned_to_name(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Has a linear roadmap", "switched to Linear": what is left is no name of the kind."""
    verb = n.tokens[n.verb_at : n.verb_at + 1]
    if not verb or verb[0].stem not in _TURNING or e.verb not in _HAVING or e.verb_at != e.head:
        return ""
    if c.contrasts or c.oppositions or c.attributes or c.other_values or "from" in n.slots:
        return ""
    if not all(a.in_subject and b.in_subject for a, b in c.shared):
        return ""
    mine = [w for w in c.left_existing if not w.in_subject]
    theirs = [w for w in c.left_new if w.position != n.verb_at and n.slots[w.position] == "to"]
    if not mine or not theirs or any(w.is_name for w in mine):
        return ""
    return theirs[0].text if all(w.is_name for w in theirs) else ""


def _other_over(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Sells postcards", "stopped selling posters": something else of the kind is over."""
    states = [span for span, is_state in endings_of(n) if is_state]
    verb = next((b.position for a, b in c.shared if a.position == e.verb_at), -1)
    if not any(verb in span for span in states) or c.oppositions or c.contrasts:
        return ""
    mine = [w for w in c.left_existing if e.slots[w.position] == OBJECT]
    theirs = [w for w in c.left_new if w.position > verb and n.slots[w.position] in _OBJECTS]
    return f"{mine[-1].text} / {theirs[-1].text}" if mine and theirs else ""


_OBJECTS = frozenset({OBJECT, "to"})


def _is_case(e: Reading, n: Reading, c: Comparison) -> bool:
    """ "Passwords must have 14 characters", "the admin's password has 20": one of those meant."""
    rule, left = (e, c.left_new) if is_norm(e) else (n, c.left_existing)
    case = n if rule is e else e
    return any(
        w.in_subject and w.position + 1 < case.head and case.tokens[w.position + 1].lower == "'s"
        for w in left
    )


def _cases(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Up to 5 kg costs 7 euros", "up to 10 kg costs 12 euros": a figure says which is meant."""
    if len(c.other_values) < 2:
        return ""
    inside = [e.slots[a.start] == SUBJECT == n.slots[b.start] for a, b in c.other_values]
    if any(inside) and not all(inside):
        a, b = c.other_values[inside.index(True)]
        return f"{a.text} / {b.text}"
    return ""
