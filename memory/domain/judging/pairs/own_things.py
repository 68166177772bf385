"""What somebody has one of, and changed: "Ann's address is X", "Ann changed her address"."""

from __future__ import annotations

import re

OPENING = re.compile(
    r"^(?:(?:on|in|by|since|for|at) [^,.]{3,40}(?:, \d{4})?, |turns out |now |actually,? )+",
    re.IGNORECASE,
)
_WHO = r"(?P<who>(?:[Tt]he )?[Uu]ser|[A-Z][\w-]+)"
_NOUN = r"(?P<noun>\w[\w-]*(?: \w[\w-]*){0,3}?)"
_OWNED = re.compile(rf"{_WHO}['\u2019]s {_NOUN} (?:is|was|has|ends|starts|begins|goes)\b")
_THEIRS = r"(?:their|his|her|my|(?:the )?[Uu]ser['\u2019]s)"
_CLOSE = (
    r"(?=[,.;:]|$| (?:and|to|from|it|because|since|after|last|this|in|on|yesterday|today|now|"
    r"recently)\b)"
)
_CHANGED = re.compile(
    rf"{_WHO} (?:(?:has|had|just|recently|now) ){{0,2}}"
    rf"(?:changed|updated|switched|replaced|renewed) {_THEIRS} {_NOUN}{_CLOSE}"
)
# Of these one has one at a time; a new dog need not replace another.
_RENEWED = re.compile(
    rf"{_WHO} (?:(?:just|recently|now) )?(?:got|has|has got|has gotten) an? (?:entirely )?new "
    rf"(?P<noun>(?:\w[\w-]* ){{0,2}}?(?:number|email|address|phone|name|surname)){_CLOSE}"
)


def changes_own(existing: str, new: str) -> bool:
    """Whether the new text says that its subject changed just what the existing one tells of.

    "User's phone number ends in 44", "User has changed their phone number, it ends in 91 now"; but
    not "their phone case", nor the number of another.
    """
    owned, text = _OWNED.match(existing), OPENING.sub("", new)
    changed = _CHANGED.match(text) or _RENEWED.match(text)
    if changed is None or owned is None:
        return False
    return all(changed[part].casefold() == owned[part].casefold() for part in ("who", "noun"))
