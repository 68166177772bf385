"""One more of what somebody has or sees to several of: accounts, contracts, classes, cats."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.slots import OBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .evidence import Evidence
from .tellings import tells_event

_TAKING = frozenset(
    stem(verb)
    for verb in words("take join win acquire buy adopt inherit sign gain land get receive")
)
# Of what one sees to there may be several; where one is or belongs is one place, and of visas,
# shifts and seats one has one at a time.
_SEEING_TO = frozenset(
    stem(verb)
    for verb in words(
        "manage care handle maintain run coach advise supervise oversee edit own teach tutor "
        "represent tend administer mentor service clean host moderate review serve supply audit "
        "collect train lead treat look"
    )
)
_HAVING_MANY = frozenset(stem(verb) for verb in words("have keep own possess collect hold"))
_ONE_AT_A_TIME = frozenset(
    stem(noun)
    for noun in words(
        "visa permit pass passport licence license membership card plan tariff lease tenancy "
        "subscription position job role post contract title rank status seat ticket shift salary "
        "pension diet desk office address number name nickname home house flat apartment room "
        "studio cabin laptop computer phone mobile mortgage landlord boss mentor tutor doctor "
        "dentist therapist coach husband wife partner haircut timetable schedule degree grade "
        "diagnosis prescription budget deadline insurance policy deal offer"
    )
)
_JOIN = stem("join")
_RESPONSIBLE = words("responsible charge accountable")
_SEEN_TO = frozenset({OBJECT, "after", "of", "for"})
_INSTEAD = words(
    "instead now nowadays only new newer better bigger larger smaller different proper replacement"
)


def another_of_several(ev: Evidence) -> str:
    """ "Manages the Ekström account", "took over the Dahl account": one more of the kind."""
    e, n, c = ev.existing, ev.new, ev.comparison
    verbs = e.tokens[e.verb_at : e.verb_at + 1], n.tokens[n.verb_at : n.verb_at + 1]
    if not (verbs[0] and verbs[1]) or tells_event(e) or not tells_event(n):
        return ""
    has, sees_to = verbs[0][0].stem in _HAVING_MANY, _sees_to(e, verbs[0][0].stem)
    if not (has or sees_to) or verbs[1][0].stem not in _TAKING:
        return ""
    if not _INSTEAD.isdisjoint(n.lowers):
        return ""
    if not any(a.in_subject and b.in_subject and a.is_name for a, b in c.shared):
        return ""
    lost_e = {word.position: word for word in c.left_existing}
    lost_n = {word.position: word for word in c.left_new}
    for a, b in c.shared:
        if a.is_name or a.position <= e.verb_at or b.position <= n.verb_at:
            continue
        mine, theirs = lost_e.get(a.position - 1), lost_n.get(b.position - 1)
        if e.slots[a.position] not in _SEEN_TO or (has and a.stem in _ONE_AT_A_TIME):
            # "Teaches in the blue room".
            continue
        behind = {token.lower for token in n.tokens[n.verb_at : b.position]}
        if verbs[1][0].stem == _JOIN and "of" not in behind:
            # "Leads the design team", "joined the press team"; not "the board of the Falk fund".
            continue
        if mine and theirs and mine.position > e.verb_at and theirs.position > n.verb_at:
            return f"another one of them: {mine.text} / {theirs.text} {b.text}"
        codes = _code(e, a.position + 1), _code(n, b.position + 1)
        if all(codes) and codes[0] != codes[1]:
            return f"another one of them: {a.text} {codes[0]} / {codes[1]}"
    return ""


def _sees_to(reading: Reading, verb: str) -> bool:
    """ "Manages", "is in charge of"."""
    return verb in _SEEING_TO or not _RESPONSIBLE.isdisjoint(reading.lowers)


def _code(reading: Reading, place: int) -> str:
    """The number or code at `place`, which tells one of a kind from the next, or ""."""
    token = reading.tokens[place : place + 1]
    return token[0].lower if token and any(c.isdigit() for c in token[0].lower) else ""
