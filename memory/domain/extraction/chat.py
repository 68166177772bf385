"""Two people talking: each turn that tells something concrete becomes one memory."""

from __future__ import annotations

import re
from dataclasses import replace

from .admitting.information import information
from .admitting.reactions import is_concrete, is_reaction, without_symbols
from .answering.yes_no import closed_answer
from .days.dates import resolve_dates
from .days.moments import FoundDate
from .drafts import MAX_CHARS, Draft, merged_sources, sentence
from .kinds.labels import Label
from .kinds.patterns import label_clause, standing_label
from .language.leads import strip_lead
from .language.rewrite import Voice, third_person_text
from .language.subjects import with_subject
from .language.syntax import has_verb
from .language.tense import is_past
from .language.words import content_words, words_of
from .meant.acts import Act, act_of
from .meant.guards import is_command
from .threads.dialogue import Unit
from .threads.entities import Focus

FIRST_PASS = 2.6
SECOND_PASS = 1.0
_VOCATIVE = re.compile(
    r"(?:^(?:(?:Hey|Hi|Hello|Wow|Thanks|Yeah|Yep|Oh)\s)?(?P<a>[A-Z][a-z]+)[,!]\s)|"
    r"(?:,\s(?P<b>[A-Z][a-z]+)(?=[.!?]*$))|(?:,\s(?P<c>[A-Z][a-z]+),\s)"
)
_LEANS = re.compile(
    r"^(?:it|that|this|they|those|these|he|she|yes|yeah|no|definitely|sure|both|there|one|some)\b",
    re.IGNORECASE,
)
_SHORT = 60
_MAX_QUESTION = 110


class ChatListener:
    """Collects what one turn says and turns it into at most a few two-sentence memories."""

    def __init__(self, *, threshold: float) -> None:
        self._threshold = threshold
        self._focus = Focus()
        self._turn: list[tuple[Unit, str, Label, tuple[FoundDate, ...]]] = []

    def listen(self, unit: Unit) -> list[Draft]:
        """Take in one sentence; returns the memories of the turn before, once it is over."""
        done = self.finish() if self._turn and self._turn[-1][0].turn != unit.turn else []
        told = self._told(unit)
        if told is not None:
            self._turn.append(told)
        return done

    def finish(self) -> list[Draft]:
        """The memories of the turn that is under way."""
        turn, self._turn = self._turn, []
        drafts: list[Draft] = []
        for unit, text, label, dates in turn:
            last = drafts[-1] if drafts else None
            if (
                last is not None
                and len(last.text) + len(text) + 1 <= MAX_CHARS
                and last.clause == "open"
            ):
                drafts[-1] = Draft(
                    f"{last.text} {text}", max(last.label, label, key=_weight), unit.sources,
                    unit.turn, unit.at, unit.voice.name, "",
                    last.dates + dates, "closed",
                )  # fmt: skip
            else:
                drafts.append(
                    Draft(
                        text,
                        label,
                        unit.sources,
                        unit.turn,
                        unit.at,
                        unit.voice.name,
                        "",
                        dates,
                        "open",
                    )
                )
        return [replace(draft, clause="") for draft in drafts]

    def _told(self, unit: Unit) -> tuple[Unit, str, Label, tuple[FoundDate, ...]] | None:
        affirmed = self._affirmed(unit)
        if affirmed is not None:
            return affirmed
        act = act_of(text=unit.text, chat=True)
        if act in {Act.QUESTION, Act.REQUEST, Act.COMMAND}:
            self._focus.observe(
                text=unit.text,
                source=unit.message_id,
                turn=unit.turn,
                speakers=frozenset({unit.voice.addressee, unit.voice.name}),
            )
            return None
        known = frozenset({unit.voice.addressee, unit.voice.name})
        spoken = without_symbols(text=unit.text)
        bare = strip_lead(text=spoken)
        if is_reaction(text=spoken, known=known) or is_reaction(text=bare, known=known):
            return None
        clause = with_subject(text=_without_vocative(bare, unit))
        score = information(text=clause, known=known)
        past = is_past(text=clause)
        resolved, _ = (
            self._focus.resolve(text=clause, turn=unit.turn, reach=2)
            if re.match(r"(?i)(?:she|he)\b", clause)
            else (clause, [])
        )
        third = third_person_text(text=resolved, voice=unit.voice, past=past)
        found = resolve_dates(text=third, today=unit.at.date(), past=past, weekly=unit.weekly)
        speakers = frozenset({unit.voice.addressee, unit.voice.name})
        self._focus.observe(
            text=found.text, source=unit.message_id, turn=unit.turn, speakers=speakers
        )
        if not unit.own or score + (0.8 if found.dates else 0.0) < self._threshold:
            return None
        nameless = unit.voice.name not in found.text and not self._turn and not unit.question
        if nameless and not found.dates and not is_concrete(text=clause, known=known):
            return None
        label = label_clause(clause=clause, dates=found.dates, past=past, request=False, chat=True)
        return unit, self._standalone(unit, found.text, clause), label, found.dates

    def _affirmed(self, unit: Unit) -> tuple[Unit, str, Label, tuple[FoundDate, ...]] | None:
        """What a bare yes or no to the other's "Do you live in Lyon?" says of the speaker."""
        if unit.place or not unit.own or unit.question_id is None:
            return None
        whole = closed_answer(question=unit.question, answer=unit.text)
        if not whole or is_command(text=whole):
            return None
        asked = replace(unit, sources=merged_sources(unit.sources, [unit.question_id]))
        third = third_person_text(text=whole, voice=unit.voice)
        return asked, sentence(third), standing_label(clause=whole), ()

    def _standalone(self, unit: Unit, text: str, clause: str) -> str:
        """The sentence with its speaker, and with the question where it leans on it."""
        text = sentence(text)
        asked_much = len(content_words(unit.question)) >= 2
        leaning = (
            bool(_LEANS.match(clause))
            or not has_verb(text=clause)
            or (len(clause) < _SHORT and asked_much)
        )
        question = unit.question[-_MAX_QUESTION:]
        if leaning and question and not self._turn and len(question) + len(text) < MAX_CHARS - 40:
            asked = third_person_text(text=strip_lead(text=question), voice=_asker(unit))
            return sentence(f'Asked "{asked.rstrip("?! ")}", {unit.voice.name} said: {text}')
        if unit.voice.name not in text and not self._turn:
            text = sentence(f"{unit.voice.name} said: {text}")
        return text


def _asker(unit: Unit) -> Voice:
    return Voice(name=unit.voice.addressee, group=unit.voice.group, addressee=unit.voice.name)


def _weight(label: Label) -> tuple[int, bool]:
    return label.importance, label.pinned


def _without_vocative(text: str, unit: Unit) -> str:
    """The sentence without the other person's name as an address."""
    other = unit.voice.addressee.lower()

    def drop(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group).lower()
        near = name == other or (len(name) > 2 and other.startswith(name[:3]))
        return (", " if match.group("c") else "") if near else match.group()

    return _VOCATIVE.sub(drop, text) if len(words_of(text)) > 1 else text
