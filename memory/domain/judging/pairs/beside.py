"""What stands beside a statement that it looks like: another thing, or another doing."""

from __future__ import annotations

from ..reading.frames import Reading, Word
from ..reading.slots import is_copular
from ..reading.tables import words
from ..reading.tokens import stem
from .evidence import Evidence
from .tellings import verbs_of
from .units import IDLE, Unit, is_one, steps_between, units


def told_beside(ev: Evidence) -> str:
    """What stands beside the other, where one text is the other but for another thing or doing.

    "Uses Redis", "uses Redis Sentinel"; "stopped smoking in 2019", "started running in 2019".
    """
    thought = _only_thought(ev)
    if thought:
        return thought
    first, second = units(ev.existing), units(ev.new)
    steps = steps_between(first, second)
    mine = [unit for _, i, j, _, _ in steps for unit in first[i:j] if unit.key not in IDLE]
    theirs = [unit for _, _, _, k, m in steps for unit in second[k:m] if unit.key not in IDLE]
    if steps and not (mine and theirs):
        return _other_thing(ev.existing, mine) or _other_thing(ev.new, theirs)
    if _is_all_other(mine, theirs):
        return f"something else is done: {mine[0].text} / {theirs[0].text}"
    return _denied_beside(ev) or _charge(ev)


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


def _only_thought(ev: Evidence) -> str:
    """ "Helmets are compulsory", "debates whether helmets should be": what is only considered."""
    thought, before = ev.signals.unreal, ev.before.unreal
    return f'only considered ("{thought or before}")' if bool(thought) != bool(before) else ""


def other_doing(ev: Evidence) -> str:
    """ "Is allergic to cats", "has a cat": other verbs, and nothing known to mean one thing."""
    c = ev.comparison
    if c.agreements or c.equal_values or not verbs_of(ev.existing, ev.new, c)[1]:
        return ""
    if _shuns(ev.existing) == _shuns(ev.new):
        return ""
    left = (*c.left_existing, *c.left_new)
    return f"not known to mean the same: {left[0].text}" if left else ""


def _shuns(reading: Reading) -> bool:
    """Whether it tells what somebody dislikes, fears or cannot bear, and not what is done."""
    said = (token.stem for token in reading.tokens[reading.head :][:_NEAR])
    return any(each in _SHUNNING for each in said)


_NEAR = 5
_SHUNNING = frozenset(
    stem(word)
    for word in words(
        "dislike hate detest loathe despise allergic allergy intolerant intolerance afraid scared "
        "fear dread phobia averse prefer"
    )
)


def _charge(ev: Evidence) -> str:
    """ "Wants the region to pay for it": what another one is to do, told on one side alone."""
    for reading, left in ((ev.existing, ev.left_existing), (ev.new, ev.left_new)):
        found = _charged(reading, left)
        if found:
            return f"another one is to do it: {found}"
    return ""


def _charged(reading: Reading, left: tuple[Word, ...]) -> str:
    if is_copular(reading.tokens, reading.verb_at):
        # "Are free to decide".
        return ""
    lost = {word.position for word in left if word.position > reading.verb_at}
    for place in lost:
        before = reading.tokens[place - 1].lower
        if before == "to" and place - 2 in lost:
            return f"{reading.tokens[place - 2].text} to {reading.tokens[place].text}"
    return ""


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
