"""A clause into a draft: who, when and about what, all written out."""

from __future__ import annotations

import re
from dataclasses import replace

from .admitting.admission import Admission
from .admitting.evidence import Heard
from .days.anchors import is_anchored, without_anchors
from .days.dates import resolve_dates
from .days.named_years import goes_on_from
from .drafts import Draft, lowered, merged_sources, sentence
from .fillers import is_stub
from .kinds.introductions import Introduction
from .kinds.labels import Label
from .kinds.patterns import label_clause
from .kinds.pins import pinned_label
from .kinds.profile import told_in_passing
from .language.leaning import (
    BARE_THERE,
    DOES_THAT,
    GOES_ON,
    IMPERSONAL,
    LEANS,
    OBJECT,
    OF_IT,
    POINTING,
    PROPERTY,
    THEIRS,
    UNNAMED,
)
from .language.names import names_in
from .language.pronouns import begins_with_pronoun, leaves_open
from .language.rewrite import third_person_text
from .language.tense import is_past
from .language.words import content_words
from .ledger import Ledger
from .meant.acts import Act
from .notes import as_answer
from .requests import wishes_told
from .threads.dialogue import Unit
from .threads.entities import Focus
from .threads.inquiries import body_answered, person_answered, thing_answered
from .threads.objects import Objects
from .threads.over_there import OverThere
from .threads.said_before import SaidBefore, leans_on_name
from .threads.topics import OnTopic, with_topic

_SELF = re.compile(r"\b(?:i|me|my|mine|i['’](?:m|ve|ll|d))\b", re.IGNORECASE)
_WE = re.compile(r"\b(?:we|our|us)\b", re.IGNORECASE)
_DANGLING = re.compile(r"(?:and\s|but\s|so\s|also\s)?it(?:['’]s)?\s", re.IGNORECASE)
_CONJUNCTION = re.compile(r"^(?:and|but|so|also)\s", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_REACH = 4


class ClauseWriter:
    """Writes clauses as standalone third-person drafts into the ledger of one conversation."""

    def __init__(self, *, speakers: frozenset[str], admission: Admission) -> None:
        self.focus = Focus()
        self.ledger = Ledger()
        self._objects = Objects()
        self._over_there = OverThere()
        self._speakers = speakers
        self._admission = admission
        self._before = SaidBefore()

    def observe(self, *, unit: Unit, text: str) -> None:
        """Learn names and topics from a sentence that becomes no memory."""
        third = third_person_text(text=text, voice=unit.voice)
        self._learn(unit, third)

    def answered(self, *, unit: Unit, answer: str) -> None:
        """Learn what an answer names, so that "it" means nothing that was spoken of before."""
        body = body_answered(question=unit.question, answer=answer)
        if body:
            self.focus.answered_who(name=body, source=unit.message_id, turn=unit.turn)
        one = person_answered(question=unit.question, answer=answer)
        if one:
            self.focus.answered_by(name=one, source=unit.message_id, turn=unit.turn)
        named = thing_answered(question=unit.question, answer=answer)
        if named is None:
            return
        self._objects.answered(name=named, source=unit.message_id, turn=unit.turn)
        if named:
            self.focus.answered(name=named, source=unit.message_id, turn=unit.turn)

    def introduce(self, *, unit: Unit, said: list[Introduction]) -> None:
        """Add what a speaker says of name and pronouns."""
        if unit.own:
            for one in said:
                self.ledger.add(self._draft(unit, one.content, one.label))

    def write(
        self,
        *,
        unit: Unit,
        clause: str,
        pinned: bool = False,
        request: bool = False,
        label: Label | None = None,
        act: Act = Act.STATEMENT,
        sure: bool = False,
    ) -> None:
        """Add one clause; `request` marks a wish, `label` overrides what the patterns say.

        `sure` says that it is to be kept whatever it shows, as where the user was asked for it.
        """
        if not unit.own:
            self.observe(unit=unit, text=clause)
            return
        past = is_past(text=clause)
        told, there = self._over_there.resolve(
            text=wishes_told(clause=clause),
            turn=unit.turn,
            question=unit.question,
            asked=unit.question_id,
        )
        resolved, sources = self.focus.resolve(text=told, turn=unit.turn, reach=_REACH)
        sources = [*there, *sources]
        if _DANGLING.match(resolved) and self._leans(unit, resolved, past):
            return
        third = third_person_text(text=resolved, voice=unit.voice, past=past)
        third, meant, is_open = self._objects.resolve(
            text=third,
            turn=unit.turn,
            owner=unit.voice.name,
            else_thing=self.focus.topic,
            else_somebody=self.focus.somebody(turn=unit.turn),
        )
        sources = [*sources, *meant]
        told_of = _SELF.search(clause) or _WE.search(clause) or IMPERSONAL.match(third)
        if UNNAMED.match(third) and told_of:
            third = f"{unit.voice.name} says that {third[:1].lower()}{third[1:]}"
        unnamed = leaves_open(text=third)
        bare_there = is_open and BARE_THERE.search(third)
        if bare_there and not self._before.names_place(unit=unit, told=third):
            self._learn(unit, third)
            return
        if unit.question and not unit.place and POINTING.match(third) and not request:
            asked = as_answer(unit=unit, text=resolved)
            third = asked or third
        today = unit.at.date()
        if is_anchored(text=third):
            own = resolve_dates(text=without_anchors(text=third), today=today, past=past).dates
            third = self.ledger.anchored(text=third, turn=unit.turn, own=own)
        third = third if past else self.ledger.of_known_day(text=third, today=today)
        began = goes_on_from(text=clause, before=self._before.clause(unit=unit))
        self._before.learn(unit=unit, clause=clause)
        found = resolve_dates(
            text=third, today=today, past=past, said_before=began, weekly=unit.weekly
        )
        filed = label or label_clause(
            clause=clause, dates=found.dates, past=past, request=request, chat=False
        )
        text = found.text
        heard = Heard(
            unit,
            clause,
            text,
            filed,
            found.dates,
            act,
            joined=bool(sources) or len(unit.sources) > 1,
        )
        if is_stub(clause=clause):
            self._learn(unit, text)
            return
        if unit.place and not pinned and OF_IT.fullmatch(clause):
            said = third_person_text(text=clause, voice=unit.voice, past=past)
            if self.ledger.follow(draft=self._draft(unit, sentence(said), filed)):
                return
        if not (pinned or label or sure):
            weighed = self._admission.weigh(heard)
            if not weighed.kept:
                self._learn(unit, text)
                return
            filed = weighed.label
        if filed.category == "preferences" and not _SELF.search(clause) and not _WE.search(clause):
            text = f"{unit.voice.name} says that {lowered(text)}"
        personal = bool(_SELF.search(clause)) or filed.category in {"profile", "preferences"}
        named = OnTopic(text)
        does_that = bool(unit.place and DOES_THAT.match(clause))
        if not (personal or filed.pinned or does_that):
            named = with_topic(text=text, topic=self.focus.topic, turn=unit.turn)
            if leans_on_name(unit=unit, clause=clause, told=named.text):
                them = bool(THEIRS.search(clause))
                lent = self.focus.lent(turn=unit.turn, of_people=them)
                named = with_topic(text=named.text, topic=lent, turn=unit.turn)
        draft = replace(
            self._draft(unit, sentence(named.text), pinned_label(filed) if pinned else filed),
            sources=merged_sources(unit.sources, named.sources, sources),
            about=named.about,
            dates=found.dates,
            clause=clause,
        )
        self._learn(unit, found.text)
        leans = bool(LEANS.match(draft.text))
        goes_on = does_that or GOES_ON.match(clause) or OBJECT.match(clause)
        if (
            (leans or (unit.place and not sources and goes_on))
            and not filed.pinned
            and self.ledger.follow(draft=draft, of_any_type=leans)
        ):
            return
        if unnamed and not filed.pinned:
            if unit.place and begins_with_pronoun(text=draft.text):
                self.ledger.follow(draft=draft, of_any_type=True)
            return
        # "User sails it" tells nothing where nobody knows what is sailed; beside what it means in
        # its message, and with a name of its own, it can stand.
        if is_open and not filed.pinned and not (unit.place and names_in(clause)):
            if unit.place:
                self.ledger.follow(draft=draft)
            return
        self.ledger.add(draft)
        if filed.category == "preferences":
            for fact, kind in told_in_passing(clause=clause):
                told = third_person_text(text=fact, voice=unit.voice)
                self.ledger.add(self._draft(unit, sentence(told), kind))

    def is_worth(self, *, unit: Unit, fragment: str) -> bool:
        """Whether a few words without a verb tell enough to be added to what was just said."""
        label = label_clause(clause=fragment, dates=(), past=False, request=False, chat=False)
        heard = Heard(unit, fragment, fragment, label, (), Act.FRAGMENT, joined=True)
        return len(content_words(fragment)) > 1 and self._admission.weigh(heard).kept

    def _leans(self, unit: Unit, clause: str, past: bool) -> bool:
        """Give an "it" that means nothing named to what was told just before, or drop it."""
        bare = _CONJUNCTION.sub("", clause)
        if not past and PROPERTY.match(bare):
            told = third_person_text(text=bare, voice=unit.voice, past=past)
            found = resolve_dates(text=told, today=unit.at.date(), past=past)
            text = found.text[:1].lower() + found.text[1:]
            if self.ledger.detail(text=text, turn=unit.turn, sources=unit.sources):
                return True
        return past and not names_in(bare) and not _DIGIT.search(bare)

    def _draft(self, unit: Unit, text: str, label: Label) -> Draft:
        draft = Draft(text, label, unit.sources, unit.turn, unit.at, unit.voice.name)
        return replace(draft, corrects=unit.corrects)

    def _learn(self, unit: Unit, third: str) -> None:
        self._objects.observe(text=third, source=unit.message_id, turn=unit.turn)
        self._over_there.observe(text=third, source=unit.message_id, turn=unit.turn)
        self.focus.observe(
            text=third, source=unit.message_id, turn=unit.turn, speakers=self._speakers,
            place=unit.place,
        )  # fmt: skip
