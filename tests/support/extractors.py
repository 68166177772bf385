"""Extractors whose finds a test chooses, and which miss nothing in their first pass."""

from __future__ import annotations

from collections.abc import Sequence

from memory.domain.types import Candidate, MemoryType, Participants, SourceMessage


class OnePass:
    """The second pass of an extractor that finds nothing more in it."""

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Nothing was missed."""
        return []


class ListedFacts(OnePass):
    """Finds the same texts, each of its importance, in every last message; counts its calls."""

    def __init__(self, *facts: tuple[str, int], name: str = "listed") -> None:
        self.facts = facts
        self.name = name
        self.calls = 0

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """One candidate for each text, in their order."""
        self.calls += 1
        return [
            Candidate(
                content=text,
                memory_type=MemoryType.SEMANTIC,
                importance=importance,
                confidence=0.9,
                message_ids=(messages[-1].id,),
            )
            for text, importance in self.facts
        ]
