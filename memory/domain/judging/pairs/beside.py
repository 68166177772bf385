"""What stands beside a statement that it looks like: another thing, or another doing."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.tables import words
from .evidence import Evidence
from .units import IDLE, Unit, is_one, steps_between, units


def told_beside(ev: Evidence) -> str:
    """What stands beside the other, where one text is the other but for another thing or doing.

    "Uses Redis", "uses Redis Sentinel"; "stopped smoking in 2019", "started running in 2019".
    """
    first, second = units(ev.existing), units(ev.new)
    steps = steps_between(first, second)
    mine = [unit for _, i, j, _, _ in steps for unit in first[i:j] if unit.key not in IDLE]
    theirs = [unit for _, _, _, k, m in steps for unit in second[k:m] if unit.key not in IDLE]
    if steps and not (mine and theirs):
        return _other_thing(ev.existing, mine) or _other_thing(ev.new, theirs)
    if _is_all_other(mine, theirs):
        return f"something else is done: {mine[0].text} / {theirs[0].text}"
    return _denied_beside(ev)


def _denied_beside(ev: Evidence) -> str:
    """ "Never works on Sundays", "plays football on Sundays": what is denied is not told."""
    e, n, c = ev.existing, ev.new, ev.comparison
    if {token.stem for reading in (e, n) for token in reading.tokens} & _STOPPING:
        return ""
    if c.agreements or c.oppositions or c.polarity or e.negative == n.negative:
        return ""
    if bool(e.denied) == bool(n.denied) or not (c.left_existing and c.left_new):
        return ""
    denied, left = (e, c.left_existing) if e.denied else (n, c.left_new)
    word = next((word for word in left if word.position in denied.denied), None)
    return f"something else is denied: {word.text}" if word else ""


def _other_thing(reading: Reading, more: list[Unit]) -> str:
    """What alone makes another thing of the one before it: "Redis", "Redis Sentinel"."""
    if not more or not more[0].position or more[-1].position - more[0].position >= len(more):
        return ""
    said = {word.position for word in reading.words if not word.in_subject}
    before = more[0].position - 1
    if before not in said or before == reading.verb_at:
        return ""
    if any(each.text in _ADDS_NOTHING or each.text.endswith("ly") for each in more):
        return ""
    if not said.issuperset(each.position for each in more):
        return ""
    return f"another thing is told of: {reading.tokens[before].text} {more[0].text}"


# After a thing these tell when or how, or what it is anyway.
_ADDS_NOTHING = words(
    "today yesterday tomorrow tonight again once twice always often mostly alone only too well "
    "much more most here there together instead anymore already still soon later ago now first "
    "last city town company app application team project database server service language "
    "framework tool software platform library person"
)


def _is_all_other(mine: list[Unit], theirs: list[Unit]) -> bool:
    """ "Stopped smoking", "started running": two doings of which no word is known to mean one."""
    if len(mine) < 2 or len(theirs) < 2 or not (mine[0].is_verb and theirs[0].is_verb):
        return False
    return not any(is_one(a, b) for a in mine for b in theirs)


# "Stops running at midnight" denies no running before it.
_STOPPING = frozenset({"stop"})
