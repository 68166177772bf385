"""Whom a memory is by or about: who says it, else the user whose memory or talk it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.domain.text.normalise import name_words, speaker_of
from memory.domain.text.stop_words import STOP_WORDS, word_set
from memory.domain.text.verb_forms import PAST_FORMS

_FIRST_PERSON = word_set("i i'm i've i'd i'll my me mine we our us")
# "Shellfish makes him ill" tells of the user, whatever it begins with.
_OF_THE_USER = word_set("him her his hers them their theirs")
_LEAVE_IT_WITH_THE_USER = STOP_WORDS | {"user"}
_VERBS = word_set("is isn't was wasn't has hasn't had will would can could does doesn't and")


def people_of(
    content: str, *, speakers: Iterable[str] = (), user: Sequence[str] = ()
) -> tuple[str, ...]:
    """The names of those whom the text is by or about.

    `speakers` said it, `user` are the names of the person whose memory it is, the first of them
    what they are called. What nobody says is about the user, unless its subject is somebody else:
    "Kim broke a wrist" and "The allergy is to nuts" are about the user Kim, "Lee met Kim" is not.
    """
    label = speaker_of(content)
    said_by = tuple(name for name in (label, *speakers) if name)
    if not user:
        return said_by
    if said_by:
        # "Allergy: nuts" may be what nobody says; "Grace: I eat nuts" is said by somebody.
        is_heading = said_by == (label,) and _FIRST_PERSON.isdisjoint(_words(content))
        return (*said_by, *user[:1]) if is_heading else said_by
    return () if _is_about_another(content, names=frozenset(name_words(user))) else tuple(user[:1])


def other_speakers(names: Iterable[str], *, user: Sequence[str]) -> tuple[str, ...]:
    """Of the people who speak by `names`, those who are not the user, in order and each once.

    `user` are the user's own names. A single name tells nobody apart: it may be one more of the
    user's.
    """
    spoken: dict[str, str] = {}
    for name in names:
        if name.strip():
            spoken.setdefault(name.strip().casefold(), name.strip())
    own = {name.casefold() for name in user}
    if len(spoken) < 2:
        return ()
    return tuple(name for folded, name in spoken.items() if folded not in own)


def _words(text: str) -> list[str]:
    return [word.strip('.,;:!?"“”').replace("’", "'").lower() for word in text.split()]


def _is_about_another(content: str, *, names: frozenset[str]) -> bool:
    """Whether the text opens with a name that is none of the user's and is its subject."""
    words = [*_words(content), "", ""]
    first, second = words[0], words[1]
    opening = first.removesuffix("'s")
    if not content[:1].isupper() or opening in names | _LEAVE_IT_WITH_THE_USER:
        return False
    if first.split("'")[0] in _FIRST_PERSON or not _OF_THE_USER.isdisjoint(words):
        return False
    if first.endswith("'s") or second in _VERBS | PAST_FORMS:
        return True
    # "Prefers rooibos" opens with a verb of its own.
    return second.endswith(("ed", "s")) and not first.endswith(("ed", "s"))
