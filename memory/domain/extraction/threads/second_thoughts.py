"""Second thoughts that name the new value without the old one, or in another sentence."""

from __future__ import annotations

import re
from dataclasses import replace

from ..language.syntax import has_verb
from ..language.words import words_of
from .correction_words import HELD_AT, NOT_ONLY, RECOUNTED, RELOCATED, VALUES
from .dialogue import Unit
from .retractions import Retractions
from .splices import alike, joined, replaced

# "Thursday now, same time", "so it's 14:30 now", "now the 12th": a value that has moved.
_MOVED_ON = re.compile(
    r"(?:(?:so|but|and|ok|hm+|oh|well)[\s,]+)*(?:(?:it['’]s|it\sis|make\sit)\s)?(?P<now>now\s)?"
    r"(?P<value>(?:on\s|at\s)?[^,;.!]{2,28}?)(?P<after>\s(?:now|instead|after\sall|then))?"
    r"(?:,\s(?P<rest>[^.!]{2,40}))?[.!]*",
    re.IGNORECASE,
)
# "Actually no, he's on leave": the answer before it falls.
_NO = re.compile(
    r"(?:(?:hm+|oh|ah|wait|actually|sorry|well|hang\son|hold\son)[\s,.!–—-]+)+no\b[\s,.!:;–—-]*"
    r"(?:wait[\s,]+)?(?P<rest>.*)",
    re.IGNORECASE,
)
_RATHER = re.compile(
    r"(?:(?:so|then|ok|hm+|well)[\s,]+)*(?:let['’]s\s(?:say|take|make\sit|go\sfor|have)\s|make\s(?:it|that)\s|"
    r"(?:better|rather)\s)(?P<new>[^,;]{2,40}?)(?:\s(?:then|instead))?[.!]*"
    r"|(?P<new2>[^,;]{2,40}?)\s(?:it\sis(?:\sthen)?|then|instead)[.!]*",
    re.IGNORECASE,
)
_ON_SECOND_THOUGHT = re.compile(
    r"(?:(?:hm+|oh|ah|wait|actually|well)[\s,.!]+)*(?:on\ssecond\sthoughts?|come\sto\sthink\sof\sit|"
    r"actually|wait|no)[\s,:–—-]+(?=not\s)",
    re.IGNORECASE,
)
_HE = re.compile(r"(?:he|she|they|it)(?P<clitic>['’](?:s|re))?\b", re.IGNORECASE)
_HALT = re.compile(
    r"(?:oh\s|no,?\s)?(?:wait|hang\son|hold\son|hm+|oh\sno|actually)\b", re.IGNORECASE
)
_VAGUE = re.compile(r"(?:something|anything|some|any|a\sbit|more|less)\b", re.IGNORECASE)
_SHORT = 5


class SecondThoughts(Retractions):
    """The units of one conversation, and the revisions that need a look ahead."""

    def _moved_on(self, index: int, unit: Unit) -> bool:
        """ "Thursday now": put the value in place of the last one of its kind."""
        match = _MOVED_ON.fullmatch(unit.text)
        if match is None or not (match.group("now") or match.group("after")):
            return False
        value = match.group("value")
        for kind, pattern in VALUES[:4]:
            new = pattern.search(value)
            if new is None or len(words_of(value)) > len(words_of(new.group())) + 2:
                continue
            for position in self._earlier(index, 6):
                target = self._units[position]
                spots = list(pattern.finditer(target.text)) if target else []
                if target is None or not spots or unit.turn - target.turn > 6:
                    continue
                if kind == "weekday" and spots[-1].group().lower() == new.group().lower():
                    continue
                text = replaced(target.text, *spots[-1].span(), new.group())
                self._units[position] = joined(target, unit, text, target.at)
                self._units[index] = None
                return True
        return False

    def _recounted(self, index: int, unit: Unit) -> bool:
        """ "One died, so it's five now": the count said before is put right."""
        match = RECOUNTED.search(unit.text)
        pattern = dict(VALUES)["number"]
        for position in self._earlier(index, 6) if match else ():
            target = self._units[position]
            spot = pattern.search(target.text) if target else None
            if match is None or target is None or spot is None or unit.turn - target.turn > 4:
                continue
            if not alike(match.group("n"), spot.group()):
                continue
            text = replaced(target.text, spot.start(), spot.end(), match.group("n"))
            self._units[position] = joined(target, unit, text, target.at)
            self._units[index] = replace(unit, text=unit.text[: match.start()] + ".")
            return True
        return False

    def _relocated(self, index: int, unit: Unit) -> bool:
        """ "We're moving it to the hall": the place said before is put right."""
        match = RELOCATED.search(unit.text)
        for position in self._earlier(index, 8) if match else ():
            target = self._units[position]
            spot = HELD_AT.search(target.text) if target else None
            if match is None or target is None or spot is None or unit.turn - target.turn > 4:
                continue
            text = replaced(target.text, *spot.span(), f"at {match.group('new')}")
            self._units[position] = joined(target, unit, text, target.at)
            self._units[index] = None
            before = self._units[index - 1]
            if before and before.turn == unit.turn and _HALT.match(before.text):
                self._units[index - 1] = None
            return True
        return False

    def _reconsidered(self, index: int, unit: Unit) -> bool:
        """A denial after which the value follows in another sentence."""
        denied = _ON_SECOND_THOUGHT.match(unit.text)
        body = unit.text[denied.end() :] if denied else ""
        if denied and NOT_ONLY.match(body) and self._next_fragment(index, unit, body):
            return True
        match = _NO.fullmatch(unit.text)
        before = self._units[index - 1] if index else None
        if match is None or before is None or before.turn != unit.turn or not before.question:
            return False
        answer = before.text.rstrip(".! ")
        if has_verb(text=answer) or len(words_of(answer)) > _SHORT:
            return False
        self._units[index - 1] = None
        rest = (
            _HE.sub(
                lambda he: answer + (" is" if he.group("clitic") else ""),
                match.group("rest"),
                count=1,
            )
            if _HE.match(match.group("rest"))
            else match.group("rest")
        )
        self._units[index] = replace(unit, text=rest) if has_verb(text=rest) else None
        self._answer_anew(index, before)
        return True

    def _answer_anew(self, index: int, before: Unit) -> None:
        """Give the question of a withdrawn answer to the one that takes its place."""
        for ahead in range(index + 1, min(index + 4, len(self._units))):
            later = self._units[ahead]
            if later is None or later.turn != before.turn or later.text.endswith("?"):
                return
            match = _RATHER.fullmatch(later.text)
            new = (match.group("new") or match.group("new2")) if match else ""
            if new and not has_verb(text=new):
                self._units[ahead] = replace(
                    later, text=new + ".", place=0,
                    question=before.question, question_id=before.question_id,
                )  # fmt: skip
                return

    def _next_fragment(self, index: int, unit: Unit, body: str) -> bool:
        """ "Not green. Something light. Oyster white.": the last fragment is the new value."""
        match = NOT_ONLY.match(body)
        old = match.group("old") if match else ""
        fragments = []
        for ahead in range(index + 1, min(index + 4, len(self._units))):
            later = self._units[ahead]
            if later is None or later.turn != unit.turn or has_verb(text=later.text):
                break
            if len(words_of(later.text)) > _SHORT or later.text.endswith("?"):
                break
            fragments.append((ahead, later))
        named = [each for each in fragments if not _VAGUE.match(each[1].text)]
        if not named:
            return False
        _, new = named[-1]
        for position in self._earlier(index):
            target = self._units[position]
            at = re.search(rf"\b{re.escape(old)}\b", target.text, re.I) if target else None
            if target and at:
                value = new.text.rstrip(".! ")
                value = value if value[1:2].isupper() else value[:1].lower() + value[1:]
                text = replaced(target.text, at.start(), at.end(), value)
                self._units[position] = joined(target, new, text, target.at)
                for gone in (index, *(ahead for ahead, _ in fragments)):
                    self._units[gone] = None
                return True
        return False
