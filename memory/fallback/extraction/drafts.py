"""Statements that may become memories, with all that is needed to weigh and file them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory.domain.secrets import mask_secrets, secrets_in
from memory.domain.text.written_dates import WrittenDate
from memory.domain.types import Participants, SourceMessage

from .clauses import stripped
from .evidence import Seen, evidence_of
from .grammar import CONJUNCTIONS, PREPOSITIONS, content_of, has_verb, words_of
from .kinds import kind_of
from .reading import statements_of
from .statements import Turn
from .turns import turns_of
from .wording import worded

_FEWEST_WORDS = 3
_MOST_IN_STUB = 2


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement as it would be stored, with the numbers of its turns."""

    seen: Seen
    text: str
    sources: tuple[int, ...]
    evidence: frozenset[str]
    dates: tuple[WrittenDate, ...]


def drafts_of(
    *,
    messages: Sequence[SourceMessage],
    context: Sequence[SourceMessage],
    participants: Participants,
    without: str = "",
) -> tuple[list[Turn], list[Draft]]:
    """The turns, and what they state that could be a memory at all.

    What asks, was taken back or comes from context alone never is. `without` leaves out a module
    of evidence, to measure what it is worth.
    """
    turns = turns_of(messages=messages, context=context, participants=participants)
    drafts = []
    secrets = {secret for turn in turns for secret in secrets_in(text=turn.message.content)}
    for statement in statements_of(turns):
        if statement.is_dropped or not statement.turn.is_extracted:
            continue
        if statement.is_question and not statement.is_favour:
            continue
        told = worded(statement)
        if len(words_of(told.text)) < _FEWEST_WORDS or _bares(told.text, secrets):
            continue
        if not statement.is_answer and _is_stub(told.text):
            continue
        clause = stripped(statement.said).text
        kind = kind_of(statement, clause, told=told.text, is_dated=bool(told.dates))
        seen = Seen(statement, told.text, bool(told.dates), kind)
        drafts.append(
            Draft(
                seen=seen,
                text=told.text,
                sources=tuple(
                    sorted(each for each in statement.sources if turns[each].is_extracted)
                ),
                evidence=evidence_of(seen, without=without),
                dates=told.dates,
            )
        )
    return turns, drafts


def _is_stub(text: str) -> bool:
    """Whether a text hangs on one that is not there: "As an offer."."""
    first = words_of(text)[0]
    hangs = first in PREPOSITIONS or first in CONJUNCTIONS
    return hangs and len(content_of(text)) <= _MOST_IN_STUB and not has_verb(text)


def _bares(text: str, secrets: Collection[str]) -> bool:
    """Whether a text holds a secret without the words by which the write path would know it."""
    if not any(secret in text for secret in secrets):
        return False
    masked = mask_secrets(text=text)
    return any(secret in masked for secret in secrets)
