"""Patterns over a whole pair: strangers, endings, swapped names, opposed verbs."""

from __future__ import annotations

from .change import is_past_event
from .compare import Comparison, same_name
from .frames import Reading
from .lexicon import Table
from .names import Name
from .subjects import is_inverse


def strangers(e: Reading, n: Reading, c: Comparison) -> str:
    """The two names, where each statement opens with one name, another than the other's."""
    first, second = _opening_name(e), _opening_name(n)
    if first is None or second is None or is_inverse(c) or c.attributes:
        return ""
    if any(same_name(first, name) for name in n.names):
        return ""
    if any(same_name(second, name) for name in e.names) or agents(e, n):
        return ""
    same = e.tokens[first.end :] == n.tokens[second.end :]
    return f"{first.text} / {second.text}" if same or c.other_values else ""


def _opening_name(reading: Reading) -> Name | None:
    for name in reading.names:
        if name.start == reading.start and name.is_subject and not name.text.isupper():
            return name
    return None


def ending(e: Reading, n: Reading, *, happened: bool) -> str:
    """A state of the existing one and an event of the new one that ends such states, or ""."""
    if is_past_event(e):
        return ""
    states = {row: mark for mark in e.of(Table.STATE) for row, _ in mark.ids}
    own = {row for mark in e.of(Table.EVENT) for row, _ in mark.ids}
    for mark in n.of(Table.EVENT):
        if mark.start in n.denied or not (happened or mark.end - mark.start > 1):
            continue
        for row, _ in mark.ids:
            state = states.get(row)
            if state is not None and row not in own and state.start not in e.denied:
                first = " ".join(t.text for t in e.tokens[state.start : state.end])
                second = " ".join(t.text for t in n.tokens[mark.start : mark.end])
                if first.lower() != second.lower():
                    return f"{first} / {second}"
    return ""


def opposed_verbs(e: Reading, n: Reading, c: Comparison) -> bool:
    """ "Hates meetings", "enjoys trains": the clash lies in verbs that have other objects."""
    if not c.oppositions:
        return False
    verbs = {token.text for r in (e, n) for token in r.tokens[r.head : r.head + 2]}
    return all(quote.split()[-1] in verbs for quote in c.oppositions[0][1:])


def swapped(e: Reading, n: Reading) -> bool:
    """ "Ann is older than Bo", "Bo is younger than Ann"."""
    if len(e.names) < 2 or len(n.names) < 2:
        return False
    return same_name(e.names[0], n.names[-1]) and same_name(e.names[-1], n.names[0])


def agents(e: Reading, n: Reading) -> bool:
    """Whether one of the two names who did it behind "by" or "who"."""
    return any(
        token.lower in {"by", "who"} and i + 1 < len(reading.tokens)
        for reading in (e, n)
        for i, token in enumerate(reading.tokens)
    )
