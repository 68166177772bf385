"""Corrections and retractions across messages, applied before anything is extracted."""

from __future__ import annotations

import re
from dataclasses import replace

from ...types import Role
from ..language.leads import strip_lead
from ..language.syntax import has_verb
from ..language.words import capitalised, content_words, words_of
from .correction_words import (
    ANNOUNCES,
    FORGET_TAIL,
    MARKER,
    MARKER_WORDS,
    MISTAKEN,
    NOT_OLD,
    NOT_OLD_BUT,
    NOT_ONLY,
    RETRACT_ABOUT,
    RETRACT_ALL,
    RETRACT_X,
    SAYS_NO,
    SETTLED,
    VALUES,
    WRONG,
)
from .dialogue import Unit
from .reasons_between import ReasonsBetween
from .slips_inline import right_inside
from .splices import joined, replaced, stems, without_clause
from .value_spots import counts_the_same, number_spot


def apply_corrections(*, units: list[Unit], agent: str = "") -> list[Unit]:
    """The units with corrections merged into what they correct, and what was taken back gone.

    `agent` is whom a user addresses: "Sorry, Kyra" puts no name in another's place.
    """
    board = _Board(units, agent=agent)
    for index, unit in enumerate(units):
        if unit.role is Role.USER:
            board.visit(index)
    return board.remaining()


class _Board(ReasonsBetween):
    """The units of one conversation while corrections are being worked in."""

    def remaining(self) -> list[Unit]:
        kept = (self._left_over(unit) for unit in self._units if unit is not None)
        return [unit for unit in kept if unit is not None]

    def visit(self, index: int) -> None:
        unit = self._units[index]
        if unit is None or self._reason_between(index, unit):
            return
        unit = self._units[index] or unit
        meant = right_inside(text=unit.text)
        if meant != unit.text:
            unit = self._units[index] = replace(unit, text=meant)
        if self._slip(index, unit) or unit.text.endswith("?"):
            return
        about_x = RETRACT_ABOUT.match(unit.text)
        if about_x:
            self._retract_about(index, unit, about_x.group("x"), about_x.group("rest"))
            return
        wrong = WRONG.fullmatch(unit.text)
        if wrong and not wrong.group("rest"):
            self._wrong(index, unit)
            return
        if wrong and has_verb(text=MARKER_WORDS.sub("", wrong.group("rest"))):
            self._retract_previous(index)
            self._units[index] = replace(unit, text=wrong.group("rest"))
            return
        marked = bool(MARKER.search(unit.text))
        body = MARKER_WORDS.sub("", unit.text).strip()
        if marked:
            denied = NOT_OLD.match(body)
            tail = f"not {denied['old'].strip()}" if denied else ""
            unit = self._units[index] = replace(unit, corrects=tail)
            if MISTAKEN.match(unit.text) and has_verb(text=body):
                unit = self._units[index] = replace(unit, text=capitalised(body))
        settled = SETTLED.search(body) if marked else None
        body = settled.group("value") if settled else body
        if self._agent and body.rstrip(" .!,").lower() == self._agent:
            return
        about: set[str] = set()
        head, colon, told = body.partition(": ")
        if colon and marked and (len(words_of(head)) < 6 and not has_verb(text=head)):
            body, about = told.strip(), stems(head)
        elif ": " in body and marked and not has_verb(text=body.rsplit(": ", 1)[1]):
            body = body.rsplit(": ", 1)[1].strip()
        if self._named_old(index, unit, body, marked):
            return
        if (
            self._denied(index, unit)
            or self._others(index, unit)
            or self._listed_again(index, unit)
        ):
            return
        if self._recounted(index, unit) or self._relocated(index, unit):
            return
        if self._moved_on(index, unit) or self._reconsidered(index, unit):
            return
        taken_back = RETRACT_ALL.match(unit.text)
        if taken_back:
            rest = FORGET_TAIL.sub("", unit.text[taken_back.end() :]).strip(" ,.;!-–—")
            rest = self._of_same_subject(index, unit, rest)
            self._retract_previous(index, rest)
            if len(words_of(rest)) > 1 and has_verb(text=rest):
                self._units[index] = replace(unit, text=rest)
            return
        retracted = RETRACT_X.search(strip_lead(text=unit.text))
        if retracted and self._retract_plan(index, unit, retracted.group("x")):
            return
        if NOT_ONLY.match(body):
            self._not_then(index, unit, body)
            return
        short = len(words_of(unit.text)) < 15
        if short and (marked or SAYS_NO.match(unit.text)) and self._item(index, unit, body):
            return
        if short and marked and self._labelled(index, unit):
            return
        if not about and self._said_anew(index, unit):
            return
        if marked:
            self._new_value(index, unit, body, about)

    def _wrong(self, index: int, unit: Unit) -> None:
        """ "Wait, that's wrong. It's May 8.": what follows corrects or replaces what was said."""
        before = self._units[index - 1] if index else None
        after = self._units[index + 1] if index + 1 < len(self._units) else None
        follows = after is not None and after.turn == unit.turn
        if before is None or before.role is not Role.USER:
            self._units[index] = None
        elif after and follows and not has_verb(text=MARKER_WORDS.sub("", after.text)):
            self._units[index] = None
            self._units[index + 1] = replace(after, text=f"Actually, {after.text}")
        else:
            self._retract_previous(index)

    def _named_old(self, index: int, unit: Unit, body: str, marked: bool) -> bool:
        """ "X, not Y": put X where Y was said."""
        match = NOT_OLD.match(body) or NOT_OLD_BUT.match(body)
        if match is None:
            return False
        new, old = match.group("new").strip(" ,"), match.group("old").strip()
        elliptic = not has_verb(text=new)
        if not (marked or elliptic):
            return False
        for position in self._earlier(index):
            target = self._units[position]
            if target is None:
                continue
            at = re.search(
                rf"(?<![\w.]){re.escape(old)}(?![\w%])(?!\.\d)", target.text, re.IGNORECASE
            )
            if at is None:
                continue
            if elliptic:
                text = replaced(target.text, at.start(), at.end(), new)
                self._units[position] = joined(target, unit, text, target.at)
                self._units[index] = None
                return True
            shared = set(content_words(new)) & set(content_words(target.text))
            if shared or len(old.split()) > 1:
                self._units[position] = without_clause(target, stems(new))
                self._units[index] = joined(unit, target, new + ".", unit.at)
                return True
        if elliptic and self._against_guess(index, unit, old, new):
            return True
        if not elliptic and marked:
            self._units[index] = replace(unit, text=new + ".")
        return False

    def _new_value(self, index: int, unit: Unit, body: str, about: set[str]) -> None:
        """ "Sorry, Thursday", or a sentence that says an earlier one again with another value."""
        if not body:
            return
        if has_verb(text=body):
            head = body.split(", ", 1)[0].strip()
            if (
                ", " not in body
                or has_verb(text=head)
                or len(words_of(head)) > 4
                or not re.search(r"(?i),\s(?:i|we|he|she|they|the|that|it)\b", body)
            ):
                self._restated(index, unit, body)
                return
            body = head
        if len(words_of(body)) > 6 or ANNOUNCES.search(body):
            return
        for kind, pattern in VALUES:
            new = pattern.search("x " + body if kind == "name" else body)
            if new is None:
                continue
            alike = [
                position for position in self._earlier(index, 10)
                if kind == "number" and (said := self._units[position])
                and counts_the_same(text=said.text, new=new.group(), value=body)
            ]  # fmt: skip
            for position in alike or self._earlier(index, 10 if about else 4):
                target = self._units[position]
                if target and about and not about & stems(target.text):
                    continue
                spots = [spot.span() for spot in pattern.finditer(target.text)] if target else []
                if kind == "number" and target:
                    spot = number_spot(text=target.text, new=new.group(), value=body, is_sure=True)
                    spots = [spot[:2]] if spot else []
                if target and spots:
                    text = replaced(target.text, *spots[-1], body.rstrip(".! "))
                    self._units[position] = joined(target, unit, text, target.at)
                    self._units[index] = None
                    self._drop_account_of(index, target.text[slice(*spots[-1])])
                    return
            return

    def _restated(self, index: int, unit: Unit, body: str) -> None:
        said = stems(body)
        values = {kind: p.search(body) for kind, p in VALUES[:6]}
        for position in self._earlier(index, 8):
            target = self._units[position]
            if target is None:
                continue
            earlier = stems(target.text)
            shared = {word for word in said & earlier if not word[0].isdigit()}
            changed = any(
                new is not None and (old := pattern.search(target.text)) is not None
                and old.group().lower() != new.group().lower()
                for (kind, pattern) in VALUES[:6] for new in [values[kind]]
            )  # fmt: skip
            if (
                changed
                and len(shared) >= min(2, len(said) - 1)
                and len(shared) >= 0.5 * min(len(said), len(earlier)) - 1
            ):
                self._units[position] = without_clause(target, shared)
                self._units[index] = joined(unit, target, unit.text, unit.at)
                return
