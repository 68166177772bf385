"""Reads turns into statements: each with its question, its corrections and its people named."""

from __future__ import annotations

from collections.abc import Sequence

from memory.domain.types import Role

from ..lexicon import marks
from . import answers
from .clauses import clauses_of, split_question, stripped
from .corrections import Corrections
from .grammar import (
    content_of,
    favour_asked,
    has_verb,
    is_question,
    request_of,
    tokens_of,
    words_of,
)
from .profile import tells_of_oneself
from .references import Company, leans
from .statements import Statement, Turn
from .third_person import in_third_person

_LONGEST_ANSWER = 14
_SENTENCES_THAT_ANSWER = 2
_FEWEST_SHARED = 2
_JOINED_CHARS = 240
_TOOLS_BEFORE = 3
_FEWEST_LEANT_ON = 4


def statements_of(turns: Sequence[Turn]) -> list[Statement]:
    """What the turns state, in order; those of mere context included."""
    return _Reader(turns).read()


class _Reader:
    """Walks through the turns once."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._statements: list[Statement] = []
        self._corrections = Corrections(self._statements)
        present = {
            name
            for turn in turns
            for name in (*turn.voices.speaker.split(), *turn.voices.addressee.split())
        }
        self._company = Company(frozenset(present))

    def read(self) -> list[Statement]:
        for turn in self._turns:
            if turn.is_person:
                self._person(turn)
            elif turn.message.role is Role.TOOL:
                self._tool(turn)
            elif turn.message.role is Role.ASSISTANT:
                self._agent(turn)
        return self._statements

    def _person(self, turn: Turn) -> None:
        prior = ""
        for place, sentence in enumerate(turn.sentences):
            for clause in _parts(sentence):
                statement = Statement(
                    turn, clause, clause, sentence, place, prior, sources={turn.number}
                )
                self._state(statement)
            prior = sentence

    def _state(self, statement: Statement) -> None:
        bare = stripped(statement.said)
        clause = bare.text
        statement.is_pinned = bare.is_pinned or stripped(statement.sentence).is_pinned
        if is_question(statement.said):
            statement.is_question = True
            favour = favour_asked(clause)
            if favour and request_of(favour):
                statement.is_favour = True
                clause = favour
        if self._corrections.retract(statement) or self._corrections.correct(statement, clause):
            return
        first = statement.place == 0 and not self._has_said(statement.turn)
        if statement.turn.question and self._answers(statement, clause, first=first):
            return
        if not clause:
            return
        self._name(statement, clause)
        statement.leans = leans(statement.text)
        if self._joins(statement):
            return
        self._keep(statement)

    def _name(self, statement: Statement, text: str) -> None:
        """Word the statement with its people named, and cite where a name is from."""
        named = self._company.named(text, statement.turn.number)
        statement.text = named.text
        if named.turn >= 0:
            statement.sources.add(named.turn)

    def _has_said(self, turn: Turn) -> bool:
        return bool(self._statements) and self._statements[-1].turn is turn

    def _goes_on(self, turn: Turn) -> bool:
        """Whether the question before the turn has been answered already."""
        return self._has_said(turn) and self._statements[-1].is_answer

    def _answers(self, statement: Statement, clause: str, *, first: bool) -> bool:
        """Word a fragment with the question that it answers; False where it is none."""
        turn = statement.turn
        asker = turn.asker
        if asker is None or statement.is_question:
            return False
        yes, no = answers.YES.match(statement.said), answers.NO.match(statement.said)
        told = ""
        if not clause or len(words_of(clause)) == 0:
            if first and (yes or no):
                told = answers.affirmed(turn.question, asker, denied=no is not None)
        elif statement.place < _SENTENCES_THAT_ANSWER and _is_fragment(clause):
            lone = not statement.prior or not has_verb(statement.prior)
            if self._goes_on(turn):
                return False
            if lone and len(words_of(clause)) <= _LONGEST_ANSWER:
                agrees = first and not no
                told = answers.answered(turn.question, clause, asker, agrees=agrees and bool(yes))
        if not told:
            return not clause
        self._name(statement, told)
        statement.is_told = statement.is_answer = True
        statement.sources.add(turn.question_turn)
        self._keep(statement)
        return True

    def _joins(self, statement: Statement) -> bool:
        """Put a sentence that points at the one before behind it, as one statement."""
        last = self._statements[-1] if self._statements else None
        if last is None or last.turn is not statement.turn:
            return False
        goes_on = last.is_answer and _is_fragment(statement.text)
        if not (statement.leans or goes_on):
            return False
        fits = len(last.said) + len(statement.said) < _JOINED_CHARS
        if last.joined or last.is_question or last.is_dropped or statement.is_question or not fits:
            return False
        if statement.place == last.place or len(words_of(last.text)) < _FEWEST_LEANT_ON:
            return False
        last.joined = (statement.text,)
        last.sources |= statement.sources
        self._hear(statement)
        return True

    def _keep(self, statement: Statement) -> None:
        self._statements.append(statement)
        self._hear(statement)

    def _hear(self, statement: Statement) -> None:
        text = statement.text
        if not statement.is_told:
            text = in_third_person(text, statement.turn.voices)
        self._company.hear(text, statement.turn.number)

    def _agent(self, turn: Turn) -> None:
        """What an agent reports of the tool it has just used."""
        before = self._turns[turn.number - 1] if turn.number else None
        for place, sentence in enumerate(turn.sentences):
            told = in_third_person(sentence, turn.voices)
            self._company.hear(told, turn.number)
            if before is None or before.message.role is not Role.TOOL or sentence.endswith("?"):
                continue
            if len(words_of(sentence)) < _SENTENCES_THAT_ANSWER + 1:
                continue
            sources = {turn.number, before.number}
            if any(marks(tokens_of(sentence), names=["talk/solutions"])):
                sources |= self._tool_run(turn.number)
            text = stripped(told).text
            self._statements.append(
                Statement(
                    turn,
                    sentence,
                    text,
                    sentence,
                    place,
                    sources=sources,
                    is_told=True,
                    reported=before.message.content[:_JOINED_CHARS],
                )
            )

    def _tool_run(self, number: int) -> set[int]:
        """The last turns of agent and tools before a report."""
        turns = self._turns[max(0, number - 2 * _TOOLS_BEFORE) : number]
        run = [turn.number for turn in turns if not turn.is_person]
        return set(run[-2 * _TOOLS_BEFORE + 2 :])

    def _tool(self, turn: Turn) -> None:
        """A result of a tool that no agent reports."""
        behind = turn.number + 1
        reply = self._turns[behind] if behind < len(self._turns) else None
        content = " ".join(turn.message.content[:_JOINED_CHARS].split())
        if reply is not None and reply.role is Role.ASSISTANT:
            told = content_of(reply.message.content[:_JOINED_CHARS])
            if len(told & content_of(content)) >= _FEWEST_SHARED:
                return
        command, arrow, result = content.partition("->")
        if not arrow or not command.strip() or not result.strip():
            return
        text = f"{command.strip()} gave {result.strip()}"
        self._statements.append(
            Statement(turn, content, text, content, 0, sources={turn.number}, is_told=True)
        )


def _is_fragment(clause: str) -> bool:
    return not has_verb(clause) and request_of(clause) is None


def _parts(sentence: str) -> list[str]:
    """What a sentence says as statements: a question at its end is one of its own."""
    head, question = split_question(sentence)
    return [*_clauses(head), question] if question else _clauses(sentence)


def _clauses(sentence: str) -> list[str]:
    """The sentence whole, or its clauses: three or more, or one that tells of the speaker."""
    parts = clauses_of(sentence)
    if len(parts) != _SENTENCES_THAT_ANSWER:
        return parts
    own = [tells_of_oneself(stripped(part).text) for part in parts]
    return parts if any(own) and not all(own) else [sentence]
