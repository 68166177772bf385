"""Taking back: what was just said, or a plan by its name, and who inherits its purpose."""

from __future__ import annotations

import re
from dataclasses import replace

from ..language.syntax import has_verb
from .correction_words import DECISION, IN_JEST, PLAN, PURPOSE, VALUES
from .dialogue import Unit
from .revisions import Revisions
from .splices import joined, replaced, stems

_THEM = re.compile(r"\b(?:them|it|they)\b(?!['’])", re.IGNORECASE)

_PRONOUN = re.compile(
    r"(?:(?P<subject>he|she|it|they)(?P<clitic>['’](?:s|re))?|his|her|its|their)(?=\s)",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?P<who>(?:[Mm]y|[Oo]ur|[Tt]he)\s(?:[\w’'-]+\s){0,2}?[\w’'-]+|(?!I\b|We\b)[A-Z][\w-]+)"
    r"(?=\s(?:is|are|was|were|has|have|had|[a-z]+s|[a-z]+ed)\s)"
)


class Retractions(Revisions):
    """The units of one conversation, and the ways of dropping some of them again."""

    def _retract_previous(self, index: int, rest: str = "") -> None:
        dropped_before = {i for i, u in enumerate(self._units) if u is None}
        unit = self._units[index]
        copies = list(self._units)
        self._drop_previous(index, stems(rest))
        for position, target in enumerate(copies[:index]):
            if (
                target is None
                or position in dropped_before
                or self._units[position] is not None
                or unit is None
            ):
                continue
            if DECISION.search(target.text):
                self._hand_on(index + 1, unit, target, "")

    def _of_same_subject(self, index: int, unit: Unit, rest: str) -> str:
        """ "Ignore that, her name is Pia": she is whom the words taken back were about."""
        near = self._earlier(index, 1)
        target = self._units[near[0]] if near else None
        pronoun, about = _PRONOUN.match(rest), _ABOUT.match(target.text) if target else None
        if pronoun is None or about is None or target is None or unit.turn - target.turn > 2:
            return rest
        clitic = {"s": " is", "re": " are"}.get((pronoun["clitic"] or "")[1:], "")
        owner = "" if pronoun["subject"] else "'s"
        return about["who"] + owner + clitic + rest[pronoun.end() :]

    def _retract_about(self, index: int, unit: Unit, about: str, rest: str) -> None:
        """ "Forget what I said about X": drop what names X, or put a new value in its place."""
        rest = rest.strip(" ,.;:!?–—-")
        for kind, pattern in VALUES[:4]:
            old, new = pattern.search(about), pattern.search(rest)
            for position in self._earlier(index) if old and new else ():
                target = self._units[position]
                at = pattern.search(target.text) if target else None
                if kind and old and new and target and at and at.group() == old.group():
                    text = replaced(target.text, at.start(), at.end(), new.group())
                    self._units[position] = joined(target, unit, text, target.at)
                    self._units[index] = None
                    return
        named = stems(about)
        for position in self._earlier(index) if named else ():
            target = self._units[position]
            told = stems(f"{target.text} {target.question}") if target else set()
            if named <= told or (len(named) > 2 and len(named & told) >= len(named) - 1):
                self._units[position] = None
        rest = _THEM.sub(about.strip(), rest, count=1)
        self._units[index] = replace(unit, text=rest) if has_verb(text=rest) else None

    def _drop_previous(self, index: int, about: set[str]) -> None:
        unit = self._units[index]
        self._units[index] = None
        before = self._units[index - 1] if index else None
        if (
            unit is not None
            and before is not None
            and before.turn == unit.turn
            and before.text.endswith("?")
        ):
            return
        earlier = self._earlier_of(unit, index)
        if not earlier or unit is None:
            return
        last = self._units[earlier[0]]
        assert last is not None
        if unit.place > 0 and last.turn == unit.turn:
            self._units[earlier[0]] = None
            return
        for position in earlier:
            target = self._units[position]
            if target is None or target.turn != last.turn:
                break
            shared = about & stems(target.text) or IN_JEST.search(unit.text)
            if PLAN.search(target.text) or position == earlier[0] or shared:
                self._units[position] = None

    def _earlier_of(self, unit: Unit | None, index: int) -> list[int]:
        if unit is None:
            return []
        self._units[index] = unit
        found = self._earlier(index, 6)
        self._units[index] = None
        return [
            i
            for i in found
            if (target := self._units[i]) is not None and unit.turn - target.turn <= 2
        ]

    def _retract_plan(self, index: int, unit: Unit, dropped: str) -> bool:
        """ "Scrap X": drop the plan for X, and hand its purpose to the decision that follows."""
        purpose, source = "", None
        for position in self._earlier(index):
            target = self._units[position]
            if target is None or not re.search(
                rf"\b{re.escape(dropped)}\b", target.text, re.IGNORECASE
            ):
                continue
            if PLAN.search(target.text):
                found = PURPOSE.search(target.text.rstrip(".! "))
                purpose, source = (found.group() if found else ""), target
                self._units[position] = None
        if source is None:
            return False
        position = self._hand_on(index, unit, source, dropped, purpose)
        if position != index:
            self._units[index] = None
        return True

    def _hand_on(
        self, start: int, unit: Unit, source: Unit, dropped: str, purpose: str = ""
    ) -> int:
        """Give a dropped plan's purpose and source to the decision that replaces it."""
        found = PURPOSE.search(source.text.rstrip(".! "))
        purpose = purpose or (found.group() if found else "")
        for position in range(start, min(start + 3, len(self._units))):
            target = self._units[position]
            if target and target.voice.name == unit.voice.name and DECISION.search(target.text):
                text = target.text.rstrip(".! ")
                if target is not unit and purpose and not PURPOSE.search(text):
                    text += purpose + (f" instead of {dropped}" if dropped else "")
                self._units[position] = joined(target, source, text + ".", target.at)
                return position
        return start
