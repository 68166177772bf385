"""Slips put right in the next words, jests owned up to, and what is to be unsaid."""

from __future__ import annotations

from dataclasses import replace

from ..language.syntax import has_verb
from ..language.words import capitalised
from .dialogue import Unit
from .remade import remade
from .restatements import Restatements
from .right_spots import put_right
from .slip_words import (
    AGAIN,
    ALONE,
    denied,
    in_jest,
    meant_value,
    only_rights,
    said_instead,
    takes_back,
    unsaid,
)
from .slips_inline import breaks_off, right_inside
from .splices import joined

_TURNS = 2
_FAR_TURNS = 6
_MAX_CHARS = 90


class Slips(Restatements):
    """The units of one conversation, and what takes back or puts right the words just said."""

    def _slip(self, index: int, unit: Unit) -> bool:
        """Deal with a sentence that only puts a slip right or takes something back."""
        if len(unit.text) > _MAX_CHARS:
            return False
        if self._broken_off(index, unit):
            return True
        if self._said_instead(index, unit) or self._made_other(index, unit):
            return True
        unmeant = not unit.question and denied(text=unit.text)
        if unmeant or in_jest(text=unit.text) or self._unsaid(index, unit):
            self._unsay(index, unit)
            return True
        value = meant_value(text=unit.text)
        after = self._units[index + 1] if index + 1 < len(self._units) else None
        alone = after is not None and after.turn == unit.turn and ALONE.fullmatch(unit.text)
        if alone and after is not None:
            value = meant_value(text=after.text) or after.text.strip(" .!*")
        before = self._units[index - 1] if index else None
        again = AGAIN.fullmatch(unit.text)
        if (
            again
            and before is not None
            and before.turn == unit.turn
            and not has_verb(text=before.text)
        ):
            value = again.group("value")
        if not value or (has_verb(text=value) and (" " in value or "*" not in unit.text)):
            return False
        for position in self._spoken_before(index, unit):
            target = self._units[position]
            text = put_right(text=target.text, value=value) if target else ""
            if target is None or not text:
                continue
            told = joined(target, unit, text, target.at)
            self._units[position] = replace(told, corrects=unit.corrects or "")
            self._units[index] = None
            if alone:
                self._units[index + 1] = None
            return True
        return False

    def _broken_off(self, index: int, unit: Unit) -> bool:
        """ "I bought a canoe. I mean a kayak.": a slip put right in the same breath."""
        before = self._units[index - 1] if index else None
        if (
            before is None
            or before.turn != unit.turn
            or before.text.endswith("?")
            or unit.text.rstrip(" .!").lower().endswith(f" {self._agent}")
        ):
            return False
        whole = f"{before.text.rstrip('.!… ')}, {unit.text}"
        meant = right_inside(text=whole) if breaks_off(text=unit.text) else whole
        if meant == whole:
            return False
        self._units[index - 1] = joined(before, unit, meant, before.at)
        self._units[index] = None
        return True

    def _said_instead(self, index: int, unit: Unit) -> bool:
        """ "Scratch that, it's May 6", "Just kidding. The flute.": what is meant stays."""
        value, taken = said_instead(text=unit.text), [index]
        after = self._units[index + 1] if index + 1 < len(self._units) else None
        if (
            not value
            and after is not None
            and after.turn == unit.turn
            and takes_back(text=unit.text)
        ):
            value = said_instead(text=f"Scratch that, {after.text}")
            taken.append(index + 1)
        if not value or (has_verb(text=value) and " " in value):
            return False
        near = self._spoken_before(index, unit)
        target = self._units[near[0]] if near else None
        text = put_right(text=target.text, value=value, is_sure=False) if target else ""
        if target is None or not text:
            return False
        self._units[near[0]] = joined(target, self._units[taken[-1]] or unit, text, target.at)
        for gone in taken:
            self._units[gone] = None
        return True

    def _made_other(self, index: int, unit: Unit) -> bool:
        """ "Make the freeze the 22nd", "scratch Rome: it's Pisa": what is named gets its value."""
        named = remade(text=unit.text)
        for position in self._earlier(index, 8) if named else ():
            target = self._units[position]
            if named is None or target is None or unit.turn - target.turn > _FAR_TURNS:
                continue
            text = named.told_in(text=target.text)
            if text:
                self._units[position] = joined(target, unit, text, target.at)
                self._units[index] = None
                return True
        return False

    def _left_over(self, unit: Unit) -> Unit | None:
        """A slip of which nobody knows what it puts right: its value as an answer, or nothing."""
        value = meant_value(text=unit.text) if only_rights(text=unit.text) else ""
        if not value or has_verb(text=value):
            return unit
        return replace(unit, text=f"{capitalised(value)}.") if unit.question else None

    def _unsaid(self, index: int, unit: Unit) -> bool:
        if not unsaid(text=unit.text, reply=""):
            return False
        near = self._spoken_before(index, unit)
        last = self._units[near[0]] if near else None
        between = last.reply if last is not None and last.turn < unit.turn else ""
        return unsaid(text=unit.text, reply=between)

    def _spoken_before(self, index: int, unit: Unit) -> list[int]:
        """What the speaker said in this turn and the one before it, the last sentence first."""
        near = self._earlier(index, 6)
        return [at for at in near if (said := self._units[at]) and unit.turn - said.turn <= _TURNS]

    def _unsay(self, index: int, unit: Unit) -> None:
        """Drop the sentence itself and what it speaks of.

        That is the sentence before it in its own message, else the speaker's whole message before.
        """
        near = self._spoken_before(index, unit)
        self._units[index] = None
        last = self._units[near[0]] if near else None
        for position in near if last is not None else ():
            target = self._units[position]
            if target is None or last is None or target.turn != last.turn:
                break
            self._units[position] = None
            if last.turn == unit.turn:
                break
