"""Whom or what a "him", "her", "it" or "them" means that is no subject of its sentence."""

from __future__ import annotations

import re

from ..language.pronouns import WHOM
from .mentions import Mention
from .people import People

_OBJECT_IT = re.compile(r"(?<=[a-z]\s)it\b(?!['’])")
_MEETING_WITH = re.compile(
    r"(?:(?:the|our|my)\s)?(?:next\s|follow-?up\s|second\s|first\s|final\s)?(?:call|meeting|visit|"
    r"appointment|session|demo|review|workshop|chat)\s(?:[\w-]+\s)?(?:with|at)\s(?=them\b)",
    re.IGNORECASE,
)
_MEETING_REACH = 12
# "Ewa leads it": a name, a verb and nothing that says what.
_DOES_IT = re.compile(r"(?-i:[A-Z])[\w-]+\s(?:will\s)?[a-z]+\s(?P<it>it)\W*$", re.IGNORECASE)


def with_object_named(
    *,
    text: str,
    turn: int,
    reach: int,
    others: Mention | None,
    thing: Mention | None,
    asked: Mention | None,
    people: People,
    role: Mention | None,
) -> tuple[str, Mention | None]:
    """The sentence with one object written out, and what was named there; None where it stays.

    `others` are who a meeting may be with, `thing` is what somebody may do, `asked` what the whole
    question before was about; "him" and "her" are of the `people`, or the one of a `role`. A
    mention is at most `reach` turns back, but for those of a meeting and a question.
    """
    meeting = _MEETING_WITH.match(text)
    if meeting and others and turn - others.turn <= _MEETING_REACH:
        return text[: meeting.end()] + others.name + text[meeting.end() + len("them") :], others
    match = _DOES_IT.match(text)
    if match and thing and turn - thing.turn <= reach:
        return text[: match.start("it")] + thing.name + text[match.end("it") :], thing
    it = _OBJECT_IT.search(text)
    if asked and it and turn - asked.turn == 1 and asked.name not in text:
        return text[: it.start()] + asked.name + text[it.end() :], asked
    match = WHOM.search(text)
    human = people.meant(pronoun=match.group(), role=role) if match else None
    if match is None or human is None or human.name in text or turn - human.turn > reach:
        return text, None
    people.go_on(name=human.name)
    return text[: match.start()] + human.name + text[match.end() :], human
