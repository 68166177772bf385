"""A post in a statement that another one holds than whom it is about: "says her manager is ill"."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.people import POSTS
from ..reading.tables import words
from ..reading.tokens import stem
from ..reading.verbal import AUXILIARIES, looks_verbal
from .compare import Comparison, same_name
from .subjects import subject_names

_RISING = frozenset(
    stem(verb) for verb in words("promote appoint elect become name make demote hire")
)

_BEFORE_OTHERS = words("to with for by from about under against of")
_OWNED = words("her his their my our its")
_REACH = 3


def is_held_by_another(reading: Reading, place: int, *, about: Reading) -> bool:
    """Whether the post at `place` is somebody else's than the subject of `about`.

    "Petra says her manager Uwe is leaving", "Lena works with the director" name no post of Petra
    and none of Lena, so that what becomes of these two ends nothing of it.
    """
    tokens = reading.tokens
    whom = subject_names(about)
    if tokens[place].lower not in POSTS or not whom:
        return False
    called = next((name for name in reading.names if name.start == place + 1), None)
    if called is not None:
        return not any(same_name(called, name) for name in whom)
    if place < reading.head:
        return False
    before = [token.lower for token in tokens[max(reading.head, place - _REACH) : place]]
    if not _BEFORE_OTHERS.isdisjoint(before):
        return True
    after = place + 1
    is_subject = after < len(tokens) and (
        tokens[after].lower in AUXILIARIES or looks_verbal(tokens, after)
    )
    return is_subject and not _OWNED.isdisjoint(before)


def only_posts_of_others(e: Reading, n: Reading, c: Comparison) -> str:
    """ "Eva says her director is ill", "Eva was promoted to director": two posts, or ""."""
    verb = n.tokens[n.verb_at : n.verb_at + 2]
    if _RISING.isdisjoint(token.stem for token in verb) or c.other_values or c.oppositions:
        return ""
    met = [a for a, b in c.shared if not (a.is_name and b.is_name)]
    held = {a.position: a.text for a in met if is_held_by_another(e, a.position, about=n)}
    # "Team lead" is one post.
    if not held or any(a.position not in held and a.position + 1 not in held for a in met):
        return ""
    return f"somebody else's post: {next(iter(held.values()))}"
