"""Corrections that name no old value of their kind: lists said again, guesses put right."""

from __future__ import annotations

import re
from dataclasses import replace

from ...types import Role
from ..language.leads import strip_lead
from ..language.syntax import has_verb
from ..language.words import content_words, words_of
from .correction_words import (
    HEDGE,
    INSTEAD,
    ITEM_IS,
    ITEM_WAS,
    LABELLED,
    LIST_AGAIN,
    NOT_ONLY,
    OTHERS,
    SUBJECT_ASKED,
    VALUES,
)
from .dialogue import Unit
from .splices import alike, joined, replaced

_DENIES = re.compile(
    r"(?:\bnot|n['’]t|\bno\slonger|\bnever)\s(?:(?:be|on|at|the|for|until|in|from|to|about|make|do|come|manage|happen)\s){0,3}$",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\bnot\b|n['’]t\b|\bno\slonger\b|\bnever\b", re.IGNORECASE)
_TELLS_MORE = 4


class Revisions:
    """The units of one conversation, and the revisions that need no value of the same kind."""

    def __init__(self, units: list[Unit], *, agent: str = "") -> None:
        self._agent = agent.lower()
        self._units: list[Unit | None] = list(units)

    def _earlier(self, index: int, limit: int = 30) -> list[int]:
        speaker = self._units[index]
        found = []
        for position in range(index - 1, -1, -1):
            unit = self._units[position]
            if unit is None or speaker is None or unit.role is not Role.USER:
                continue
            if unit.voice.name == speaker.voice.name and not unit.text.endswith("?"):
                found.append(position)
            if len(found) >= limit:
                break
        return found

    def _denied(self, index: int, unit: Unit) -> bool:
        """ "It isn't 8:15, she wrote 8:50": put the new value where the denied one was said."""
        for kind, pattern in VALUES[:6] if _NEGATED.search(unit.text) else ():
            spots = list(pattern.finditer(unit.text))
            olds = [spot for spot in spots if _DENIES.search(unit.text[: spot.start()])]
            news = [spot for spot in spots if spot not in olds]
            if len(olds) != 1 or len(news) != 1 or unit.text.endswith("?"):
                continue
            old, new = olds[0].group(), news[0].group()
            if kind == "number" and not alike(new, old):
                continue
            for position in self._earlier(index, 10):
                target = self._units[position]
                at = (
                    re.search(rf"(?<![\w.:]){re.escape(old)}(?![\w:])", target.text)
                    if target
                    else None
                )
                if target is None or at is None:
                    continue
                text = replaced(target.text, at.start(), at.end(), new)
                self._units[position] = joined(target, unit, text, target.at)
                values = set(words_of(f"{old} {new}"))
                told = set(content_words(unit.text)) - values
                if len(told) < _TELLS_MORE:
                    self._units[index] = None
                return True
        return False

    def _others(self, index: int, unit: Unit) -> bool:
        """ "No, that's the roofers": put the answer just given to the question about them."""
        match = OTHERS.match(unit.text)
        before = self._units[index - 1] if index else None
        if match is None or before is None or before.turn != unit.turn or not before.question:
            return False
        asked = SUBJECT_ASKED.search(before.question)
        if asked is None or has_verb(text=before.text):
            return False
        question = before.question.replace(asked.group(), match.group("noun"), 1)
        self._units[index - 1] = replace(before, question=question)
        self._units[index] = None
        return True

    def _listed_again(self, index: int, unit: Unit) -> bool:
        """A list of the same things in another order replaces the first one."""
        match = LIST_AGAIN.match(unit.text)
        if match is None or has_verb(text=match.group("items")):
            return False
        items = set(words_of(match.group("items"))) - {"and", "then"}
        near = self._earlier(index, 8)
        for turn in dict.fromkeys(t.turn for i in near if (t := self._units[i]) is not None):
            said = [i for i in near if (t := self._units[i]) is not None and t.turn == turn]
            fragments = [
                i for i in said if (t := self._units[i]) is not None and not has_verb(text=t.text)
            ]
            told = {w for i in fragments if (t := self._units[i]) for w in words_of(t.text)}
            first = self._units[said[-1]]
            if turn == unit.turn or first is None or not items <= told:
                continue
            for position in fragments:
                self._units[position] = None
            self._units[index] = replace(
                joined(unit, first, match.group("items"), unit.at),
                question=first.question, question_id=first.question_id, place=0,
            )  # fmt: skip
            return True
        return False

    def _against_guess(self, index: int, unit: Unit, old: str, new: str) -> bool:
        """ "15, not 50" against what the other side believed."""
        for position in range(index - 1, max(-1, index - 8), -1):
            guess = self._units[position]
            if guess is None or guess.role is not Role.ASSISTANT or unit.turn - guess.turn > 1:
                continue
            at = re.search(rf"(?<![\w.]){re.escape(old)}(?![\w%])(?!\.\d)", guess.text, re.I)
            if at and not guess.text.endswith("?"):
                said = replaced(guess.text, at.start(), at.end(), new)
                text = HEDGE.sub("", strip_lead(text=said)).rstrip(".") + "."
                self._units[index] = joined(unit, guess, text, unit.at)
                return True
        return False

    def _not_then(self, index: int, unit: Unit, body: str) -> None:
        """ "Not Petersen. It's Lund Heating": the value that follows replaces the one denied."""
        match = NOT_ONLY.match(body)
        old = match.group("old") if match else ""
        between: list[int] = []
        for ahead in range(index + 1, min(index + 4, len(self._units))):
            later = self._units[ahead]
            if later is None or later.turn != unit.turn:
                return
            new = INSTEAD.match(later.text)
            if new is None or has_verb(text=new.group("new")):
                between.append(ahead)
                continue
            for position in self._earlier(index):
                target = self._units[position]
                at = re.search(rf"\b{re.escape(old)}\b", target.text) if target else None
                if target and at:
                    text = replaced(target.text, at.start(), at.end(), new.group("new"))
                    self._units[position] = joined(target, later, text, target.at)
                    for gone in (index, ahead, *between):
                        self._units[gone] = None
                    return

    def _item(self, index: int, unit: Unit, body: str) -> bool:
        """ "Sorry, drugs is 27,000" where "22,000 for drugs" was said."""
        new = ITEM_IS.match(body)
        for position in self._earlier(index, 8) if new else ():
            target = self._units[position]
            noun = re.escape(new.group("noun")) if new else ""
            old = re.search(ITEM_WAS.format(noun), target.text, re.I) if target else None
            if not (target and new and old):
                continue
            place = "before" if old.group("before") else "after"
            if alike(new.group("value"), old.group(place)):
                text = replaced(target.text, *old.span(place), new.group("value"))
                self._units[position] = joined(target, unit, text, target.at)
                self._units[index] = None
                return True
        return False

    def _labelled(self, index: int, unit: Unit) -> bool:
        """ "Wait … courtroom 11" where "courtroom 7" was said."""
        for new in LABELLED.finditer(unit.text):
            for position in self._earlier(index, 8):
                target = self._units[position]
                for old in LABELLED.finditer(target.text) if target else ():
                    same = old.group("noun").lower() == new.group("noun").lower()
                    if target is None or not same or old.group() == new.group():
                        continue
                    text = target.text[: old.start()] + new.group() + target.text[old.end() :]
                    self._units[position] = joined(target, unit, text, target.at)
                    self._units[index] = None
                    return True
        return False
