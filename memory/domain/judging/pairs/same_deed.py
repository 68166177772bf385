"""Whether two statements tell one deed: done to the same thing, by the same one, and no more."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.quantities import Quantity
from ..reading.slots import OBJECT
from ..reading.tables import words
from ..reading.verbal import AUXILIARIES
from ..reading.verbs import is_past_form

_BEING = words("is are was were be been being got")
_NOBODY = words("nobody none no one not yet")
_PASSED_OVER = words(
    "the a an no not never yet so far still again finally eventually already just recently duly "
    "successfully properly completely fully promptly now meanwhile and"
)
_WHEN = words("on at in by during over since")
_DAYS = words("today yesterday tonight ago recently meanwhile just")
_SPANS = words(
    "morning afternoon evening night week weekend month quarter term year spring summer autumn "
    "winter monday tuesday wednesday thursday friday saturday sunday"
)
_DATED = frozenset({"date", "weekday", "clock"})
_WHOSE = words("'s of for")


def same_deed(e: Reading, n: Reading) -> bool:
    """Whether the new statement tells what the existing one denies and adds only when and by whom.

    "The lease has not been signed", "Ann signed the lease on Monday"; but neither "the other
    lease" nor "Ann's lease", nor the lease that was signed in part. A day of the existing
    statement's own makes another deed of it.
    """
    if _when(e) or _is_joined(n):
        return False
    agent_e, thing_e, rest_e = _roles(e)
    agent_n, thing_n, rest_n = _roles(n)

    def stems(reading: Reading, places: frozenset[int]) -> frozenset[str]:
        return frozenset(reading.tokens[i].stem for i in places)

    told = {e.tokens[i].lower for i in agent_e}
    by_same = told <= _NOBODY or stems(e, agent_e) == stems(n, agent_n)
    same_thing = stems(e, thing_e) == stems(n, thing_n)
    return by_same and same_thing and stems(e, rest_e) == stems(n, rest_n)


def _roles(reading: Reading) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
    """Where it says who did it, to what, and all else but the verb and when."""
    head, verb, slots = reading.head, reading.verb_at, reading.slots
    lowers = [token.lower for token in reading.tokens]
    told = [
        i
        for i, token in enumerate(reading.tokens)
        if not token.separator
        and i != verb
        and token.lower not in _PASSED_OVER
        and i not in _when(reading)
        and not (head <= i < verb and token.lower in AUXILIARIES)
    ]
    subject = frozenset(i for i in told if reading.start <= i < head)
    passive = not _BEING.isdisjoint(lowers[head:verb]) and is_past_form(lowers[verb])
    slot = "by" if passive else OBJECT
    behind = frozenset(i for i in told if i > verb and slots[i] == slot)
    rest = frozenset(told) - subject - behind
    if passive:
        return frozenset(i for i in behind if lowers[i] != "by"), subject, rest
    return subject, behind, rest


@kept_by_reading
def _when(reading: Reading) -> frozenset[int]:
    """Where it says when, with the prepositions; not the day that tells one thing from others."""
    lowers = [token.lower for token in reading.tokens]
    found = {
        i
        for value in reading.quantities
        if _tells_when(reading, value)
        for i in range(value.start, value.end)
    }
    for i, lower in enumerate(lowers):
        follows = i > 0 and lowers[i - 1] in {"last", "this", "past"}
        if lower in _DAYS:
            found.add(i)
        elif lower in _SPANS and follows:
            found |= {i - 1, i}
    for i in sorted(found, reverse=True):
        before = i - 1
        while before > 0 and lowers[before] == "the":
            before -= 1
        if before >= 0 and lowers[before] in _WHEN:
            found |= set(range(before, i))
    return frozenset(found)


def _tells_when(reading: Reading, value: Quantity) -> bool:
    """Whether a figure dates the deed: "on 4 March", "two days ago"; not "the March rent"."""
    lowers = [token.lower for token in reading.tokens]
    if value.kind == "duration":
        return lowers[value.end : value.end + 1] == ["ago"]
    before = value.start - 1
    while before > 0 and lowers[before] == "the":
        before -= 1
    led = before >= 0 and lowers[before] in _WHEN
    owned = before >= 0 and (lowers[before] in _WHOSE or lowers[value.start - 1] == "the")
    names = any(word.position == value.end and word.text not in _DAYS for word in reading.words)
    return value.kind in _DATED and (led or not owned) and not names


def _is_joined(reading: Reading) -> bool:
    """Whether it tells a second thing behind an "and" or a comma."""
    return any(
        token.lower == "and" and i > reading.verb_at for i, token in enumerate(reading.tokens)
    )
