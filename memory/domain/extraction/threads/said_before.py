"""The clause just before in a message, and whether one leans on it or on the question."""

from __future__ import annotations

import re

from ..language.leaning import THEIRS, names_nothing
from ..language.names import names_in
from ..language.words import words_of
from .dialogue import Unit

_OWN = re.compile(r"\b(?:i|we|my|our|me|us|i['’]\w+|we['’]\w+)\b", re.IGNORECASE)


class SaidBefore:
    """The clause that was written last in one conversation."""

    def __init__(self) -> None:
        self._last: tuple[Unit, str] | None = None

    def learn(self, *, unit: Unit, clause: str) -> None:
        """Keep a clause as the last one."""
        self._last = (unit, clause)

    def clause(self, *, unit: Unit) -> str:
        """The clause that was written just before in the same message, or ""."""
        if self._last is None or self._last[0].turn != unit.turn:
            return ""
        return self._last[1] if unit.place - self._last[0].place <= 1 else ""

    def names_place(self, *, unit: Unit, told: str) -> bool:
        """Whether the clause before names what a "there" may be that is `told` of."""
        known = {unit.voice.name, *names_in(told), *words_of(told)}
        return any(name not in known for name in names_in(self.clause(unit=unit)))


def leans_on_name(*, unit: Unit, clause: str, told: str) -> bool:
    """Whether a clause leans on another for whom or what it is about.

    `told` is the clause in the third person.
    """
    answers = len(unit.sources) > 1 and not unit.place and not _OWN.search(clause)
    leans = answers or bool(THEIRS.search(clause))
    return leans and names_nothing(told=told, owner=unit.voice.name)
