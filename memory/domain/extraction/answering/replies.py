"""What a user's words mean after the agent's: answers, bare details, and consent to an offer."""

from __future__ import annotations

import re
from dataclasses import replace

from ..clauses import opens_clause
from ..days.dates import resolve_dates
from ..drafts import merged_sources
from ..fillers import is_acknowledgement
from ..kinds.introductions import introductions
from ..kinds.patterns import standing_label
from ..language.declaratives import decapitalised
from ..language.leads import strip_lead
from ..language.rewrite import third_person_text
from ..language.syntax import has_verb, is_imperative
from ..language.words import PREPOSITIONS, content_words, words_of
from ..meant.acts import Act
from ..meant.guards import is_command
from ..requests import RequestFrame
from ..threads.dialogue import Unit
from ..writer import ClauseWriter
from .answers import affirmed, complete_answer, continued
from .carried_out import CarriedOut, kept_instead
from .kinds_asked import of_kind
from .narrowed import day_asked, how_often_asked, narrowed, reminder_wanted, to_be_done
from .offers import is_offer, noted
from .saying_yes import agrees, is_how_often
from .taken_up import question_ids
from .yes_no import closed_answer

_BARE_NOUN = re.compile(
    r"^(?:(?:and|what\sabout|how\sabout|any)\s)*(?:the\s|your\s)?(?P<np>(?!(?:and|so|then|really|but|ok|why|how|what|yours?|you|him|hers?|them|theirs|it|that|this|else)$)[a-z-]+(?:\s[a-z-]+)?)$",
    re.IGNORECASE,
)
_LEANING_ANSWER = re.compile(r"(?:there|it|that|they|none|we\sdo|no)\b", re.IGNORECASE)
_BARE_WH = re.compile(
    r"^(?:\w+[,.]\s)?(?:and\s)?(?:when|where|who|how|(?:since|until|as\sof|from|by)\swhen|"
    r"(?:at\s)?what\stime|from\swhen(?:\s(?:to|till|until)\swhen)?|how\s(?:long|often)|which\sday|(?:for\s)?how\smany(?:\s(?P<noun>[a-z]+))?)\?$",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"^(?:but\s)?(?:never|not|no|except|only|always|preferably|then|after\sthat|next|plus|like)\b",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\s(?:only|instead|throughout|at\smost|max)[.!]*$", re.IGNORECASE)
_ALWAYS = re.compile(
    r"(?:(?P<what>[^,.;]{3,60}),?\s(?:as\s)?(?:always|every\stime)|always\s(?P<then>[^,.;]{3,60}))[.!]*$",
    re.IGNORECASE,
)
_WISH_ASKED = re.compile(
    r"\b(?:wish(?:es)?|preferences?|prefer|like|want|seats?|requests?|choice|favou?rite)\b",
    re.IGNORECASE,
)
_GO_ON = re.compile(
    r"(?:(?:yes|yeah|yep|sure|ok|okay|oh|definitely|of\scourse|absolutely)[\s,.!]*){0,2}"
    r"(?:please|(?:please\s)?do(?:\s(?:that|so|it))?|go\sahead|that\swould\sbe\s(?:good|great|nice|useful))?"
    r"(?:[\s,]*(?:please|thanks|thank\syou))?[.!]*$",
    re.IGNORECASE,
)
_ONLY_HEARD = re.compile(r"(?:oh|thanks|thank\syou|[\s,.!])*$", re.IGNORECASE)
# What is needed for what was just asked for is a detail of it.
_NEEDS = re.compile(r"I need\b")
# "Marit does, she's back tomorrow": the verb is the question's.
_STANDS_IN = re.compile(
    r"^(?P<who>[\w’'-]+(?:\s[\w’'-]+){0,2}?)\s(?:do|does|did|will|is|are|can|has)"
    r"(?P<rest>(?:,\s.*)?)[.!]*$"
)
_WHO = re.compile(r"(?:\w+\s)?who\b", re.IGNORECASE)
_AND_MORE = re.compile(r"(?:and|or|plus|also|then|but|maybe)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"(?:that|this)\s", re.IGNORECASE)
_DATED = re.compile(
    r"\d|\b(?:\w+day|morning|noon|evening|night|afternoon|before|weekly|daily|monthly)\b",
    re.IGNORECASE,
)
_CONCRETE = re.compile(r"\d|[^.!?]\s[A-ZÀ-Þ]\w")
_MAX_DETAIL = 12
_NAME_ASKED = re.compile(
    r"\b(?:your\s(?:full\s|first\s|last\s|account\s)?name|who\sam\si\s(?:talking|speaking)|"
    r"who\sis\s(?:this|asking))\b",
    re.IGNORECASE,
)
_TASTE_ASKED = re.compile(
    r"\bwish(?:es)?\b|\byou\s(?:like|prefer|usually|always|normally|have)\b|\bfavou?rite\b|"
    r"\byour\s(?:name|account|e-?mail|phone)",
    re.IGNORECASE,
)


class Replies:
    """Reads replies beside the question or offer before them."""

    def __init__(self, *, writer: ClauseWriter, frame: RequestFrame) -> None:
        self._writer = writer
        self._frame = frame
        self._carried_out = CarriedOut(writer=writer)

    def hear(self, *, unit: Unit) -> None:
        """Take in a sentence of the agent: of whom it speaks, and the dates it names."""
        self._writer.focus.heard(
            text=unit.text,
            source=unit.message_id,
            turn=unit.turn,
            owner=unit.voice.addressee or "User",
        )
        self._carried_out.hear(unit=unit)
        dates = resolve_dates(text=unit.text, today=unit.at.date(), past=False).dates
        self._writer.ledger.heard(dates=dates, turn=unit.turn)

    def affirms(self, *, unit: Unit) -> bool:
        """Tell what a bare yes or no to "Do you live in Lyon?" says of the user."""
        if unit.place:
            return False
        asked = replace(unit, sources=merged_sources(unit.sources, question_ids(unit=unit)))
        kept = kept_instead(question=unit.question, answer=unit.text)
        if kept:
            self._writer.write(
                unit=asked, clause=kept, sure=True, label=standing_label(clause=kept)
            )
            return True
        self._carried_out.takes(unit=unit)
        offered = noted(question=unit.question)
        goes_on = _GO_ON.match(unit.text) and not _ONLY_HEARD.match(unit.text)
        if offered and goes_on and not is_command(text=offered):
            self._writer.write(unit=asked, clause=offered, sure=True)
            return True
        whole = closed_answer(question=unit.question, answer=unit.text)
        if not whole or is_command(text=whole):
            return False
        if _NEEDS.match(whole) and self._frame.takes(unit=unit):
            return False
        self._writer.write(unit=asked, clause=whole, sure=True, label=standing_label(clause=whole))
        return True

    def answers_own(self, *, unit: Unit, asked: Unit, text: str) -> bool:
        """Take "7 for the food" or "Dele does" for the answer to what the user had asked."""
        stands_in = _STANDS_IN.match(text)
        if stands_in and _WHO.match(asked.text):
            whole = complete_answer(question=asked.text, answer=stands_in.group("who"))
            whole += stands_in.group("rest") if whole else ""
        else:
            whole = self._figures_for(asked, text)
        if whole:
            sources = merged_sources(unit.sources, asked.sources)
            self._writer.write(unit=replace(unit, sources=sources), clause=whole)
        return bool(whole)

    def _figures_for(self, asked: Unit, text: str) -> str:
        """What figures say that the user gives for an own question, or ""."""
        personal = {"i", "you", "my", "your", "me"} & set(words_of(asked.text))
        counted = re.search(r"\d", text) and len(content_words(text)) > 2
        if personal or not counted or has_verb(text=text):
            return ""
        whole = complete_answer(question=asked.text, answer=text)
        noun = _BARE_NOUN.match(strip_lead(text=asked.text).rstrip("?! "))
        return f"{noun.group('np')}: {text}" if noun and not whole else whole

    def answers(self, *, unit: Unit, text: str, act: Act) -> bool:
        """Complete an elliptic answer; True when that was all there is to do."""
        asked = replace(unit, sources=merged_sources(unit.sources, question_ids(unit=unit)))
        if not unit.place:
            composed = to_be_done(question=unit.question, answer=text) or reminder_wanted(
                question=unit.question, said=unit.text
            )
            if composed:
                standing = standing_label(clause=composed)
                self._writer.write(unit=asked, clause=composed, sure=True, label=standing)
                return True
            if how_often_asked(question=unit.question) and act is Act.FRAGMENT:
                only = narrowed(question=unit.question, answer=text)
                day = day_asked(question=unit.question)
                self.details(unit=asked, text=only or text, naming=day)
                return True
        noun = _BARE_NOUN.match(strip_lead(text=unit.question).rstrip("?! "))
        leaning = act is Act.STATEMENT and not unit.place and _LEANING_ANSWER.match(text)
        if noun and leaning:
            self._writer.write(unit=asked, clause=f"{noun.group('np')}: {text}")
            return True
        bare = _BARE_WH.match(unit.question)
        placed = act is Act.FRAGMENT or words_of(text)[0] in PREPOSITIONS
        if bare and placed and not unit.place and not self._frame.takes(unit=unit):
            counted = f"{text.rstrip('. ')} {bare.group('noun')}" if bare.group("noun") else text
            if self.details(unit=asked, text=counted):
                return True
        if act is Act.FRAGMENT and unit.place and (_EXCEPTION.match(text) or _ONLY.search(text)):
            return self.details(unit=unit, text=text, reach=0)
        stands_in = _STANDS_IN.match(text)
        if stands_in and _WHO.match(unit.question):
            whole = complete_answer(question=unit.question, answer=stands_in.group("who"))
            if whole:
                self._writer.write(unit=asked, clause=whole + stands_in.group("rest"))
                return True
        whole = "" if unit.place else continued(question=unit.question, answer=text)
        if whole:
            self._writer.write(unit=asked, clause=whole)
            return True
        whole_clause = act is Act.STATEMENT or words_of(text)[0] in {"the", "my", "our"}
        whole_clause = whole_clause and not is_how_often(text=text)
        if whole_clause and opens_clause(text=text) and not is_imperative(text=text):
            return False
        called = re.sub(r"(?i)^(?:it['’]s|that['’]s|it\sis)\s", "", text)
        named = introductions(clause=f"my name is {called}")
        if named and _NAME_ASKED.search(unit.question):
            self._writer.introduce(unit=unit, said=named)
            return True
        if is_acknowledgement(text=text):
            return False
        return self._completed(unit, asked, text, act)

    def _completed(self, unit: Unit, asked: Unit, text: str, act: Act) -> bool:
        """The answer and its question as one sentence, or as a detail of the open request."""
        told = "" if unit.place else of_kind(question=unit.question, answer=text)
        if told:
            self._writer.write(
                unit=asked, clause=told, sure=True, label=standing_label(clause=told)
            )
            return True
        noun = _BARE_NOUN.match(strip_lead(text=unit.question).rstrip("?! "))
        whole = complete_answer(question=unit.question, answer=text)
        if noun and not whole and act is Act.FRAGMENT and not unit.place and " " in text:
            whole = f"{noun.group('np')}: {text}"
        placed = act is Act.FRAGMENT or (words_of(text)[:1] and words_of(text)[0] in PREPOSITIONS)
        says_yes = agrees(said=unit.text, text=text, question=unit.question, placed=bool(placed))
        if not whole and not unit.place and says_yes:
            so = "" if is_offer(question=unit.question) else affirmed(question=unit.question)
            whole = f"{so}, {decapitalised(text)}" if so and content_words(text) else ""
        wanted = _ALWAYS.match(text)
        if wanted and _WISH_ASKED.search(unit.question):
            whole = f"I always want {wanted.group('what') or wanted.group('then')}"
        taste = bool(whole) and _TASTE_ASKED.search(unit.question)
        fragment = act is Act.FRAGMENT
        if fragment and not taste and content_words(text) and self._frame.takes(unit=unit):
            self._frame.details.append((text, unit.message_id))
            return True
        if not whole and fragment and is_offer(question=unit.question) and _DATED.search(text):
            reminding = re.search(r"(?i)\bremind\b", unit.question)
            return self.details(unit=asked, text=f"I want a reminder {text}" if reminding else text)
        if not whole or (unit.place and not fragment):
            return False
        if unit.place and not _AND_MORE.match(unit.text):
            # The first sentence answered the question; what follows goes with it.
            return self.details(unit=unit, text=text, reach=0)
        if _POINTS_BACK.match(whole) and self.details(unit=asked, text=whole):
            return True
        self._writer.write(unit=asked, clause=whole)
        return True

    def details(self, *, unit: Unit, text: str, reach: int = 2, naming: str = "") -> bool:
        """Add a fragment to what was told at most `reach` turns before, with the word `naming`."""
        third = third_person_text(text=strip_lead(text=text), voice=unit.voice)
        resolved = resolve_dates(text=third, today=unit.at.date(), past=False, weekly=unit.weekly)
        return unit.own and self._writer.ledger.detail(
            text=resolved.text, turn=unit.turn, sources=unit.sources, reach=reach, naming=naming
        )


def is_detail(*, text: str) -> bool:
    """Whether a fragment is short and concrete enough to be added to its neighbour."""
    concrete = _CONCRETE.search(" " + text) or _ONLY.search(text)
    return bool(concrete) and len(text.split()) <= _MAX_DETAIL
