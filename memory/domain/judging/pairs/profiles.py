"""What changes a profile: what a person says of themselves, of the very thing that it tells."""

from __future__ import annotations

import re
from dataclasses import replace

from ...types import Statement
from ..reading.frames import Reading, Word, read
from ..reading.slots import ASIDE
from ..reading.tables import words
from ..relatedness import Change, names_change
from .called import ends_called
from .clauses import clause_texts
from .evidence import Evidence, weigh
from .losses import loss_of
from .own_things import OPENING, changes_own
from .values_apart import values_left

_OF_THE_USER = re.compile(r"(?:the )?user\b(?!['\u2019])", re.IGNORECASE)
# "Quit the job at X", "moved into a flat in Y": these name no other thing.
_OWN = words(
    "job position role post work employer company place home house flat apartment city town here "
    "anymore longer back finally just turn out actually week weekend month year day today "
    "yesterday morning january february march april may june july august september october "
    "november december"
)


def is_of_the_user(text: str) -> bool:
    """Whether the user is who a sentence tells of, and not somebody or something of theirs."""
    return bool(_OF_THE_USER.match(OPENING.sub("", text)))


def may_tell_of_profile(text: str) -> bool:
    """Whether a sentence tells of the user, or that somebody who may be theirs is gone."""
    return is_of_the_user(text) or bool(loss_of(read(text)))


def changes_profile(existing: Statement, new: Statement) -> bool:
    """Whether the new statement ends, replaces or denies just what the existing one tells.

    Stricter than a judge, for it makes every agent see what one of them heard: "left X" ends
    "works at X", "left a phone at X" and "left X early" do not. One clause of several does it
    too: "sold the Golf and bought a Tesla".
    """
    clauses = clause_texts(read(OPENING.sub("", new.content)))
    return _changes(existing, new) or any(
        _changes(existing, replace(new, content=text)) for text in clauses
    )


def _changes(existing: Statement, new: Statement) -> bool:
    if changes_own(existing.content, new.content):
        return True
    change = names_change(existing=existing, new=new)
    ev = weigh(existing, new)
    if not is_of_the_user(new.content):
        return ends_called(ev)
    if change is Change.ENDED:
        return not _others(ev.new, ev)
    if change is Change.OF_ASPECT:
        others = _others(ev.new, ev)
        return bool(others) and all(word.is_name for word in others)
    return _is_denied(ev) or _used_to(ev)


def _used_to(ev: Evidence) -> bool:
    """ "Cycles to work", "used to cycle to work, but now takes the train"."""
    e, n = ev.existing, ev.new
    lowers = [token.lower for token in n.tokens[n.verb_at : n.verb_at + 2]]
    if lowers != ["used", "to"] or n.verb_at in n.denied or values_left(ev.left_existing):
        return False
    met = any(
        a.position == e.verb_at and b.position == n.verb_at + 2 for a, b in ev.comparison.shared
    )
    return met and all(n.slots[word.position] == ASIDE for word in _others(n, ev))


def _is_denied(ev: Evidence) -> bool:
    """ "Is allergic to nuts", "is not allergic to nuts"."""
    mine = [word for word in values_left(ev.left_existing) if word.text not in _OWN]
    return ev.comparison.polarity is not None and not mine and not _others(ev.new, ev)


def _others(reading: Reading, ev: Evidence) -> list[Word]:
    """What the new statement tells beside its verb, the existing one's words and idle ones."""
    return [
        word
        for word in values_left(ev.left_new)
        if word.position != reading.verb_at and word.text not in _OWN
    ]
