"""What a user asks for: a lasting wish is kept, a one-time request only frames its details."""

from __future__ import annotations

import re
from dataclasses import replace

from ..types import MemoryType
from .answering.answers import complete_answer
from .answering.taken_up import question_ids
from .drafts import merged_sources
from .fillers import tells_too_little
from .kinds.labels import Label
from .kinds.pins import pinned_label
from .kinds.procedures import is_procedure
from .kinds.profile import profile_label
from .language.syntax import is_imperative
from .language.verbs import AMBIGUOUS
from .language.words import DETERMINERS, PREPOSITIONS, STOPWORDS, words_of
from .meant.acts import is_lasting
from .meant.manners import is_manner
from .meant.turn_tasks import is_feedback, is_once_only, is_play, is_turn_task
from .requests import RequestFrame, as_wish, is_idle_wish, reminder_before, split_reason
from .threads.dialogue import Unit
from .writer import ClauseWriter

_WORKS = re.compile(
    r"\b(?:that|this|it|which)\s(?:always\s|usually\s|normally\s)?(?:helps|works|worked|fixes|fixed|"
    r"helped|does\sthe\strick|did\sthe\strick|solves|solved|has\sworked)\b"
    r"|\bthat['’]s\s(?:what|how|the\sway)\s(?:we\s|i\s|they\s|[\w’'-]+\s(?:\w+\s)?)(?:does|do|did|always|"
    r"usually|showed|taught|fixed|fixes)\b|\b(?:that|this|it)\s(?:usually|always|normally)\s(?:does|did)\b",
    re.IGNORECASE,
)
_HOW = re.compile(r"\bhow\s(?:to|do|does|did|can|should|is|are)\b", re.IGNORECASE)
_PLAIN_WISH = re.compile(r"(?:please\s)?(?:don['’]t|do\snot|never|always)\b", re.IGNORECASE)
# "Always use tabs" is taken for a preference, which is told of a person.
_ALWAYS = re.compile(r"always\b", re.IGNORECASE)
_OF_YOU = re.compile(r"\b(?:you|your|yours)\b", re.IGNORECASE)
_ASKED_OWN = re.compile(
    r"\bwhat\s(?:do|will|would|are)\syou\s(?:[a-z]+\s){0,2}?do(?:ing)?\b", re.IGNORECASE
)
_ASKED_NEED = re.compile(
    r"\bwhat\s(?:else\s)?(?:do|does|will|would|did)\s.*\b(?:need|want|get|bring|require|eat|drink)\b",
    re.IGNORECASE,
)
_WORK_TURNS = 2
_SPOKEN_TO = frozenset({"profile.language", "profile.timezone"})


class Asking:
    """Reads requests into the ledger; holds the one-time request that is open."""

    def __init__(self, *, writer: ClauseWriter, frame: RequestFrame) -> None:
        self._writer = writer
        self._frame = frame
        self._work_turn = -_WORK_TURNS - 1
        self._plays = False

    def is_about_work(self, *, unit: Unit, text: str) -> bool:
        """Whether a sentence only says how a text that was just asked for should be changed."""
        if unit.turn - self._work_turn > _WORK_TURNS or is_lasting(text=text):
            return False
        in_play = self._plays and bool(unit.question) and not _OF_YOU.search(unit.question)
        if not in_play and (unit.question or not is_feedback(text=text)):
            return False
        self._work_turn = unit.turn
        return True

    def request(self, *, unit: Unit, text: str, pinned: bool) -> str:
        """Take in a request; returns the fact that was given as its reason, or ""."""
        if (
            not pinned
            and not (is_lasting(text=text) or is_manner(text=text))
            and (is_once_only(text=text) or is_turn_task(text=text))
        ):
            self._work_turn = unit.turn
            self._plays = is_play(text=text)
            self._writer.observe(unit=unit, text=text)
            return ""
        profile = profile_label(clause=text)
        spoken = profile if profile and profile.attribute in _SPOKEN_TO else None
        when = reminder_before(text=text)
        if when and self._writer.ledger.remind(
            name=unit.voice.name, when=when, turn=unit.turn, sources=unit.sources
        ):
            return ""
        pointing = {"it", "that", "this"} & set(words_of(text))
        if pointing and not pinned and tells_too_little(clause=text):
            return ""
        manner = is_manner(text=text)
        lasting = manner or is_lasting(text=text) or bool(_PLAIN_WISH.match(text))
        told_how = bool(_HOW.search(unit.question)) and is_procedure(clause=text, past=False)
        if is_imperative(text=text) and (told_how or _WORKS.search(text)):
            label = Label(MemoryType.PROCEDURAL, 6, "procedure", "procedure")
            label = pinned_label(label) if pinned else label
            self._writer.write(unit=unit, clause=text, label=label)
        elif pinned and is_imperative(text=text) and not _ALWAYS.match(text):
            self._writer.write(unit=unit, clause=text, pinned=True)
        elif lasting and not pinned and is_idle_wish(text=text):
            return ""
        elif spoken or lasting:
            wish = as_wish(text=text)
            self._writer.write(unit=unit, clause=wish, pinned=pinned, request=True, label=spoken)
        elif not self._answers(unit, text):
            asked, reason = split_reason(text=text)
            self.close()
            self._frame.opened(unit=unit, text=asked)
            # "Put Bo in cc" names Bo, and nobody called Put Bo.
            lowered = asked[:1].lower() + asked[1:] if is_imperative(text=asked) else asked
            self._writer.observe(unit=unit, text=lowered)
            return reason
        return ""

    def _answers(self, unit: Unit, text: str) -> bool:
        """Take words that look like orders for the answer that they are.

        After "And when it gets stuck?" they are a way of doing something, after "What will you
        do?" the speaker's own doing, and "read access" is what somebody needs.
        """
        whole = complete_answer(question=unit.question, answer=text) if unit.question else ""
        is_way = bool(re.match(r"(?i)(?:when|if|in\scase)\b", whole))
        if not (is_way or _ASKED_OWN.search(unit.question) or _is_thing_needed(unit, text)):
            return False
        if not whole:
            return False
        asked = replace(unit, sources=merged_sources(unit.sources, question_ids(unit=unit)))
        label = Label(MemoryType.PROCEDURAL, 6, "procedure", "procedure") if is_way else None
        self._writer.write(unit=asked, clause=whole, label=label)
        return True

    def close(self) -> None:
        """Write down the open request, where it names details or a date."""
        request = self._frame.closed()
        if request is not None:
            self._writer.ledger.insert_by_turn(request)


def _is_thing_needed(unit: Unit, text: str) -> bool:
    """Whether "read access" answers what somebody needs, though "read" may be an order."""
    first = words_of(text)[:2]
    return (
        bool(_ASKED_NEED.search(unit.question))
        and len(first) > 1
        and first[0] in AMBIGUOUS
        and first[1] not in DETERMINERS | PREPOSITIONS | STOPWORDS
    )
