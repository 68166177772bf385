"""What a user takes up of the agent's words: a proposal, an offer to remind, a helpful thing."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

from ...types import MemoryType
from ..drafts import merged_sources
from ..kinds.labels import Label
from ..language.leads import strip_lead
from ..language.names import names_in
from ..language.syntax import has_verb
from ..requests import RequestFrame
from ..threads.dialogue import Unit
from ..writer import ClauseWriter
from .adoption import adopted

_OWN_QUESTION_TURNS = 4
_SENTENCES_KEPT = 4
_IT = re.compile(r"\bit\b")
_REMINDER = re.compile(r"\bremind(?:er|ed)?\b", re.IGNORECASE)
_AHEAD = re.compile(r"\b(?:ahead|before|earlier|prior|in\sadvance|beforehand)\b", re.IGNORECASE)
# "Shall I put that into the notes?": where it is written down is no decision.
_NOTES_IT = re.compile(
    r"(?:to\s)?(?:put|note|enter|write|add|save|record|log|mark)\s(?:down\s)?(?:that|this|it|them)\b",
    re.IGNORECASE,
)
_WILL_DO = re.compile(
    r"\s(?:will\sdo|should\sdo|is\s(?:fine|enough|plenty|good|ok)|would\sbe\s\w+|works)(?:\splease)?$",
    re.IGNORECASE,
)
_WOULD_HELP = re.compile(
    r"^would\s(?P<what>(?!you\b|it\b|that\b)[^?]{3,50}?)\s(?:help|be\s(?:useful|helpful|good|nice|of\suse)|do|work|suit\syou)"
    r"(?:\s\w+){0,2}\?$",
    re.IGNORECASE,
)
_IT_WOULD = re.compile(
    r"^(?:(?:yes|yeah|sure|definitely)[\s,]+)?(?:they|it|that|yes)(?:\s(?:would|might|will))?(?:\s(?:really|very\smuch|please))?,\s"
    r"(?P<how>.{4,})$",
    re.IGNORECASE,
)


class TakenUp:
    """Reads what users accept beside what the agent has just said."""

    def __init__(self, *, writer: ClauseWriter, frame: RequestFrame) -> None:
        self._writer = writer
        self._frame = frame
        self._offered: list[Unit] = []

    def hear(self, *, unit: Unit) -> None:
        """Take in a sentence of the agent."""
        self._offered = [*self._offered[-_SENTENCES_KEPT:], unit]

    def welcomes(self, *, unit: Unit, text: str) -> bool:
        """Whether an answer takes the agent up on a reminder, or says how something would help."""
        return self._reminds(unit, text) or self._would_help(unit, text)

    def adopts(self, *, unit: Unit, asked: Unit | None) -> bool:
        """Write down as a decision what the user takes up of the agent's last proposal."""
        near = [each for each in self._offered if each.turn == unit.turn - 1]
        taken = adopted(said=unit.text, offered=[each.text for each in near]) if near else ""
        if unit.place or not taken or _NOTES_IT.match(taken) or self._frame.takes(unit=unit):
            return False
        focus = self._writer.focus
        sources: tuple[UUID, ...] = (near[-1].message_id,)
        thing = focus.thing(turn=unit.turn)
        named = focus.topic.name if focus.topic else ""
        if asked is not None and unit.turn - asked.turn <= _OWN_QUESTION_TURNS:
            named = next(iter(names_in(asked.text)), named)
            sources = (asked.message_id, *sources)
        taken = _IT.sub(thing, taken, count=1) if thing else taken
        about = f" for {named}" if named and named.lower() not in taken.lower() else ""
        whole = replace(unit, sources=merged_sources(unit.sources, sources))
        label = Label(MemoryType.EPISODIC, 7, "decision", "decision", confidence=0.7)
        self._writer.write(unit=whole, clause=f"I decided{about}: {taken}", label=label)
        return True

    def _reminds(self, unit: Unit, text: str) -> bool:
        """ "A week ahead will do" after "Shall I remind you?"."""
        when = _WILL_DO.sub("", text.rstrip(".! "))
        if not _REMINDER.search(unit.question) or has_verb(text=when) or not _AHEAD.search(when):
            return False
        when = when[:1].lower() + when[1:]
        return self._writer.ledger.remind(
            name=unit.voice.name, when=when, turn=unit.turn, sources=unit.sources
        )

    def _would_help(self, unit: Unit, text: str) -> bool:
        """ "They would, every Sunday" after "Would prep lists help?"."""
        asked, given = _WOULD_HELP.match(strip_lead(text=unit.question)), _IT_WOULD.match(text)
        if asked is None or given is None or unit.place:
            return False
        whole = replace(unit, sources=merged_sources(unit.sources, question_ids(unit=unit)))
        wish = f"I want {asked.group('what')} {given.group('how')}"
        self._writer.write(unit=whole, clause=wish, request=True)
        return True


def question_ids(*, unit: Unit) -> tuple[UUID, ...]:
    """The message whose question a unit answers."""
    return (unit.question_id,) if unit.question_id else ()
