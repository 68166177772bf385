"""Whom a memory is by or about: who says it, else the user whose memory or talk it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.domain.text.normalise import speaker_of


def people_of(
    content: str, *, speakers: Iterable[str] = (), user: Sequence[str] = ()
) -> tuple[str, ...]:
    """The names of those whom the text is by or about.

    `speakers` said it, `user` are the names of the person whose memory it is, the first of them
    what they are called. What nobody says is about the user; so may be what has a label, for
    "Allergy: nuts" is written as "Grace: I eat nuts" is.
    """
    said_by = tuple(name for name in speakers if name)
    label = speaker_of(content)
    if said_by:
        return (label, *said_by) if label else said_by
    return (label, *user[:1]) if label else tuple(user[:1])


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
