"""Corrections with more than a value: what the old one belonged to, or where the new was found."""

from __future__ import annotations

import re
from dataclasses import replace

from ..clauses import opens_clause
from ..days.date_expressions import DATE_EXPRESSION
from ..language.syntax import has_verb
from ..language.words import PREPOSITIONS, capitalised, content_words, words_of
from .correction_words import RECORDS, VALUES
from .dialogue import Unit
from .slips import Slips
from .splices import joined, replaced, stems
from .value_spots import counted_after, value_alone, value_spot

_HALTS = (
    r"(?P<halts>(?:(?:no|oh|ah|hm+|but)[\s,.!–—-]+)*"
    r"(?:(?:no|wait|hang\son|hold\son|sorry|oops|actually|scratch\sthat)[\s,.!–—-]+)+)"
)
_STOPS = re.compile(r"wait|(?:hang|hold)\son|sorry|oops|actually|scratch", re.IGNORECASE)
# "No wait, that was last year; this time it's forty", "hang on, that's the old hall."
_BELONGED = re.compile(
    rf"{_HALTS}(?:that|this|it)(?:['’]s|\swas|\sis)\s(?P<other>(?:last|the(?!\s(?:only|first|most|worst|\w+est)\b)|my|our|his|her|in\s\d{{4}}|\d{{4}}|for\sthe|yesterday|"
    r"another|a\sdifferent|before)\b[^;,.:–—]{0,30})(?:(?:[;,.:]|\s[–—-])\s(?:and\s|but\s)?(?P<now>.+))?[.!]*",
    re.IGNORECASE,
)
_OF_NOW = re.compile(
    r"(?:(?:this|the\scurrent)\s\w+|now|nowadays|these\sdays|today)[\s,]+(?:it|that|they|we)\b|it(?:['’]s|\sis)\s",
    re.IGNORECASE,
)
_ONE = re.compile(r"\b(?:the|a|an|my|our)\s\w+\sone\b", re.IGNORECASE)
# "Correction, I've just looked at the booking: it's 16:45", "found it: the 28th"
_LOOKED_UP = re.compile(
    r"(?P<lead>(?:(?:and|but|ok|okay|oh|ah|right|correction|sorry|wait|actually|no|yes)[\s,.:!–—]+)*)(?:i(?:['’]ve|\shave)?\s)?(?:(?:just|now|finally)\s)*"
    r"(?:looked|checked|found|asked|seen|read|opened|called)\b(?:\s(?:at|up|in|on)\b)?(?P<what>[^:;–—,.]{0,40}?)\s?[:;–—,]\s*"
    r"(?:(?:it|that)(?:['’]s|\sis|\ssays)\s)?(?P<value>(?:(?:on|at|the|only)\s)*[^\s,;][^,;]{0,25}?)[.!]*",
    re.IGNORECASE,
)
_FOUND_IT = re.compile(
    r"(?:(?:and|ok|okay|oh|ah)[\s,]+)*(?:i\s)?(?:(?:have|['’]ve)\s)?(?:found|got|checked)\s(?:it|that|this|them)(?:\stoo|\sas\swell)?"
    r"\s?[:–—-]\s(?=\S)",
    re.IGNORECASE,
)
_CORRECTS = re.compile(r"correction|sorry|wait|actually|no\b", re.IGNORECASE)
_IN_DOUBT = re.compile(
    r"\bor\s(?:was|is)\s(?:it|that)\b|\blet\sme\s(?:just\s)?(?:look|check|see)\b|\bi['’]ll\s(?:just\s)?(?:look|check)\b",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"(?:(?:oh|ah|ok|okay|hm+|right|no|well)[\s,.!]+)*(?:then|so|rather|better)\s(?:(?:better|rather|make\sit|on)\s)*"
    r"(?P<day>[^,;.]{3,25})(?:,\s(?P<why>.+?))?[.!]*",
    re.IGNORECASE,
)
_RATHER = re.compile(
    r"(?:(?:no|well|actually|hm+|oh|wait|sorry|or\srather)[\s,.!–—-]+)+(?:(?:make\sit|it['’]s|more\slike|only)\s)?"
    r"(?P<value>[^,;.]{1,30}?)(?:,\s(?P<why>.+?))?[.!]*",
    re.IGNORECASE,
)
_THIS_TIME = re.compile(
    r"(?:and\s|but\s|so\s)?(?P<when>this\s(?:year|month|week|time|season|term)),?\sit['’]s\s(?P<value>[^,;.]{1,30})[.!]*",
    re.IGNORECASE,
)
_LAST_TIME = re.compile(r"\blast\s(?:year|month|week|time|season|term)\b", re.IGNORECASE)
_WAS = re.compile(r"\bw(?:as|ere)\b")
_KINDS = tuple(kind for kind, _ in VALUES[:6])
_TURNS = 4
_FAR_TURNS = 8
_STEM = 4


class ReasonsBetween(Slips):
    """The units of one conversation, and corrections that say why or where from."""

    def _reason_between(self, index: int, unit: Unit) -> bool:
        """Deal with a correction that tells more than the new value; True where it was one."""
        return (
            self._belonged(index, unit)
            or self._looked_up(index, unit)
            or self._then_rather(index, unit)
            or self._answered_again(index, unit)
            or self._this_time(index, unit)
        )

    def _belonged(self, index: int, unit: Unit) -> bool:
        """ "No wait, that was last year; this time it's forty": what was said is withdrawn."""
        match = _BELONGED.fullmatch(unit.text)
        near = self._earlier(index, 1) if match else []
        target = self._units[near[0]] if near else None
        if match is None or target is None or target.turn != unit.turn:
            return False
        if not any(pattern.search(target.text) for kind, pattern in VALUES if kind in _KINDS):
            return False
        now, taken = match.group("now") or "", index
        after = self._units[index + 1] if index + 1 < len(self._units) else None
        if not now and after is not None and after.turn == unit.turn and _OF_NOW.match(after.text):
            now, taken = after.text, index + 1
        if not now and not _STOPS.search(match.group("halts")):
            return False
        self._units[index] = self._units[taken] = None
        is_told = _OF_NOW.match(now) is not None
        if not (is_told and self._take_over(near[0], unit, now.rstrip(" .!"))):
            self._units[near[0]] = _without_value(target)
        if is_told:
            return True
        noun = words_of(match.group("other"))[-1]
        told = _ONE.sub(lambda one: one.group()[: -len("one")] + noun, now, count=1)
        if opens_clause(text=told) and has_verb(text=told):
            self._units[index] = replace(unit, text=capitalised(told))
        return True

    def _take_over(self, position: int, unit: Unit, value: str) -> bool:
        """Put the value of some words where one of its kind stands in an earlier unit."""
        target = self._units[position]
        for kind in _KINDS if target else ():
            new = value_alone(kind=kind, value=value)
            spot = new and value_spot(
                kind=kind, text=target.text, new=new, value=value, is_sure=True
            ) if target else None  # fmt: skip
            if not (target and spot):
                continue
            start, end, wording = spot
            wording = wording if start else capitalised(wording)
            text = replaced(target.text, start, end, wording)
            self._units[position] = joined(target, unit, text, target.at)
            return True
        return False

    def _looked_up(self, index: int, unit: Unit) -> bool:
        """ "I've just looked at the booking: it's 16:45": where it was found is only a lead."""
        match = _LOOKED_UP.fullmatch(unit.text)
        found = _FOUND_IT.match(unit.text) if unit.question and match is None else None
        if found:
            self._units[index] = replace(unit, text=capitalised(unit.text[found.end() :]))
        value = match.group("value").strip() if match else ""
        kinds = [kind for kind in _KINDS if value_alone(kind=kind, value=value)]
        if match is None or not kinds or has_verb(text=value):
            return False
        what = stems(match.group("what")) - RECORDS
        is_doubted = any(
            said is not None and said.role is unit.role and unit.turn - said.turn <= _TURNS
            and _IN_DOUBT.search(said.text)
            for said in self._units[max(0, index - 8) : index]
        )  # fmt: skip
        is_named = bool(_CORRECTS.search(match.group("lead")))
        is_put_right = is_doubted or is_named
        is_answer = bool(unit.question) and not unit.place and not is_put_right
        if is_answer and not content_words(match.group("what")):
            self._units[index] = replace(unit, text=f"{capitalised(value)}.")
            return False
        reach = _FAR_TURNS if is_named else _TURNS
        near = [
            (position, said) for position in self._earlier(index, 10)
            if (said := self._units[position]) and unit.turn - said.turn <= reach
        ]  # fmt: skip
        # "The ferry booking" and "the booking" tell of the ferry that was booked, if anything is.
        looked_at = {word[:_STEM] for word in content_words(match.group("what"))}
        near.sort(key=lambda each: not looked_at & {w[:_STEM] for w in words_of(each[1].text)})
        for position, said in near:
            if not is_put_right and not what <= stems(said.text):
                continue
            if self._take_over(position, unit, value):
                self._units[index] = None
                return True
        return False

    def _then_rather(self, index: int, unit: Unit) -> bool:
        """ "Then Monday the 8th", when the agent named a day: the plan is for that day."""
        match = _THEN.fullmatch(unit.text)
        day = match.group("day").strip() if match else ""
        offered = unit.question.rstrip("?") or self._echo(index, unit)
        if match is None or not _is_day(day) or not _is_day(offered):
            return False
        for position in self._earlier(index, 6):
            target = self._units[position]
            spots = list(DATE_EXPRESSION.finditer(target.text)) if target else []
            if target is None or not spots or unit.turn - target.turn > 2:
                continue
            start, end = spots[-1].span()
            lead = "" if re.search(r"(?i)\bon\s$", target.text[:start]) else "on "
            text = target.text[:start] + lead + day + target.text[end:]
            self._units[position] = joined(target, unit, text, target.at)
            self._units[index] = _told_as_well(unit, match.group("why"))
            return True
        return False

    def _answered_again(self, index: int, unit: Unit) -> bool:
        """ "Ninety. Well, eighty-four, some cancelled": the second number is the answer."""
        match = _RATHER.fullmatch(unit.text)
        before = self._units[index - 1] if index and match else None
        if match is None or before is None or before.turn != unit.turn or not before.question:
            return False
        value = match.group("value").strip()
        new = value_alone(kind="number", value=value)
        if not new or has_verb(text=before.text) or before.role is not unit.role:
            return False
        beside = set(words_of(value)) - set(words_of(new))
        counted = counted_after(text=value, end=value.find(new) + len(new))
        if beside - set(counted) or not self._take_over(index - 1, unit, value):
            return False
        self._units[index] = _told_as_well(unit, match.group("why"))
        return True

    def _this_time(self, index: int, unit: Unit) -> bool:
        """ "The fee was 200 last year. This year it's 250.": both hold, each for its time."""
        match = _THIS_TIME.fullmatch(unit.text)
        before = self._units[index - 1] if index and match else None
        if match is None or before is None or before.turn != unit.turn:
            return False
        last, was = _LAST_TIME.search(before.text), _WAS.search(before.text)
        if last is None or was is None or not self._take_over(index - 1, unit, match["value"]):
            return False
        told = self._units[index - 1]
        self._units[index - 1] = before
        text = _LAST_TIME.sub(match["when"].lower(), told.text if told else "", count=1)
        text = _WAS.sub(lambda past: "is" if past.group() == "was" else "are", text, count=1)
        self._units[index] = joined(unit, before, text, unit.at)
        return True


def _is_day(text: str) -> bool:
    """Whether words name a day and nothing else: "June 7, a Sunday", "Monday the 8th"."""
    days = [pattern for kind, pattern in VALUES if kind in {"weekday", "date"}]
    if not any(pattern.search(text) for pattern in days):
        return False
    for pattern in (DATE_EXPRESSION, *days):
        text = pattern.sub(" ", text)
    return not [word for word in content_words(text) if not word.isdigit()]


def _without_value(unit: Unit) -> Unit | None:
    """What a sentence tells before the part with the value that is withdrawn."""
    head, comma, _ = unit.text.rpartition(", ")
    values = any(pattern.search(head) for kind, pattern in VALUES if kind in _KINDS)
    if not comma or values or not (unit.question or has_verb(text=head)):
        return None
    return replace(unit, text=f"{head}.")


def _told_as_well(unit: Unit, why: str | None) -> Unit | None:
    """What a correction tells besides the value, as a sentence of its own."""
    first = words_of(why or "")[:1]
    if not why or not first or first[0] in PREPOSITIONS or not has_verb(text=why):
        return None
    return replace(unit, text=f"{capitalised(why)}.", question="", question_id=None)
