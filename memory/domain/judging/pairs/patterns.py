"""Patterns over a whole pair: strangers, endings, swapped names, opposed verbs."""

from __future__ import annotations

from itertools import pairwise

from ..presenting import KIN
from ..reading.frames import Reading, Word, kept_by_reading, read
from ..reading.lexicon import Table
from ..reading.names import Name
from ..reading.superlatives import is_sole
from ..reading.tables import words
from ..reading.tokens import stem
from .change import is_past_event
from .compare import Comparison, attributes_of, same_name
from .holders import holds
from .labels import other_labels
from .last_parts import tells_last_part
from .leaving import leaves_behind
from .posts_of_others import is_held_by_another
from .subjects import may_swap


def strangers(existing: str, new: str) -> str:
    """What two statements are about, where that is two things by name or number, else "".

    Needs no comparison of the two, which most neighbours are so spared.
    """
    e, n = read(existing), read(new)
    if is_sole(e) and (is_sole(n) or _shares_noun(e, n)):
        # There is one of them at a time.
        return ""
    return _other_openers(e, n) or other_labels(e, n)


def _shares_noun(e: Reading, n: Reading) -> bool:
    """Whether a word that one says of its subject is in the other."""
    told = {word.stem for word in e.words if word.position > e.head and not word.is_name}
    return any(word.stem in told for word in n.words)


def _other_openers(e: Reading, n: Reading) -> str:
    """The two names, where each statement opens with one name, another than the other's."""
    first, second = _opening_name(e), _opening_name(n)
    if first is None or second is None or may_swap(attributes_of(e) & attributes_of(n)):
        return ""
    if any(same_name(first, name) for name in n.names):
        return ""
    if any(same_name(second, name) for name in e.names) or agents(e, n):
        return ""
    if holds(e) and holds(n):
        return ""
    return f"{first.text} / {second.text}"


def _opening_name(reading: Reading) -> Name | None:
    for name in reading.names:
        if not name.is_subject or name.text.isupper():
            continue
        if name.start == reading.start and not _presents(reading, name):
            return name
        if not name.is_owner and _is_presented(reading, name):
            return name
    return None


def _presents(reading: Reading, owner: Name) -> bool:
    """ "User's brother Piet": whether the owner only says whose the one is who is named next."""
    return owner.is_owner and any(_is_presented(reading, name) for name in reading.names)


def _is_presented(reading: Reading, name: Name) -> bool:
    """Whether the name follows a word for who somebody is to somebody: "my brother Piet"."""
    before = [token.lower for token in reading.tokens[reading.start : name.start]]
    return (
        name.is_subject
        and 2 <= len(before) <= _PRESENTED
        and before[-1] in KIN
        and any(each in _WHOSE for each in before[:-1])
    )


_WHOSE = words("my our his her their 's")
_PRESENTED = 5


def ending(e: Reading, n: Reading, *, happened: bool) -> str:
    """A state of the existing one and an event of the new one that ends such states, or ""."""
    if is_past_event(e):
        return ""
    states = {row: mark for mark in e.of(Table.STATE) for row, _ in mark.ids}
    own = {row for mark in e.of(Table.EVENT) for row, _ in mark.ids}
    for mark in n.of(Table.EVENT):
        if mark.start in n.denied or not (happened or mark.end - mark.start > 1):
            continue
        if n.tokens[mark.start].lower == "left" and leaves_behind(n, mark.start):
            continue
        if tells_last_part(n, mark.start):
            continue
        for row, _ in mark.ids:
            state = states.get(row)
            if state is None or state.start < e.head:
                continue
            if is_held_by_another(e, state.end - 1, about=n):
                continue
            if row not in own and state.start not in e.denied:
                first = " ".join(t.text for t in e.tokens[state.start : state.end])
                second = " ".join(t.text for t in n.tokens[mark.start : mark.end])
                if first.lower() != second.lower():
                    return f"{first} / {second}"
    return ""


_MENDING = frozenset(
    stem(verb)
    for verb in words(
        "fix resolve solve repair cure remove eliminate end stop settle close mend correct clear "
        "finish complete patch eradicate"
    )
)


def still_there(e: Reading, n: Reading, c: Comparison) -> str:
    """ "The patch fixes the leak", "it still leaks": what is said to be over goes on, or ""."""
    if not any(not a.is_name and not (a.in_subject and b.in_subject) for a, b in c.shared):
        return ""
    for mended, going in ((e, n), (n, e)):
        verb = mended.tokens[mended.verb_at : mended.verb_at + 1]
        if verb and verb[0].stem in _MENDING and "still" in going.lowers:
            return f"one says it is over, the other that it goes on: {verb[0].text} / still"
    return ""


def unlimited(e: Reading, n: Reading, c: Comparison) -> str:
    """ "After three retries", "there is no limit": a figure against none, or ""."""
    if not any(not a.is_name for a, _ in c.shared):
        return ""
    for free, bound in ((e, n), (n, e)):
        lowers = [token.lower for token in free.tokens]
        told = "unlimited" in lowers or any(
            pair in {("no", "limit"), ("no", "limits"), ("without", "limit"), ("no", "cap")}
            for pair in pairwise(lowers)
        )
        counted = [q for q in bound.quantities if q.kind not in {"date", "weekday", "clock"}]
        if told and counted and not free.quantities:
            return f"no limit, and a limit: {counted[0].text}"
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


def other_agent(e: Reading, n: Reading, c: Comparison) -> bool:
    """ "The mayor opened the fair", "the fair was opened by the minister": one deed, two doers."""
    left_e = [word for word in c.left_existing if word.text not in _FILLERS]
    left_n = [word for word in c.left_new if word.text not in _FILLERS]
    if not left_e or not left_n or not c.shared_common:
        return False
    return (_in_subject(e, left_e) and _named_as_doer(n, left_n)) or (
        _in_subject(n, left_n) and _named_as_doer(e, left_e)
    )


_FILLERS = words("own done responsible manager leader head lead person one charge")


def _in_subject(reading: Reading, left: list[Word]) -> bool:
    return all(reading.start <= word.position < reading.head for word in left)


def _named_as_doer(reading: Reading, left: list[Word]) -> bool:
    """Whether all that is left stands behind "by", before "who", or is a name behind "is"."""
    lowers = [token.lower for token in reading.tokens]
    first, last = left[0].position, left[-1].position
    if "by" in lowers[max(0, first - 3) : first]:
        return True
    if "who" in lowers[last + 1 : last + 2] and lowers[0] == "it":
        return True
    copula = reading.verb in {"is", "was", ":"} and first > reading.head
    return copula and all(word.is_name for word in left)


def agents(e: Reading, n: Reading) -> bool:
    """Whether one of the two names who did it behind "by" or "who"."""
    return _names_doer(e) or _names_doer(n)


@kept_by_reading
def _names_doer(reading: Reading) -> bool:
    return any(token.lower in {"by", "who"} for token in reading.tokens[:-1])
