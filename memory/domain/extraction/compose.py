"""The walk through a conversation: each unit to where it belongs, with the context beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import UUID

from ..types import MemoryType, Role
from .acts import Act, act_of, is_lasting
from .answers import complete_answer, is_offer
from .chat import FIRST_PASS, ChatListener
from .clauses import opens_clause, split_clauses, trim
from .dates import resolve_dates
from .dialogue import Unit
from .drafts import Draft, dated, merged_sources
from .fillers import is_acknowledgement, is_ephemeral, is_rule_fragment, says_nothing, tells_too_little
from .introductions import introductions
from .labels import Label
from .pins import split_pin
from .profile import profile_label
from .requests import RequestFrame, as_wish, asks_for_none, reminder_before
from .rewrite import third_person_text, with_subject
from .syntax import is_imperative, strip_lead
from .tools import ToolRun, read_report
from .words import PREPOSITIONS, content_words, words_of
from .writer import ClauseWriter

_ONLY_SECRET = re.compile(r"(?:\b(?:is|are|was)|=|:)\s?\[masked\]", re.IGNORECASE)
_BARE_NOUN = re.compile(
    r"^(?:(?:and|what\sabout|how\sabout|any)\s)*(?:the\s|your\s)?(?P<np>[a-z-]+(?:\s[a-z-]+)?)$",
    re.IGNORECASE,
)
_LEANING_ANSWER = re.compile(r"(?:there|it|that|they|none|we\sdo|no)\b", re.IGNORECASE)
_BARE_WH = re.compile(
    r"^(?:\w+[,.]\s)?(?:and\s)?(?:when|where|who|how|since\swhen|until\swhen|"
    r"(?:at\s)?what\stime|how\slong|which\sday|(?:for\s)?how\smany(?:\s(?P<noun>[a-z]+))?)\?$",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"^(?:but\s)?(?:never|not|no|except|only|always|preferably|then|after\sthat|next|plus|like)\b",
    re.IGNORECASE,
)
_PROPOSED = re.compile(
    r"^(?:\w+[.,!]\s)?(?:i\s(?:found|have|can\soffer|see)|there(?:['’]s|\sis)|the\s(?:next|first)|"
    r"(?:how|what)\sabout|would|shall\si\stake)\b.*(?:\d|day\b)",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"^(?:(?:yes|yep|ok|okay|great|perfect|sure|fine|good)[\s,.!]*)*(?:(?:please\s)?(?:take|book|"
    r"choose|go\swith|reserve)\s(?:it|that|this|those|them)(?:\sone)?|(?:that|it)(?:\s(?:works|suits|"
    r"fits|sounds)|['’]s\s(?:perfect|fine|good|great))[\w\s]{0,20}|perfect|deal|i['’]ll\stake\s"
    r"(?:it|that)|yes|ok|sounds\sgood)(?:,?\splease|,?\sthanks)?[.!]*$",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"^(?:it|they|he|she)(?:['’]s|\s(?:has|have|is|are))?\s(?:just\s|already\s|since\s|finally\s)?"
    r"(?:turned\sup|arrived\s(?:after\sall|in\sthe\send)|works?\sagain|working\sagain|back|fixed|"
    r"been\s(?:fixed|found|solved|returned|repaired)|found|solved|sorted|resolved)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"\d|\b\w+day\b")
_CONCRETE = re.compile(r"\d|[^.!?]\s[A-ZÀ-Þ]\w")
_MAX_DETAIL = 12
_NAME_ASKED = re.compile(
    r"\b(?:your\s(?:full\s|first\s|last\s|account\s)?name|who\sam\si\s(?:talking|speaking)|"
    r"who\sis\s(?:this|asking))\b",
    re.IGNORECASE,
)
_TASTE_ASKED = re.compile(
    r"\byou\s(?:like|prefer|usually|always|normally|have)\b|\bfavou?rite\b|"
    r"\byour\s(?:name|account|e-?mail|phone)",
    re.IGNORECASE,
)
_PLAIN_WISH = re.compile(r"(?:please\s)?(?:don['’]t|do\snot|never|always)\b", re.IGNORECASE)
_SPOKEN_TO = frozenset({"profile.language", "profile.timezone"})
_FORGIVEN = frozenset({Act.GUESS, Act.QUOTE, Act.SMALL_TALK, Act.HYPOTHETICAL})


class Walk:
    """One pass over the units of one conversation; holds what earlier sentences established."""

    def __init__(self, *, units: list[Unit]) -> None:
        self._units = units
        self._writer = ClauseWriter(speakers=frozenset(unit.voice.name for unit in units))
        self._run = ToolRun()
        self._frame = RequestFrame()
        self._chat = ChatListener(threshold=FIRST_PASS)
        self._pin_next = -1
        self._proposal: Unit | None = None

    def drafts(self) -> list[Draft]:
        """All drafts of the conversation in order."""
        heard: list[Draft] = []
        for unit in self._units:
            if unit.role is Role.TOOL:
                self._run.observe(unit)
            elif unit.role is Role.USER and unit.chat:
                heard += self._chat.listen(unit)
            elif unit.role is Role.USER:
                self._user(unit)
            elif unit.role is Role.ASSISTANT:
                self._proposal = unit if _PROPOSED.search(unit.text) else self._proposal
                dates = resolve_dates(text=unit.text, today=unit.at.date(), past=False).dates
                self._writer.ledger.heard(dates=dates, turn=unit.turn)
                if self._run.units:
                    self._report(unit)
        self._close_frame()
        heard += self._chat.finish()
        return [dated(draft) for draft in [*self._writer.ledger.all(), *heard]]

    def _report(self, unit: Unit) -> None:
        """What the agent tells after tool messages."""
        ledger = self._writer.ledger
        problem = ledger.problem(turn=unit.turn)
        found, cause = read_report(unit=unit, run=self._run, problem=problem)
        for draft in found:
            text, sources = self._writer.focus.resolve(text=draft.text, turn=unit.turn, reach=6)
            resolved = resolve_dates(text=text, today=unit.at.date(), past=False)
            sources_all = merged_sources(draft.sources, sources)
            ledger.add(
                replace(draft, text=resolved.text, sources=sources_all, dates=resolved.dates)
            )
        if cause:
            tools = [tool.message_id for tool in self._run.units]
            ledger.explain(cause=cause, turn=unit.turn, sources=[*tools, unit.message_id])

    def _user(self, unit: Unit) -> None:
        if self._run.units and unit.turn > self._run.last_turn + 3:
            self._run = ToolRun()
        act = act_of(text=unit.text, chat=False)
        if act is Act.COMMAND:
            return
        if self._accepted(unit):
            return
        bare = strip_lead(text=unit.text)
        pinned, text = self._pin(unit, bare)
        text, headed = self._writer.focus.strip_heading(
            text=text, source=unit.message_id, turn=unit.turn
        )
        text = with_subject(text=trim(text=text))
        if not text or _ONLY_SECRET.search(text):
            return
        if act is not Act.QUESTION and text != bare.strip(" ,;-–—"):
            act = act_of(text=text, chat=False)
            act = Act.STATEMENT if pinned and act in _FORGIVEN else act
        told = act in {Act.STATEMENT, Act.FRAGMENT}
        asked = told and unit.question and unit.place <= 1 and not headed
        if not (asked and self._answered(unit, text, act)):
            self._sort(unit, bare, text, act, pinned)

    def _accepted(self, unit: Unit) -> bool:
        """Take what the agent just proposed for an open request ("Take it") as its details."""
        offer, self._proposal = self._proposal, None
        if offer is None or offer.turn != unit.turn - 1 or not self._frame.takes(unit=unit):
            return False
        if not _ACCEPTS.match(unit.text):
            return False
        found = re.sub(r"(?i)^(?:i\s(?:found|have|can\soffer|see)|there(?:['’]s|\sis))\s", "",
                       strip_lead(text=offer.text))  # fmt: skip
        self._frame.details.append((found, offer.message_id))
        return True

    def _sort(self, unit: Unit, bare: str, text: str, act: Act, pinned: bool) -> None:
        """Send a sentence to what its act asks for."""
        introduced = introductions(clause=text) if act in {Act.FRAGMENT, Act.REQUEST} else []
        if asks_for_none(text=bare) and not unit.question:
            self._writer.write(unit=unit, clause=as_wish(text=bare), pinned=pinned, request=True)
        elif introduced and len(split_clauses(text=text)) == 1:
            self._writer.introduce(unit=unit, said=introduced)
        elif introduced or act is Act.STATEMENT:
            self._state(unit, text, pinned)
        elif act is Act.REQUEST:
            self._asked(unit, text, pinned)
        elif act is Act.FRAGMENT and (pinned or is_rule_fragment(text=text)):
            self._writer.write(unit=unit, clause=text, pinned=pinned)
        elif not (
            act is Act.FRAGMENT
            and unit.place
            and _CONCRETE.search(" " + text)
            and len(text.split()) <= _MAX_DETAIL
            and self._detailed(unit, text, reach=0)
        ):
            self._writer.observe(unit=unit, text=text)

    def _pin(self, unit: Unit, text: str) -> tuple[bool, str]:
        """Whether the user wants this kept, and the text without the words that say so."""
        pinned, rest = split_pin(text=text)
        if pinned and not rest:
            # "Remember that." speaks of what was just said, or of what comes next.
            if not (unit.place and self._writer.ledger.pin_last(turn=unit.turn)):
                self._pin_next = unit.turn
            return False, ""
        announced = self._pin_next == unit.turn
        self._pin_next = -1
        return pinned or announced, rest

    def _answered(self, unit: Unit, text: str, act: Act) -> bool:
        """Complete an elliptic answer; True when that was all there is to do."""
        asked = replace(unit, sources=merged_sources(unit.sources, _ids(unit)))
        noun = _BARE_NOUN.match(strip_lead(text=unit.question).rstrip("?! "))
        leaning = act is Act.STATEMENT and not unit.place and _LEANING_ANSWER.match(text)
        if noun and leaning:
            self._writer.write(unit=asked, clause=f"{noun.group('np')}: {text}")
            return True
        bare = _BARE_WH.match(unit.question)
        placed = act is Act.FRAGMENT or words_of(text)[0] in PREPOSITIONS
        if bare and placed and not unit.place and not self._frame.takes(unit=unit):
            counted = f"{text.rstrip('. ')} {bare.group('noun')}" if bare.group("noun") else text
            if self._detailed(asked, counted):
                return True
        if act is Act.FRAGMENT and unit.place and _EXCEPTION.match(text):
            return self._detailed(unit, text, reach=0)
        if act is Act.STATEMENT and opens_clause(text=text) and not is_imperative(text=text):
            return False
        named = introductions(clause=f"my name is {text}")
        if named and _NAME_ASKED.search(unit.question):
            self._writer.introduce(unit=unit, said=named)
            return True
        if is_acknowledgement(text=text):
            return False
        whole = complete_answer(question=unit.question, answer=text)
        if noun and not whole and act is Act.FRAGMENT and not unit.place and " " in text:
            whole = f"{noun.group('np')}: {text}"
        taste = bool(whole) and _TASTE_ASKED.search(unit.question)
        fragment = act is Act.FRAGMENT
        if fragment and not taste and content_words(text) and self._frame.takes(unit=unit):
            self._frame.details.append((text, unit.message_id))
            return True
        if not whole and fragment and is_offer(question=unit.question) and _DATED.search(text):
            return self._detailed(asked, text)
        if not whole or (unit.place and not fragment):
            return False
        self._writer.write(unit=asked, clause=whole)
        return True

    def _detailed(self, unit: Unit, text: str, reach: int = 2) -> bool:
        """Add a fragment to what was told at most `reach` turns before."""
        third = third_person_text(text=text, voice=unit.voice)
        resolved = resolve_dates(text=third, today=unit.at.date(), past=False)
        return unit.own and self._writer.ledger.detail(
            text=resolved.text, turn=unit.turn, sources=unit.sources, reach=reach
        )

    def _state(self, unit: Unit, text: str, pinned: bool) -> None:
        if says_nothing(text=text):
            return
        told = third_person_text(text=text, voice=unit.voice)
        ledger = self._writer.ledger
        if ledger.lean(said=text, told=told, turn=unit.turn):
            return
        if _OUTCOME.match(text) and ledger.outcome(
            told=told, turn=unit.turn, sources=unit.sources
        ):
            return
        for clause in split_clauses(text=text):
            said = introductions(clause=clause)
            bare = strip_lead(text=clause)
            if said:
                self._writer.introduce(unit=unit, said=said)
            elif is_ephemeral(clause=clause) and not pinned:
                self._writer.observe(unit=unit, text=clause)
            elif is_imperative(text=bare) or re.match(r"(?i)please\b", clause):
                self._asked(unit, bare, pinned)
            elif pinned or act_of(text=clause, chat=False) in {Act.STATEMENT, Act.FRAGMENT}:
                self._writer.write(unit=unit, clause=trim(text=clause), pinned=pinned)

    def _asked(self, unit: Unit, text: str, pinned: bool) -> None:
        """A request: a lasting one is a preference, a one-time one only frames its details."""
        profile = profile_label(clause=text)
        spoken = profile if profile and profile.attribute in _SPOKEN_TO else None
        when = reminder_before(text=text)
        if when and self._writer.ledger.remind(
            name=unit.voice.name, when=when, turn=unit.turn, sources=unit.sources
        ):
            return
        pointing = {"it", "that", "this"} & set(words_of(text))
        if pointing and not pinned and tells_too_little(clause=text):
            return
        lasting = is_lasting(text=text) or bool(_PLAIN_WISH.match(text))
        if pinned and is_imperative(text=text):
            self._writer.write(unit=unit, clause=text, pinned=True)
        elif spoken or lasting:
            wish = as_wish(text=text)
            self._writer.write(unit=unit, clause=wish, pinned=pinned, request=True, label=spoken)
        elif not self._answer_procedure(unit, text):
            self._close_frame()
            self._frame.opened(unit=unit, text=text)
            self._writer.observe(unit=unit, text=text)

    def _answer_procedure(self, unit: Unit, text: str) -> bool:
        """Imperatives that answer "And when it gets stuck?" are a way of doing something."""
        whole = complete_answer(question=unit.question, answer=text) if unit.question else ""
        if not re.match(r"(?i)(?:when|if|in\scase)\b", whole):
            return False
        asked = replace(unit, sources=merged_sources(unit.sources, _ids(unit)))
        label = Label(MemoryType.PROCEDURAL, 6, "procedure", "procedure")
        self._writer.write(unit=asked, clause=whole, label=label)
        return True

    def _close_frame(self) -> None:
        request = self._frame.closed()
        if request is not None:
            self._writer.ledger.insert_by_turn(request)


def _ids(unit: Unit) -> tuple[UUID, ...]:
    """The message whose question a unit answers."""
    return (unit.question_id,) if unit.question_id else ()
