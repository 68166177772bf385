"""Whether two statements are about different things: other names, other nouns, other scopes."""

from __future__ import annotations

from collections.abc import Iterable

from ..reading.frames import Reading, kept_by_reading
from ..reading.lexicon import ATTRIBUTE_NAMES
from ..reading.names import Name
from ..reading.slots import OBJECT
from ..reading.tables import words
from ..reading.tokens import stem
from .compare import Comparison, same_name

_INVERSE = frozenset({"lead", "owner", "officer", "contact", "reviewer", "winner", "cause"})
"""Attributes whose value may stand as the subject: "Ann leads X", "X is led by Bo"."""

_KIN = words(
    "brother sister sibling mother father mum dad parent parents wife husband son daughter "
    "child children kid aunt uncle cousin nephew niece grandmother grandfather grandparents "
    "neighbour neighbours colleague colleagues boss manager friend friends partner flatmate "
    "landlord office firm club school church band practice assistant predecessor successor "
    "team company employer dog cat in-laws stepson half-brother half-sister stepfather "
    "stepmother girlfriend boyfriend ex-wife ex-husband deputy secretary twin mentor tutor "
    "client roommate sister-in-law brother-in-law mother-in-law father-in-law son-in-law "
    "daughter-in-law parents-in-law"
)


@kept_by_reading
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
    if not mine and theirs and theirs[0].is_owner and _opens_with_whose(e):
        return f"different subjects: {e.tokens[e.start].text} / {theirs[0].text}"
    if not mine or excludes(e) or excludes(n):
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
    if not theirs and _is_of_its_object(e, n, c):
        return ""
    if not theirs and len(mine) == 1 and not strangers and mine[0].text.lower() == "user":
        return ""
    other = strangers[0].text if strangers else "no mention"
    return f"different subjects: {mine[0].text} / {other}"


def _opens_with_whose(reading: Reading) -> bool:
    """ "Her dentist": somebody's whom the statement does not name."""
    return reading.start < reading.head and reading.tokens[reading.start].lower in _WHOSE


_WHOSE = words("his her their")


def _is_of_its_object(e: Reading, n: Reading, c: Comparison) -> bool:
    """ "Ann prints the posters in A2", "the posters are not printed": of what is done, not by whom.

    Only where something in the two is opposed; who does what says little else of the thing.
    """
    if not (c.other_values or c.polarity or c.oppositions):
        return False
    done = e.tokens[e.verb_at].stem if e.verb_at < len(e.tokens) else ""
    verbs = done == (n.tokens[n.verb_at].stem if n.verb_at < len(n.tokens) else "")
    return verbs and any(
        b.in_subject and not a.in_subject and not b.is_name and e.slots[a.position] == OBJECT
        for a, b in c.shared
    )


def excludes(reading: Reading) -> bool:
    """Whether the statement excludes all others: "only Ann has a key"."""
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


@kept_by_reading
def _owned(reading: Reading) -> frozenset[str]:
    """People and animals spoken of as someone's, in the subject part."""
    found: set[str] = set()
    for i in range(reading.start, min(reading.head, len(reading.tokens))):
        lower = reading.tokens[i].lower
        if lower in _KIN and i and reading.tokens[i - 1].lower not in {"a", "an"}:
            found.add(reading.tokens[i].stem)
    return frozenset(found)


def tells_birth(reading: Reading) -> bool:
    """ "User's son was born": a child of whom it is about, and nobody else's."""
    owned = _owned(reading)
    return "born" in reading.lowers and bool(owned) and owned <= _BORN


_BORN = frozenset(stem(kin) for kin in words("son daughter child twin baby"))


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
