"""What a speaker takes back, and the values that they put in the place of others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..lexicon import marks
from .clauses import stripped
from .grammar import (
    ADVERBS,
    CONJUNCTIONS,
    DETERMINERS,
    GREETINGS,
    PREPOSITIONS,
    PRONOUNS,
    content_of,
    is_question,
    request_of,
    tokens_of,
    words_of,
)
from .references import names_in
from .statements import Statement

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_VALUE = re.compile(
    rf"(?P<date>\b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}\b|\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?"
    r"\b|\b(?:the\s)?\d{1,2}(?:st|nd|rd|th)\b|\b\d{4}-\d\d-\d\d\b)|"
    r"(?P<day>\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\btomorrow\b)|"
    r"(?P<time>\b\d{1,2}[:.]\d\d\b(?!\s?(?:%|euros))|\b\d{1,2}\s?(?:am|pm)\b|\bat\s(?:\d{1,2}|one|two"
    r"|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon)\b)|"
    r"(?P<number>[$€£]?\b\d+(?:[.,]\d+)*(?:\s\d{2,}(?![.,:]?\d))*(?:\s?%|k\b|m\b)?|\b(?:one|two|three|four|five|six|seven|"
    r"eight|nine|ten|eleven|twelve|once|twice)\b)",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:not|instead\sof|rather\sthan|isn't|no\slonger)\s(?:(?:the|on|at|in|by|for)\s)?",
    re.IGNORECASE,
)
_CUE_OPENING = re.compile(r"(?:no|hm+|wait|oh)\b[,. ]", re.IGNORECASE)
_SCRAPPED = re.compile(
    r"(?:scrap|forget(?:\sabout)?|drop|cancel|ignore)\s(?:the\s|that\s|my\s)?(?P<what>[\w'-]+)",
    re.IGNORECASE,
)
_POINTING = frozenset(
    ["it", "that", "this", "everything", "the", "about", "what", "all", "my", "thing"]
)
_TAKES_BACK = re.compile(
    r"scratch that|forget (?:it|that)|never ?mind|strike that|second thought|just kidding|"
    r"was joking|changed my mind|cancel that|dropped the idea|ignore (?:that|what)|scrap that|"
    r"take that back|disregard that",
    re.IGNORECASE,
)
_LEADING_WORD = re.compile(r"(?:at|the)\s", re.IGNORECASE)
_ORDINAL = re.compile(r"^(?:the|at)\s|(?:st|nd|rd|th)$", re.IGNORECASE)
_FILLERS = frozenset(
    ["actual", "correct", "meant", "mean", "make", "misread", "note", "wait", "check", "again",
     "same", "call", "scratch", "let", "say", "sorri", "typo", "swap", "digit"]
)  # fmt: skip
_REACH_TURNS = 8
_REACH_STATEMENTS = 40
_RETRACTION_REACH = 4
_FEW_WORDS = 4


@dataclass(frozen=True, slots=True)
class Value:
    """A date, weekday, time, number or name in a text, with its place."""

    kind: str
    text: str
    start: int
    end: int


def values_in(text: str) -> list[Value]:
    """The values of a text in order."""
    found = [
        Value(match.lastgroup or "", match.group(), match.start(), match.end())
        for match in _VALUE.finditer(text)
    ]
    taken = {place for each in found for place in range(each.start, each.end)}
    found += [
        Value("name", name, start, start + len(name))
        for start, name in names_in(text)
        if start not in taken
    ]
    return sorted(found, key=lambda each: each.start)


class Corrections:
    """Applies what is taken back or put right to the statements so far."""

    def __init__(self, statements: list[Statement]) -> None:
        self._statements = statements
        self._denied: tuple[int, Value] | None = None

    def retract(self, statement: Statement) -> bool:
        """Drop what the statement takes back; True where it says nothing else."""
        said = statement.said
        scrapped = _SCRAPPED.match(stripped(said).text)
        names_nothing = scrapped is None or scrapped["what"].lower() in _POINTING
        if names_nothing and not any(marks(tokens_of(said), names=["talk/retractions"])):
            return False
        recent = self._recent(statement, _RETRACTION_REACH)
        what = scrapped["what"].lower() if scrapped else ""
        named = [
            each
            for each in recent
            if what and what not in _POINTING and what in words_of(each.text)
        ]
        if named:
            for each in named:
                each.is_dropped = True
        elif _TAKES_BACK.search(said) and recent:
            newest = recent[0].turn.number
            latest = [each for each in recent if each.turn.number == newest]
            for each in latest[:1] if newest == statement.turn.number else latest[-1:]:
                each.is_dropped = True
        else:
            return False
        left = [word for word in words_of(said) if word not in GREETINGS and word not in ADVERBS]
        return len(left) <= _FEW_WORDS or (bool(named) and not values_in(said))

    def correct(self, statement: Statement, clause: str) -> bool:
        """Put a corrected value in the place of the old one; True where nothing else is said."""
        awaits = self._denied is not None and self._denied[0] == statement.turn.number
        if awaits and self._follow_denial(statement, clause):
            return True
        said = statement.said
        cue = self._has_cue(said) or _CUE_OPENING.match(said) is not None
        if not cue and statement.prior and len(words_of(statement.prior)) <= _FEW_WORDS:
            cue = self._has_cue(statement.prior)
        denial = _DENIAL.search(clause)
        if not cue and denial is None:
            return False
        old = self._denied_value(clause, denial)
        rest = clause[: denial.start()] if denial and old else clause
        new = values_in(rest)
        if old is not None and denial is not None:
            if not new:
                new = values_in(clause[denial.end() :])[1:]
            if not new:
                self._denied = (statement.turn.number, old)
                return len(words_of(clause)) <= _FEW_WORDS
            return self._replace_denied(statement, old, new, clause[denial.start() :])
        return bool(cue and new) and self._replace_like(statement, rest, new)

    @staticmethod
    def _has_cue(text: str) -> bool:
        return any(marks(tokens_of(text), names=["talk/correcting"]))

    def _recent(self, statement: Statement, reach: int) -> list[Statement]:
        """What the same speaker said of late, the newest first."""
        turn = statement.turn
        return [
            each
            for each in reversed(self._statements[-_REACH_STATEMENTS:])
            if each.is_persons
            and not each.is_dropped
            and turn.number - each.turn.number <= reach
            and each.turn.voices.speaker == turn.voices.speaker
            and each is not statement
        ]

    def _exchange(self, statement: Statement) -> list[Statement]:
        """What the speaker said in this turn and in their turn before it, the newest first."""
        recent = self._recent(statement, _REACH_TURNS)
        earlier = [each.turn.number for each in recent if each.turn is not statement.turn]
        return [each for each in recent if each.turn.number >= max(earlier, default=0)]

    @staticmethod
    def _denied_value(clause: str, denial: re.Match[str] | None) -> Value | None:
        if denial is None:
            return None
        behind = values_in(clause[denial.end() :])[:1]
        return behind[0] if behind and behind[0].start <= 1 else None

    def _follow_denial(self, statement: Statement, clause: str) -> bool:
        """ "Not Petersen. It's Lund": the value follows in a sentence of its own."""
        assert self._denied is not None
        old = self._denied[1]
        fresh = [each for each in values_in(clause) if each.kind == old.kind]
        if not fresh or old.text.lower() in clause.lower():
            return False
        self._denied = None
        return self._replace_denied(statement, old, fresh[:1], f"not {old.text}")

    def _replace_denied(
        self, statement: Statement, old: Value, new: Sequence[Value], denial: str
    ) -> bool:
        alike = [each for each in new if each.kind == old.kind]
        exchange = self._exchange(statement)
        thing = _matter(statement.said) - content_of(old.text)
        for each in self._recent(statement, _REACH_TURNS):
            if each not in exchange and not thing & content_of(each.text):
                continue
            spot = _spot(each.text, old)
            if spot is not None:
                _put(each, spot, (alike or list(new))[-1].text, statement, denial)
                return True
        return False

    def _replace_like(self, statement: Statement, rest: str, new: Sequence[Value]) -> bool:
        """The value of the same kind in what was said of the same thing.

        The thing is what the words name, else what was asked right before them; where nothing
        names it, it is that of the last statement.
        """
        if request_of(rest) is not None:
            return False
        exchange = self._exchange(statement)
        for value in new[:2]:
            named = _matter(rest) - content_of(value.text)
            thing = named or _matter(_question_before(statement))
            for each in exchange if thing else exchange[:1]:
                shared = thing & content_of(each.text)
                if thing and not shared:
                    continue
                if value.kind == "name" and not shared and not each.is_answer:
                    continue
                spot = _spot_like(each.text, value, rest)
                if spot is not None:
                    _put(each, spot, value.text, statement, "")
                    return True
        return False


def _matter(text: str) -> set[str]:
    """The stems that say what a correction is about."""
    return {stem for stem in content_of(text) - _FILLERS if not stem[:1].isdigit()}


def _question_before(statement: Statement) -> str:
    """The question that the statement follows at once, in its own turn or the one before."""
    if statement.prior:
        return statement.prior if is_question(statement.prior) else ""
    return statement.turn.question


def _spot(text: str, old: Value) -> tuple[int, int] | None:
    """Where the old value stands, as part of a date if it is one."""
    bare = _ORDINAL.sub("", old.text.lower())
    for value in values_in(text):
        if re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", _ORDINAL.sub("", value.text.lower())):
            return value.start, value.end
    match = re.search(rf"(?<!\w){re.escape(old.text)}(?!\w)", text, re.IGNORECASE)
    return match.span() if match else None


def _spot_like(text: str, value: Value, rest: str) -> tuple[int, int] | None:
    """Where a value of the kind and the unit stands.

    Another unit will do where the words name half of what the text is about, or nothing at all:
    "Ingrid is 34" has nothing to say of the crowns that Ingrid accepted. Of several values it is
    not clear which one is meant, so all of them stand.
    """
    kept = [each for each in values_in(text) if each.kind == value.kind]
    unit = _unit(rest, value.text)
    alike = [each for each in kept if _unit(text, each.text) == unit]
    if not alike and (value.kind != "number" or not unit):
        named, about = _matter(rest), _matter(text)
        alike = kept if not named or 2 * len(named & about) >= len(about) else []
    if len(alike) != 1 or alike[0].text.lower() == value.text.lower():
        return None
    return alike[0].start, alike[0].end


def _unit(text: str, value: str) -> str:
    match = re.search(rf"{re.escape(value)}\s?(?P<unit>[a-z%]+)?", text, re.IGNORECASE)
    unit = (match["unit"] or "").lower() if match else ""
    closed = PREPOSITIONS | CONJUNCTIONS | ADVERBS | PRONOUNS | DETERMINERS
    return "" if unit in closed else unit.rstrip("s")


def _put(
    each: Statement, spot: tuple[int, int], value: str, statement: Statement, denial: str
) -> None:
    head, tail = each.text[: spot[0]], each.text[spot[1] :]
    old = each.text[spot[0] : spot[1]]
    if _LEADING_WORD.match(old) and not _LEADING_WORD.match(value):
        head += old.split()[0] + " "
    each.text = head + value + tail
    each.is_corrected = True
    each.corrects = denial
    each.sources.add(statement.turn.number)
