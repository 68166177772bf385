"""Tool runs and what is said of them: the agent's report, and the user's word that it helped."""

from __future__ import annotations

from dataclasses import replace

from .days.dates import resolve_dates
from .drafts import merged_sources
from .language.words import content_words
from .threads.dialogue import Unit
from .tools import ToolRun, confirmed_fix, read_report
from .writer import ClauseWriter

_CONFIRMATION_WORDS = 5
_RUN_TURNS = 3


class ToolTalk:
    """Follows the tool messages of one conversation and writes down what came of them."""

    def __init__(self, *, writer: ClauseWriter) -> None:
        self._writer = writer
        self._run = ToolRun()

    def observe(self, *, unit: Unit) -> None:
        """Take in a sentence of a tool message."""
        self._run.observe(unit)

    def forget(self, *, turn: int) -> None:
        """Leave a run behind that lies more than three turns back."""
        if self._run.units and turn > self._run.last_turn + _RUN_TURNS:
            self._run = ToolRun()

    def report(self, *, unit: Unit) -> None:
        """What the agent tells after tool messages."""
        if not self._run.units:
            return
        ledger = self._writer.ledger
        problem = ledger.problem(turn=unit.turn)
        found, cause = read_report(unit=unit, run=self._run, problem=problem)
        for draft in found:
            text, sources = self._writer.focus.resolve(text=draft.text, turn=unit.turn, reach=6)
            resolved = resolve_dates(text=text, today=unit.at.date(), past=False)
            sources_all = merged_sources(draft.sources, sources)
            ledger.add(
                replace(draft, text=resolved.text, sources=sources_all, dates=resolved.dates)
            )
        if cause:
            tools = [tool.message_id for tool in self._run.units]
            ledger.explain(cause=cause, turn=unit.turn, sources=[*tools, unit.message_id])

    def confirms(self, *, unit: Unit, text: str) -> bool:
        """Whether a sentence only says that what the tools did has helped."""
        ledger = self._writer.ledger
        problem = ledger.problem(turn=unit.turn)
        fix = confirmed_fix(unit=unit, text=text, run=self._run, problem=problem)
        if fix is None or not unit.own or len(content_words(text)) > _CONFIRMATION_WORDS:
            return False
        ledger.add(fix)
        self._run = ToolRun()
        return True
