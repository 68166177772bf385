"""The extractor that needs no language model: modest, general and linear in its input.

It reads English and nothing else. What it leaves out stays in the messages, where it can be found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage

from .extraction.drafts import Draft, drafts_of
from .extraction.filing import category_of, sensitive_field_of, subject_of, validity_of
from .extraction.grammar import content_of
from .extraction.model import Model, shipped_model
from .extraction.rating import rated
from .extraction.statements import Turn

_SAME_SHARE = 0.8
_COMPARED = 40
_HIGHEST_IMPORTANCE_OF_OTHERS = 8


class RulesExtractor:
    """Turns messages into candidate memories by general rules and a small linear model."""

    name = "rules"

    def __init__(self, *, model: Model | None = None) -> None:
        self._model = model or shipped_model()

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """Pass 1: what `messages` state; `context` lends names and questions."""
        turns, drafts = drafts_of(messages=messages, context=context, participants=participants)
        return self.admitted(turns, drafts)

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Pass 2 finds nothing: a second look at a lower bar added more wrong than right."""
        return []

    def admitted(self, turns: Sequence[Turn], drafts: Sequence[Draft]) -> list[Candidate]:
        """The drafts that are worth keeping, each once, as candidates."""
        found: list[Candidate] = []
        known: list[set[str]] = []
        for draft in drafts:
            worth = self._model.worth(draft.evidence)
            bar = self._model.bar
            if draft.seen.statement.is_pinned:
                bar = self._model.bar_pinned
            if worth < bar or not draft.sources:
                continue
            words = content_of(draft.text)
            if any(len(words & other) >= _SAME_SHARE * len(words) for other in known[-_COMPARED:]):
                continue
            known.append(words)
            found.append(self._candidate(turns, draft, worth))
        return found

    def _candidate(self, turns: Sequence[Turn], draft: Draft, worth: float) -> Candidate:
        seen = draft.seen
        kind = self._model.kind(draft.evidence)
        if kind is MemoryType.USER_PROFILE and not seen.statement.turn.is_user:
            kind = MemoryType.SEMANTIC
        importance, is_pinned = rated(seen, draft.evidence, kind)
        if not seen.statement.is_persons:
            importance = min(importance, _HIGHEST_IMPORTANCE_OF_OTHERS)
        valid_from, valid_to = validity_of(draft.dates)
        return Candidate(
            content=draft.text,
            memory_type=kind,
            importance=importance,
            confidence=round(1 / (1 + math.exp(-max(-4.0, min(4.0, worth)))), 2),
            message_ids=tuple(turns[number].message.id for number in draft.sources),
            subject=subject_of(seen, kind),
            category=category_of(seen, draft.evidence, kind),
            is_pinned=is_pinned,
            sensitive_field=sensitive_field_of(seen, kind),
            valid_from=valid_from,
            valid_to=valid_to,
            corrects=seen.statement.corrects,
            is_verbatim=True,
        )
