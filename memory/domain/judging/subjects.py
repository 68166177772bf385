"""Whether two statements are about different things: other names, other nouns, other scopes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .change import is_past_event
from .compare import Comparison, same_name
from .frames import READINGS_KEPT, Reading, Word
from .lexicon import ATTRIBUTE_NAMES, VALUE_ROWS, Mark
from .names import Name
from .sameness import equal
from .tables import words
from .tokens import stem

_INVERSE = frozenset({"lead", "owner", "officer", "contact", "reviewer", "winner", "cause"})
"""Attributes whose value may stand as the subject: "Ann leads X", "X is led by Bo"."""

_KIN = words(
    "brother sister sibling mother father mum dad parent parents wife husband son daughter "
    "child children kid aunt uncle cousin nephew niece grandmother grandfather grandparents "
    "neighbour neighbours colleague colleagues boss manager friend friends partner flatmate "
    "landlord office firm club school church band practice assistant predecessor successor "
    "team company employer dog cat in-laws stepson half-brother half-sister stepfather "
    "stepmother girlfriend boyfriend ex-wife ex-husband deputy secretary twin mentor tutor "
    "client roommate"
)


@lru_cache(maxsize=READINGS_KEPT)
def subject_names(reading: Reading) -> tuple[Name, ...]:
    """The names a statement is about; acronyms and codes are no subjects of their own."""
    return tuple(
        name
        for name in reading.names
        if (name.is_subject or name.is_owner)
        and not (name.text.isupper() and len(name.text) <= 5)
        and not any(c.isdigit() for c in name.text)
    )


def _known(name: Name, reading: Reading) -> bool:
    return any(same_name(name, other) for other in reading.names) or any(
        name.parts <= {token.lower} for token in reading.tokens
    )


def other_names(e: Reading, n: Reading, c: Comparison) -> str:
    """Why the two are about differently named subjects, or ""."""
    mine, theirs = subject_names(e), subject_names(n)
    if not mine or _excludes(e) or _excludes(n):
        return ""
    strangers = [name for name in theirs if not _known(name, e)]
    if any(_known(name, n) for name in mine):
        only_object = (
            all(not any(same_name(name, other) for other in theirs) for name in mine)
            and len(theirs) == len(strangers) > 0
        )
        if only_object and not is_inverse(c):
            return f"different subjects: {mine[0].text} / {strangers[0].text}"
        # Of several names in the subject ("the SLA of X with Y") one may differ.
        lost = [name for name in mine if not _known(name, n) and name.text.lower() != "user"]
        if lost and strangers:
            return f"different subjects: {lost[0].text} / {strangers[0].text}"
        return ""
    if is_inverse(c) and _shares_all_but(c, mine[0]):
        return ""
    if not theirs and len(mine) == 1 and not strangers and mine[0].text.lower() == "user":
        return ""
    other = strangers[0].text if strangers else "no mention"
    return f"different subjects: {mine[0].text} / {other}"


def _excludes(reading: Reading) -> bool:
    """ "Only Ann has a key" says something of everybody."""
    first = [token.lower for token in reading.tokens[reading.start : reading.start + 2]]
    return bool(first) and (first[0] == "only" or first == ["no", "one"] or first[0] == "nobody")


def is_inverse(c: Comparison) -> bool:
    """Whether both speak of an attribute whose value may stand as the subject."""
    return may_swap(c.attributes)


def may_swap(attributes: Iterable[int]) -> bool:
    """Whether the value of one of the attributes may stand as the subject."""
    return any(ATTRIBUTE_NAMES[row] in _INVERSE for row in attributes)


def _shares_all_but(c: Comparison, name: Name) -> bool:
    rest = [w for w in c.left_existing if not name.start <= w.position < name.end]
    return c.shared_common > 0 and not rest


@lru_cache(maxsize=READINGS_KEPT)
def _owned(reading: Reading) -> frozenset[str]:
    """People and animals spoken of as someone's, in the subject part."""
    found: set[str] = set()
    for i in range(reading.start, min(reading.head, len(reading.tokens))):
        lower = reading.tokens[i].lower
        if lower in _KIN and i and reading.tokens[i - 1].lower not in {"a", "an"}:
            found.add(reading.tokens[i].stem)
    return frozenset(found)


def other_person(e: Reading, n: Reading, c: Comparison) -> str:
    """Why one is about a relative or companion of the other's subject, or ""."""
    shared = {word.stem for pair in c.shared for word in pair}
    mine, theirs = _owned(e) - shared, _owned(n) - shared
    if mine == theirs or not subject_names(e):
        return ""
    if any(a.is_name and not (a.in_subject and b.in_subject) for a, b in c.shared):
        # "The favourite team is X", "no fan of X any more": the companion is what is said.
        return ""
    own = [name for name in subject_names(e) if not name.is_owner and name.text.lower() != "user"]
    if mine and any(_known(name, n) for name in own):
        return ""
    said_e = {token.stem for token in e.tokens}
    said_n = {token.stem for token in n.tokens}
    if any(kin in stem(quote) for _, _, quote in c.oppositions for kin in theirs):
        # "Lives alone", "her husband does the cooking".
        return ""
    if theirs - said_e and not (mine & theirs):
        return f"different people: the {min(theirs - said_e)} is someone else"
    if mine - said_n and subject_names(n) and not (mine & theirs):
        return f"different people: the {min(mine - said_n)} is someone else"
    return ""


def other_nouns(e: Reading, n: Reading, c: Comparison) -> str:
    """Why the two are about different things, kinds or scopes, or ""."""
    label = _other_label(e, n)
    if label:
        return label
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


def other_modifier(c: Comparison) -> bool:
    """Whether one noun of the subjects has another word before it: "search index", "log index"."""
    lost_e = {w.position for w in c.left_existing if w.in_subject}
    lost_n = {w.position for w in c.left_new if w.in_subject}
    return any(
        a.in_subject and b.in_subject and a.position - 1 in lost_e and b.position - 1 in lost_n
        for a, b in c.shared
    )


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


_NO_THINGS = words(
    "time name place date way number amount part level value state status size length current "
    "new total policy rule rules regulation regulations guideline guidelines handbook law "
    "statute nobody everyone everybody anyone anybody someone people one none"
)


def _is_thing(word: Word) -> bool:
    return word.text not in _NO_THINGS


def _text(words: list[Word]) -> str:
    return " ".join(dict.fromkeys(word.text for word in words[:3]))


def _other_label(e: Reading, n: Reading) -> str:
    """ "Gate 3" against "gate 5" where the new one is about its gate."""
    for b in n.quantities:
        dated = b.kind in {"date", "frequency"} or 1900 <= b.raw <= 2100
        if dated and n.start <= b.start < n.head:
            # "The 2024 report", "the weekly report" against another of its kind.
            for a in e.quantities:
                if a.kind == b.kind and e.start <= a.start < e.head and not equal(a, b):
                    return f"different things: {a.text} / {b.text}"
        if b.head in {"version", "releas"}:
            continue
        if b.kind not in {"label", "ordinal"} or not n.start <= b.start < n.head:
            continue
        for a in e.quantities:
            if a.kind == b.kind and a.head == b.head and a.value != b.value and b.head:
                return f"different things: {a.text} / {b.text}"
    return ""


def other_scope(e: Reading, n: Reading, c: Comparison) -> str:
    """Why the two hold in different environments, plans, seasons or the like, or "" (none)."""
    for a, b in c.contrasts:
        if _in_long_name(e, a) or _in_long_name(n, b):
            continue
        if e.start <= a.start < e.head and n.start <= b.start < n.head:
            return f"different scopes: {_span(e, a)} / {_span(n, b)}"
        if all(row in VALUE_ROWS for row, _ in a.ids):
            continue
        opening = b.start < n.start
        aside = _is_adjunct(e, a) and not _is_target(n, b)
        if (opening or aside) and _differs_besides(c, a, b):
            return f"different scopes: {_span(e, a)} / {_span(n, b)}"
    return ""


def _is_adjunct(reading: Reading, mark: Mark) -> bool:
    before = {token.lower for token in reading.tokens[max(0, mark.start - 2) : mark.start]}
    return bool(before & {"in", "on", "at", "for", "during", "with", "by"})


def _in_long_name(reading: Reading, mark: Mark) -> bool:
    """Whether the words are part of a longer name ("Central European Time")."""
    return any(
        name.start <= mark.start < name.end and name.end - name.start > 1 for name in reading.names
    )


def _is_target(reading: Reading, mark: Mark) -> bool:
    """Whether a change leads to or from the marked words, so that they are its value."""
    before = {token.lower for token in reading.tokens[max(0, mark.start - 3) : mark.start]}
    return bool(before & {"to", "into", "from", "with", "by", "instead", "for", "now"})


def _differs_besides(c: Comparison, a: Mark, b: Mark) -> bool:
    """Whether the two part in more than the contrasted words themselves."""
    if c.other_values or c.polarity:
        return True
    rest_e = [w for w in c.left_existing if not a.start <= w.position < a.end]
    rest_n = [w for w in c.left_new if not b.start <= w.position < b.end]
    return bool(rest_e and rest_n)


def _span(reading: Reading, mark: Mark) -> str:
    return " ".join(token.text for token in reading.tokens[mark.start : mark.end])
