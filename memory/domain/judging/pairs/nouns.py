"""Whether the subjects of two statements are two things: other nouns, parts, places, labels."""

from __future__ import annotations

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.tables import words
from .change import is_past_event
from .compare import Comparison
from .sameness import equal


def other_nouns(e: Reading, n: Reading, c: Comparison) -> str:
    """Why the two are about different things, kinds or scopes, or ""."""
    label = _other_label(e, n, c)
    if label:
        return label
    beside = _stands_beside(e, n, c)
    if beside:
        return beside
    left_e = [w for w in c.left_existing if w.in_subject and not w.is_name and _is_thing(w)]
    left_n = [w for w in c.left_new if w.in_subject and not w.is_name and _is_thing(w)]
    if not left_e or not left_n:
        return ""
    if c.coverage_existing > 0.75 and c.coverage_new > 0.75:
        return ""
    if is_past_event(n) and any(
        not (a.in_subject or b.in_subject or a.is_name) for a, b in c.shared
    ):
        # "The dog wears a cone", "the vet took the cone off": someone acts on what was said.
        return ""
    met = [a.is_name for a, b in c.shared if a.in_subject and b.in_subject]
    if met and all(met) and heads_apart(e, n, c):
        mine, theirs = head_noun(e), head_noun(n)
        if mine is not None and theirs is not None and mine in left_e and theirs in left_n:
            # "The hotel in Bled", "the train to Bled".
            return f"different things: {mine.text} / {theirs.text}"
    if _is_possession(e, left_e) and _is_possession(n, left_n):
        return f"different things: {_text(left_e)} / {_text(left_n)}"
    shared_subject = [a for a, b in c.shared if a.in_subject]
    if not shared_subject and not any(b.in_subject for _, b in c.shared):
        return f"different things: {_text(left_e)} / {_text(left_n)}"
    if any(a.in_subject and b.in_subject for a, b in c.shared if not a.is_name):
        if c.oppositions and any(w.text in c.oppositions[0][1:] for w in left_e):
            return ""
        return f"different kinds: {_text(left_e)} / {_text(left_n)}"
    return ""


def _is_possession(reading: Reading, left: list[Word]) -> bool:
    """Whether what is left over is all that a named owner has in the subject ("Ann's desk")."""
    things = [word for word in reading.words if word.in_subject and not word.is_name]
    owned = any(name.is_owner and name.is_subject for name in reading.names)
    return owned and {word.position for word in things} == {word.position for word in left}


def other_part(e: Reading, n: Reading, c: Comparison) -> str:
    """ "The front end of Hydra", "Hydra's pipeline": two parts of one thing, or ""."""
    if c.attributes or c.other_values or c.fields:
        return ""
    lost_e, lost_n = {w.position for w in c.left_existing}, {w.position for w in c.left_new}
    for a, b in c.shared:
        if not a.is_name or a.text == "user":
            continue
        mine, theirs = _part_of(e, a.position), _part_of(n, b.position)
        if mine in lost_e and theirs in lost_n:
            return f"different parts: {e.tokens[mine].text} / {n.tokens[theirs].text}"
    return ""


_SITES = words("in at of for near with")


def other_site(e: Reading, n: Reading, c: Comparison) -> str:
    """ "An office in Lyon", "its office in Nice": one noun in two named places, or ""."""
    if c.attributes or c.other_values:
        return ""
    lost_e = {w.position: w for w in c.left_existing if w.is_name}
    lost_n = {w.position: w for w in c.left_new if w.is_name}
    for a, b in c.shared:
        x, y = lost_e.get(a.position + 2), lost_n.get(b.position + 2)
        if (
            a.is_name
            or x is None
            or y is None
            or a.position == e.verb_at
            or b.position == n.verb_at
        ):
            continue
        links = e.tokens[a.position + 1].lower, n.tokens[b.position + 1].lower
        if links[0] in _SITES and links[0] == links[1]:
            return f"different things: {a.text} {links[0]} {x.text} / {y.text}"
    return ""


def _part_of(reading: Reading, name: int) -> int:
    """The index of the noun that is said to be of the name at `name`, or -1."""
    tokens = reading.tokens
    if name > 1 and tokens[name - 1].lower == "of":
        return name - 2
    if name + 1 < len(tokens) and tokens[name + 1].lower == "'s" and name + 1 != reading.head:
        end = name + 2
        while end < len(tokens) and any(w.position == end for w in reading.words):
            end += 1
        return end - 1 if end > name + 2 and end - 1 < reading.head else -1
    return -1


def other_modifier(c: Comparison) -> bool:
    """Whether one noun of the subjects has another word before it: "search index", "log index"."""
    lost_e = {w.position for w in c.left_existing if w.in_subject}
    lost_n = {w.position for w in c.left_new if w.in_subject}
    return any(
        a.in_subject and b.in_subject and a.position - 1 in lost_e and b.position - 1 in lost_n
        for a, b in c.shared
    )


def heads_apart(e: Reading, n: Reading, c: Comparison) -> bool:
    """ "The lecture", "the discussion after the lecture": the subjects' own nouns differ."""
    mine, theirs = head_noun(e), head_noun(n)
    if mine is None or theirs is None or mine.is_name or theirs.is_name:
        return False
    return not any(
        a.position == mine.position and b.position == theirs.position for a, b in c.shared
    )


@kept_by_reading
def head_noun(reading: Reading) -> Word | None:
    """The last content word of the subject before what hangs on it by a preposition."""
    found = None
    for word in reading.words:
        if not word.in_subject:
            break
        between = reading.tokens[reading.start : word.position]
        if found is not None and any(t.lower in HANGING for t in between[1:]):
            break
        found = word
    return found


HANGING = words("of in on at after before for from with behind near under over between to by about")


def _stands_beside(e: Reading, n: Reading, c: Comparison) -> str:
    """ "The lecture", "the discussion after the lecture": one is told by where it is, or ""."""
    for first, second, flip in ((e, n, False), (n, e, True)):
        noun, other = head_noun(first), head_noun(second)
        if noun is None or other is None or not heads_apart(e, n, c) or not _is_thing(other):
            continue
        for a, b in c.shared:
            mine, theirs = (b, a) if flip else (a, b)
            if mine.position != noun.position or not theirs.in_subject:
                continue
            between = second.tokens[other.position + 1 : theirs.position]
            if between and between[0].lower in _BESIDE:
                return f"different things: {noun.text} / {other.text}"
    return ""


_BESIDE = words("after before behind beside near under next from with against during between")


def owned_in_one(e: Reading, n: Reading, c: Comparison) -> bool:
    """Whether one is about somebody and the other about something of theirs ("Ann's shop")."""
    for a, b in c.shared:
        if a.is_name and a.in_subject and b.in_subject:
            owned = [
                reading.tokens[word.position + 1 : word.position + 2]
                for reading, word in ((e, a), (n, b))
            ]
            flags = [bool(after) and after[0].lower == "'s" for after in owned]
            if flags[0] != flags[1]:
                return True
    return False


def narrower_subject(n: Reading, c: Comparison) -> bool:
    """Whether the new one speaks of a part only ("the heating in the server room")."""
    if not any(a.in_subject and b.in_subject for a, b in c.shared if not a.is_name):
        return False
    for word in c.left_new:
        if not word.in_subject or word.is_name:
            continue
        before = n.tokens[max(n.start, word.position - 3) : word.position]
        if any(t.lower in {"in", "of", "for", "at"} for t in before) and c.left_existing:
            return True
    return False


NO_THINGS = words(
    "time name place date way number amount part level value state status size length current "
    "new total policy rule rules regulation regulations guideline guidelines handbook law "
    "requirement obligation ban restriction duty mandate limit permission curfew freeze embargo "
    "statute nobody everyone everybody anyone anybody someone people one none"
)


def _is_thing(word: Word) -> bool:
    return word.text not in NO_THINGS


def _text(words: list[Word]) -> str:
    return " ".join(dict.fromkeys(word.text for word in words[:3]))


def _other_label(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Gate 3" against "gate 5" where the new one is about its gate."""
    for b in n.quantities:
        dated = b.kind in {"date", "frequency"} or 1900 <= b.raw <= 2100
        if dated and n.start <= b.start < n.head:
            # "The 2024 report", "the weekly report" against another of its kind.
            for a in e.quantities:
                if a.kind == b.kind and e.start <= a.start < e.head and not equal(a, b):
                    return f"different things: {a.text} / {b.text}"
        if b.head in {"version", "releas"} and not (c.left_existing and c.left_new):
            # "Version 3 is the latest", but "version 2 is stable", "version 3 is experimental".
            continue
        if b.kind not in {"label", "ordinal"} or not n.start <= b.start < n.head:
            continue
        for a in e.quantities:
            if a.kind == b.kind and a.head == b.head and a.value != b.value and b.head:
                return f"different things: {a.text} / {b.text}"
    return ""
