"""What a sentence states, clause by clause, and what it asks for in passing."""

from __future__ import annotations

import re

from .asking import Asking
from .clauses import split_clauses
from .fillers import is_ephemeral
from .kinds.introductions import chooses_name, introductions
from .kinds_apart import kinds_apart
from .language.coordination import joined_facts
from .language.leads import strip_lead
from .language.rewrite import third_person_text
from .language.syntax import is_imperative
from .language.trimming import trim
from .meant.acts import Act, act_of
from .requests import as_wish, asks_for_none
from .threads.dialogue import Unit
from .writer import ClauseWriter

_OUTCOME = re.compile(
    r"^(?:it|they|he|she)(?:['’]s|\s(?:has|have|is|are))?\s(?:just\s|already\s|since\s|finally\s)?"
    r"(?:turned\sup|arrived\s(?:after\sall|in\sthe\send)|works?\sagain|working\sagain|back|fixed|"
    r"been\s(?:fixed|found|solved|returned|repaired)|found|solved|sorted|resolved|(?:been\s)?(?:cancelled|canceled|called\soff|postponed)|off\snow)\b",
    re.IGNORECASE,
)


class Telling:
    """Sends the clauses of a statement to where each belongs."""

    def __init__(self, *, writer: ClauseWriter, asking: Asking) -> None:
        self._writer = writer
        self._asking = asking

    def state(
        self, *, unit: Unit, text: str, pinned: bool = False, act: Act = Act.STATEMENT
    ) -> None:
        """Write down what a sentence states; an outcome or a remark goes with what it speaks of."""
        told = third_person_text(text=text, voice=unit.voice)
        ledger = self._writer.ledger
        ends = _OUTCOME.match(text)
        if ends and ledger.outcome(told=told, turn=unit.turn, sources=unit.sources):
            return
        if ledger.lean(said=text, told=told, turn=unit.turn):
            return
        before = ledger.all()
        clauses = [text] if chooses_name(text=text) else split_clauses(text=text)
        self._write(unit, clauses, pinned, act)
        facts = joined_facts(text=text) or kinds_apart(text=text, today=unit.at.date())
        if facts:
            # Each fact has to be worth keeping by itself, else the sentence stays whole.
            whole = ledger.all()
            ledger.set_back(drafts=before)
            self._write(unit, facts, pinned, act)
            ledger.part(before=before, whole=whole, count=len(facts))

    def ask(self, *, unit: Unit, text: str, pinned: bool) -> None:
        """Write down a request, and the reason that it gives for itself."""
        reason = self._asking.request(unit=unit, text=text, pinned=pinned)
        if reason and act_of(text=reason, chat=False) is Act.STATEMENT:
            self.state(unit=unit, text=reason, pinned=pinned)

    def _write(self, unit: Unit, clauses: list[str], pinned: bool, act: Act) -> None:
        for clause in clauses:
            said = introductions(clause=clause, speaker=unit.voice.name)
            bare = strip_lead(text=clause)
            if asks_for_none(text=bare):
                self._writer.write(
                    unit=unit, clause=as_wish(text=bare), pinned=pinned, request=True
                )
            elif said:
                self._writer.introduce(unit=unit, said=said)
            elif is_ephemeral(clause=clause) and not pinned:
                self._writer.observe(unit=unit, text=clause)
            elif is_imperative(text=bare) or re.match(r"(?i)please\b", clause):
                self.ask(unit=unit, text=bare, pinned=pinned)
            else:
                meant = act_of(text=clause, chat=False)
                meant = act if meant is Act.STATEMENT else meant
                if pinned or meant not in {Act.QUESTION, Act.COMMAND, Act.REQUEST}:
                    self._writer.write(
                        unit=unit, clause=trim(text=clause), pinned=pinned, act=meant
                    )
