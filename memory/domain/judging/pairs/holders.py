"""Posts, deeds and ranks that one holds at a time: two names for one of them are a conflict."""

from __future__ import annotations

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.tables import words
from ..reading.tokens import stem
from .compare import Comparison, has_any

# What one does for all, so that a second name does not fit.
HOLDING = frozenset(
    stem(word)
    for word in words(
        "manage manager lead leader head run chair chairman chairwoman chairperson moderate "
        "moderator own owner maintain maintainer responsible oversee supervise supervisor captain "
        "direct director edit editor treasurer secretary mayor president ceo cfo cto coo principal "
        "win winner champion victor invent inventor discover discoverer found founder write author "
        "compose composer paint painter design designer architect translate translator sculpt "
        "coordinate coordinator conduct conductor steward custodian host organise organiser "
        "organize organizer steer deputy contact landlord tenant approver keynote facilitate "
        "facilitator charge godfather godmother successor predecessor account vet dentist "
        "father mother husband wife inherit birthplace capital headquarters referee "
        "refereed umpire officiate adjudicate preside curate curator choreograph choreographer "
        "narrate narrator illustrate illustrator skipper compere emcee rector dean provost "
        "chancellor governor abbot abbess vicar sheriff commander"
    )
)
_RANKS = words("first last best worst only most least favourite favorite")
_ARTICLES = words("a an another one some any")
_FILLERS = words("new current currently own whole team person name called named mr mrs ms dr")


def two_holders(e: Reading, n: Reading, c: Comparison) -> str:
    """The two names where both statements give one post or deed to somebody, or "".

    All else must be shared: "Ann manages the Kern account", "Bo is the account manager for Kern".
    """
    names_e, names_n = _names(c.left_existing), _names(c.left_new)
    if not names_e or not names_n or not (holds(e) and holds(n)):
        return ""
    if _others(c.left_existing) or _others(c.left_new) or c.other_values:
        return ""
    if not any(_is_definite(e, a) and _is_definite(n, b) for a, b in c.shared if not _is_post(a)):
        return ""
    return f"two names for one post: {_told(e, names_e)} / {_told(n, names_n)}"


def _told(reading: Reading, named: list[Word]) -> str:
    """The first of the names as it is written, with all its parts."""
    first = named[0].position
    parts = [word.position for i, word in enumerate(named) if word.position == first + i]
    return " ".join(reading.tokens[place].text for place in parts)


@kept_by_reading
def holds(reading: Reading) -> bool:
    """Whether the statement names a post, a deed or a rank that one has for all."""
    if has_any(reading):
        return False
    before = ["", *(token.lower for token in reading.tokens)]
    return any(
        (token.stem in HOLDING and before[i] not in _ARTICLES)
        or (_is_rank(token.lower) and before[i] in {"the", "'s"})
        for i, token in enumerate(reading.tokens)
    )


def _is_rank(word: str) -> bool:
    return word in _RANKS or (word.endswith("est") and len(word) > 5)


def _names(left: tuple[Word, ...]) -> list[Word]:
    return [word for word in left if word.is_name]


def _others(left: tuple[Word, ...]) -> list[Word]:
    return [w for w in left if not (w.is_name or _is_post(w) or w.text in _FILLERS)]


def _is_post(word: Word) -> bool:
    return word.stem in HOLDING or _is_rank(word.text)


def _is_definite(reading: Reading, word: Word) -> bool:
    """ "Owns a car" leaves room for another owner of another car."""
    before = reading.tokens[max(0, word.position - 2) : word.position]
    return not any(token.lower in _ARTICLES for token in before)
