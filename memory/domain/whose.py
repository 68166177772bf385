"""Whom a stated memory is by or about: who says it, else the user whose memory it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .extraction.language.verbs import THIRD
from .judging.reading.frames import read
from .judging.reading.lexicon import knows
from .text import name_words, speaker_of

_OF_THE_USER = frozenset({"i", "my", "user"})


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
        # "Allergy: nuts" may be what nobody says; "Grace: nuts" is said by somebody.
        return (*said_by, *user[:1]) if said_by == (label,) and _is_word(label) else said_by
    return tuple(user[:1]) if _is_about(content, names=frozenset(name_words(user))) else ()


def _is_word(label: str) -> bool:
    tokens = read(label).tokens
    return len(tokens) == 1 and knows(tokens[0].stem)


def _is_about(content: str, *, names: frozenset[str]) -> bool:
    opening = name_words([" ".join(content.split(maxsplit=2)[:2])])
    if opening[:1] == ["the"]:
        del opening[0]
    first = opening[0].replace("’", "'").split("'")[0] if opening else ""
    if first in _OF_THE_USER or first in THIRD or first in names:
        return True
    subjects = [name.parts for name in read(content).names if name.is_subject]
    return not subjects or any(parts & names for parts in subjects)
