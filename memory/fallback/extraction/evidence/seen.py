"""What all modules of evidence read of a statement, worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from memory.domain.types import MemoryType

from ...lexicon import marks
from ..clauses import stripped
from ..corrections import Value, values_in
from ..grammar import Request, Tense, request_of, tense_of, tokens_of, words_of
from ..references import names_in
from ..statements import Statement

CUES = (
    "hedges", "wishes", "quoting", "retractions", "correcting", "decided", "strong", "mild", "duty",
    "ways", "asides", "idle", "laughter", "events", "failures", "health", "women", "men", "people",
    "kin", "roles", "tongues", "habits", "nearness", "tastes", "household", "work",
)  # fmt: skip
_CUE_TABLES = tuple(f"talk/{name}" for name in CUES)


@dataclass(frozen=True)
class Seen:
    """A statement with its wording, the type that the tests give it, and whether it has a date."""

    statement: Statement
    told: str
    is_dated: bool
    kind: MemoryType

    @cached_property
    def clause(self) -> str:
        """The words as said, without their opener."""
        return stripped(self.statement.said).text

    @cached_property
    def low(self) -> str:
        """The clause in lower case."""
        return self.clause.lower()

    @cached_property
    def words(self) -> list[str]:
        """The clause's words."""
        return words_of(self.clause)

    @cached_property
    def cues(self) -> frozenset[str]:
        """The names of the word tables that have a word in the statement."""
        found = marks(tokens_of(self.statement.said), names=_CUE_TABLES)
        return frozenset(mark.table.removeprefix("talk/") for mark in found)

    @cached_property
    def request(self) -> Request | None:
        """The request that the clause makes, if any."""
        return request_of(self.clause)

    @cached_property
    def tense(self) -> Tense:
        """The tense of the clause."""
        return tense_of(self.statement.text if self.statement.is_answer else self.clause)

    @cached_property
    def values(self) -> list[Value]:
        """The dates, times, numbers and names of the clause."""
        return values_in(self.clause)

    @cached_property
    def names(self) -> list[str]:
        """The names in the statement as said."""
        return [name for _, name in names_in(self.statement.said)]
