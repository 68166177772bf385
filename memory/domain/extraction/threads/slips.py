"""Slips put right in the next words, jests owned up to, and what is to be unsaid."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher

from ..language.syntax import has_verb, strip_lead
from ..language.verbs import is_finite
from ..language.words import (
    KIN,
    NUMBER_WORDS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    capitalised,
    word_set,
    words_of,
)
from .dialogue import Unit
from .restatements import Restatements
from .slip_words import AGAIN, ALONE, denied, in_jest, meant_value, only_rights, unsaid
from .splices import joined

_PLURAL = re.compile(r"^(\s[a-z]+[^s\W])s\b")
_TURNS = 2
_NUMBERS = frozenset(NUMBER_WORDS) - {"a", "an"} | frozenset(map(str, range(21)))
_ORDINALS = word_set(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
_MAX_CHARS = 90
_FEW = 3
_ALIKE = 0.6
_TOKEN = re.compile(r"[^\s,;!?()]+")
_FIGURE = re.compile(r"(?P<sign>[$€£]?)(?P<n>\d[\d.,:]*)(?P<unit>[a-zA-Z%]*)")
_ORDINAL = re.compile(r"(?:the\s)?(?P<day>\d{1,2})(?:st|nd|rd|th)", re.IGNORECASE)
_MONTH_DAY = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\s(?P<day>\d{1,2})(?!\d)|"
    r"\b(?P<first>\d{1,2})(?:st|nd|rd|th)?\s(?:of\s)?(?:january|february|march|april|may|june|july|august|september|october|november|december)",
    re.IGNORECASE,
)


class Slips(Restatements):
    """The units of one conversation, and what takes back or puts right the words just said."""

    def _slip(self, index: int, unit: Unit) -> bool:
        """Deal with a sentence that only puts a slip right or takes something back."""
        if len(unit.text) > _MAX_CHARS:
            return False
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


def put_right(*, text: str, value: str) -> str:
    """The text with `value` in the place of what was said by mistake; "" where nothing fits.

    The figure of its unit gives way to a figure, a word to the word that is most like it, a name
    to the last name, a relative to a relative, and else the words behind the last preposition.
    """
    spot = _dated(text, value) or _figure(text, value) or _alike(text, value) or _named(text, value)
    spot = spot or _counted(text, value) or _related(text, value) or _object(text, value)
    if spot is None:
        return ""
    start, end, new = spot
    rest = text[end:]
    return text[:start] + new + (_PLURAL.sub(r"\1", rest) if new == "one" else rest)


_Spot = tuple[int, int, str]


def _dated(text: str, value: str) -> _Spot | None:
    """ "the 5th" is a day of the month that was named."""
    new, old = _ORDINAL.fullmatch(value), _MONTH_DAY.search(text)
    if new is None or old is None:
        return None
    group = "day" if old.group("day") else "first"
    return (*old.span(group), new.group("day"))


def _figure(text: str, value: str) -> _Spot | None:
    said = _FIGURE.match(value)
    if said is None:
        return None
    spots = list(_FIGURE.finditer(text))
    of_unit = [each for each in spots if each.group("unit").lower() == said.group("unit").lower()]
    half = {"am": "pm", "pm": "am"}.get(said.group("unit").lower())
    of_unit = of_unit or [each for each in spots if each.group("unit").lower() == half]
    counted = words_of(value[said.end() :])[:1]
    following = {each: words_of(text[each.end() :])[:1] for each in spots}
    if counted:
        spots = [
            each for each in spots
            if following[each] and following[each][0].rstrip("s")[:4] == counted[0].rstrip("s")[:4]
        ] or (spots if len(spots) == 1 else [])  # fmt: skip
        if not spots:
            return None
        spot, unit = spots[-1], following[spots[-1]]
        end = text.find(unit[0], spot.end()) + len(unit[0]) if unit else spot.end()
        return spot.start(), end, value
    spots = of_unit or ([] if said.group("unit") else spots)
    return (*spots[-1].span(), value) if spots else None


def _counted(text: str, value: str) -> _Spot | None:
    """ "one" after "two sisters", "fourth" after "the third floor"."""
    for kind in (_NUMBERS, _ORDINALS):
        said = [each for each in _TOKEN.finditer(text) if each.group().lower() in kind]
        if value.lower() in kind and said:
            return (*said[-1].span(), value.lower())
    return None


def _alike(text: str, value: str) -> _Spot | None:
    """The words most like the value, as many as it has: a spelling put right."""
    tokens = list(_TOKEN.finditer(text))
    count = len(value.split())
    best, spot = _ALIKE, None
    for at in range(len(tokens) - count + 1):
        start, end = tokens[at].start(), tokens[at + count - 1].end()
        said = text[start:end].rstrip(".:")
        if (
            words_of(said)[:1]
            and words_of(said)[0] in PREPOSITIONS
            and words_of(value)[:1] != words_of(said)[:1]
        ):
            continue
        likeness = SequenceMatcher(None, said.lower(), value.lower()).ratio()
        if likeness >= best and said != value and len(said) > 2:
            best, spot = likeness, (start, start + len(said), value)
    return spot


def _named(text: str, value: str) -> _Spot | None:
    if not re.fullmatch(r"(?:the\s)?[A-ZÀ-Þ][\w’'-]*(?:\s[A-ZÀ-Þ][\w’'-]*)*", value):
        return None
    names = list(re.finditer(r"(?<=\s)(?:the\s)?(?!I\b)[A-ZÀ-Þ][\w-]+(?:\s[A-ZÀ-Þ][\w-]+)*", text))
    return (*names[-1].span(), value) if names else None


def _related(text: str, value: str) -> _Spot | None:
    """ "I mean my cousin" after "my brother Tom"."""
    words = words_of(value)
    people = KIN | PEOPLE_NOUNS
    if not words or words[-1] not in people or len(words) > _FEW:
        return None
    said = next((each for each in _TOKEN.finditer(text) if each.group().lower() in people), None)
    return (*said.span(), words[-1]) if said else None


def _object(text: str, value: str) -> _Spot | None:
    """What stands behind the last preposition, or behind "is", in a short sentence."""
    if len(value.split()) > _FEW or not value[:1].isalpha() or len(text.split()) > 9:
        return None
    heads = [
        each for each in _TOKEN.finditer(text)
        if each.group().lower() in PREPOSITIONS | {"is", "are", "called", "named", "was"}
    ]  # fmt: skip
    if not heads or heads[-1].end() + 1 >= len(text.rstrip(".! ")):
        return None
    first = words_of(value)[0]
    start = heads[-1].start() if first in PREPOSITIONS else heads[-1].end() + 1
    return (
        None if is_finite(word=first) else (start, len(text.rstrip(".! ")), strip_lead(text=value))
    )
