"""What the agent offers to do for the user, is told to do or to leave, and says is done."""

from __future__ import annotations

import re
from dataclasses import replace

from ...types import MemoryType
from ..days.dates import resolve_dates
from ..drafts import Draft, merged_sources, sentence
from ..kinds.labels import Label
from ..language.rewrite import third_person_text
from ..language.tense import is_past
from ..language.verbs import past_of
from ..language.words import MONTHS, capitalised
from ..threads.dialogue import Unit
from ..writer import ClauseWriter
from .offers import flipped
from .taken_up import question_ids

# What is done once and for all in the world, and no text or search.
_OFFERED = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:(?:shall|should|may|can|could)\si|do\syou\swant\sme\sto|would\syou\slike\sme\sto)\s"
    r"(?:just\s|also\s|then\s|now\s)?(?P<verb>cancel|book|order|reserve|renew|rent|return|postpone|reschedule|register|buy|extend)\s"
    r"(?P<what>(?:the|your|a|an|two|three)\s[^?]{2,60})\?$",
    re.IGNORECASE,
)
_ANY_OFFERED = re.compile(
    r"(?:[\w’']+[,.!]\s)?(?:shall|should|may|can|could)\si\s(?:just\s|also\s|then\s|now\s)?[a-z]+\s"
    r"(?P<what>(?:the|your)\s(?:(?!for\b|to\b|on\b|at\b|from\b|until\b)[\w’'-]+\s?){1,4})\?$",
    re.IGNORECASE,
)
_AGREED = re.compile(
    r"(?:(?:yes|yeah|yep|sure|ok|okay|please|do|go\sahead|definitely|of\scourse)[\s,.!]*)+"
    r"(?:(?:please\s)?(?P<verb>[a-z]+)\s(?:it|them|that)(?:,?\splease)?)?[\s,.!]*(?:thanks|thank\syou)?[.!]*$",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"(?:no|nope|not\syet|better\snot)[\s,.;!–—-]+(?:please\s)?(?P<verb>keep|leave|hold|extend|postpone|move)\s(?:it|them|that)\s"
    r"(?P<rest>(?:until|till|for\s(?:another|the|a|one|two|three|\d)|to|on|at|in|as)\b(?!\s(?:now|is|it\sis)\b)[^?]{2,60}?)[.!]*$",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:not|fail(?:ed|s)?|error|unable|sorry|unfortunately|problem|tried)\b|n['’]t\b",
    re.IGNORECASE,
)
# "Once it is booked", "Do you want it booked?"
_NOT_YET = re.compile(
    r"\b(?:once|when|as\ssoon\sas|if|will|going\sto|being|to\sbe|may|might|should)\b|"
    r"['’]ll\b|\?$",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\d|day\b|\b(?:tonight|tomorrow|week|weekend|month|year|spring|summer|autumn|winter|"
    rf"{'|'.join(MONTHS)})\b",
    re.IGNORECASE,
)
_TURNS = 3
_EVENT = Label(MemoryType.EPISODIC, 5, "event", "event")


class CarriedOut:
    """The last offer that the user took, until the agent says that it is done."""

    def __init__(self, *, writer: ClauseWriter) -> None:
        self._writer = writer
        self._taken: tuple[Unit, str, str] | None = None

    def takes(self, *, unit: Unit) -> None:
        """Learn that the user agrees to what the agent has just offered to do."""
        offer = _OFFERED.match(unit.question) if not unit.place else None
        agreed = _AGREED.match(unit.text) if offer else None
        if offer and agreed:
            verb = offer.group("verb").lower()
            if (agreed.group("verb") or verb).lower() == verb:
                self._taken = (unit, verb, offer.group("what").strip())

    def hear(self, *, unit: Unit) -> None:
        """Tell what was taken as done where the agent says so, and forget it where it failed."""
        if self._taken is None:
            return
        asked, verb, what = self._taken
        done = past_of(base=verb)
        if unit.turn - asked.turn > _TURNS or _FAILED.search(unit.text):
            self._taken = None
        elif not _NOT_YET.search(unit.text) and re.search(rf"\b{done}\b", unit.text, re.IGNORECASE):
            self._taken = None
            several = what.endswith("s") and not what.endswith("ss")
            # "A table on Friday is booked": the day is that of the table and lies ahead.
            dated = bool(_DATED.search(what))
            were = ("are" if several else "is") if dated else ("were" if several else "was")
            clause = f"{capitalised(flipped(text=what))} {were} {done}"
            sources = merged_sources(question_ids(unit=asked), asked.sources, (unit.message_id,))
            self._tell(unit=replace(asked, sources=sources, question=""), clause=clause)

    def _tell(self, *, unit: Unit, clause: str) -> None:
        """Add what was done as it was offered; nothing that was named before is lent to it."""
        past = is_past(text=clause)
        told = third_person_text(text=clause, voice=unit.voice, past=past)
        found = resolve_dates(text=told, today=unit.at.date(), past=past)
        draft = Draft(
            sentence(found.text), _EVENT, unit.sources, unit.turn, unit.at, unit.voice.name
        )
        if unit.own:
            self._writer.ledger.add(replace(draft, dates=found.dates, clause=clause))
        self._writer.observe(unit=unit, text=clause)


def kept_instead(*, question: str, answer: str) -> str:
    """What is wanted instead of an offer: "I want to keep the skip until May", or "".

    The question is "Should I cancel the skip?", the answer "No, keep it until May".
    """
    offer, kept = _ANY_OFFERED.match(question), _KEPT.match(answer)
    if offer is None or kept is None:
        return ""
    what = flipped(text=offer.group("what").strip())
    return f"I want to {kept.group('verb').lower()} {what} {kept.group('rest')}"
