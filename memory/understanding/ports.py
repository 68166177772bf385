"""The ports of understanding; a language model and our small models fit behind each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memory.domain.episodes import Evidence, Sitting, WrittenEpisode, WrittenInsight
from memory.domain.levels import LongText, WrittenLevels
from memory.domain.talk import WrittenSummary
from memory.domain.types import (
    NO_FOCUS,
    Asker,
    Candidate,
    Focus,
    Judgement,
    Participants,
    PassWork,
    Point,
    SourceMessage,
    Statement,
)


class Extractor(Protocol):
    """Turns messages into candidate memories."""

    name: str

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """Pass 1: what `messages` say; `context` are earlier messages, read but not extracted."""


@runtime_checkable
class ReviewingExtractor(Extractor, Protocol):
    """An extractor that looks a second time for what its first pass missed (seed 000)."""

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Pass 2: only what pass 1 missed, found another way, with `extraction_pass` 2."""


@runtime_checkable
class TellingExtractor(Extractor, Protocol):
    """An extractor that others may stand in for, and that can say where they did."""

    def telling(
        self,
        note: Callable[[PassWork], object],
        *,
        asker: Asker | None = None,
        focus: Focus = NO_FOCUS,
    ) -> Self:
        """The same extractor, which tells `note` who did each stretch of each pass.

        What its model costs is the asker's; the `focus` tells it what to look for.
        """


class Judge(Protocol):
    """Decides how a new statement stands to an existing one."""

    name: str

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on the pair; `new` is the one that arrives. Called inside transactions."""

    def judge_all(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[Judgement]:
        """The verdicts on pairs of an existing and a new statement, in order."""


class FilteringJudge(Judge, Protocol):
    """A judge quick enough to look at every pair before a slower one is asked."""

    def conflict_chances(self, pairs: Sequence[tuple[Statement, Statement]]) -> list[float]:
        """The chance 0-1 of each pair that it is in conflict, in order."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """The progress of judging pairs, and its cost.

    `waiting` are the places of the pairs that no answer came about. `problem` says in words which
    pairs another judge has to answer and why, "" where none.
    """

    waiting: frozenset[int] = frozenset()
    problem: str = ""
    cost_usd: Decimal = Decimal(0)


@runtime_checkable
class PreparingJudge(Judge, Protocol):
    """A judge that asks elsewhere first, so that `judge` need not: a language model."""

    def prepare(
        self,
        pairs: Sequence[tuple[Statement, Statement]],
        *,
        askers: Sequence[Asker] = (),
        most_usd: Decimal | None = None,
    ) -> Preparation:
        """Judge pairs of an existing and a new statement, to be remembered by their contents.

        It asks in groups of pairs with one asker each, who pays; once about `most_usd` are spent,
        about no further group. It may take long and is never called inside a transaction. `judge`
        answers what could not be judged another way.
        """


class Summariser(Protocol):
    """Sums up a conversation for a context that no longer holds its messages."""

    name: str

    def summarise(
        self, *, points: Sequence[Point], since: datetime, until: datetime, asker: Asker
    ) -> WrittenSummary:
        """The most important of what was said from `since` to `until`, and who wrote it.

        `points` are a bounded number of statements in the order of time, what was summed up
        before included; they may be none. Never called inside a transaction; `asker` pays.
        """


class LevelWriter(Protocol):
    """Writes shorter versions of a memory's text; never called inside a transaction."""

    name: str

    def write(self, text: LongText) -> WrittenLevels:
        """The levels, and who wrote them: this writer, or the rules where it had none."""


class EpisodeWriter(Protocol):
    """Tells a sitting of talk as an episode; never called inside a transaction."""

    name: str

    def write(self, sitting: Sitting) -> WrittenEpisode | None:
        """The episode, and who wrote it: this writer, or the rules; None of what tells nothing."""


class InsightWriter(Protocol):
    """Says what the evidence of a person's talk shows about them; not called in a transaction."""

    name: str

    def write(self, evidence: Evidence) -> list[WrittenInsight]:
        """At most three, each with what it rests on; none where nothing shows."""


class Embedder(Protocol):
    """Turns texts into unit vectors; never called inside a transaction.

    Above `opposition_similarity` two texts may speak of the same thing, so that a judge should
    read them (seed 000: 0.7, for a transformer's vectors).
    """

    @property
    def name(self) -> str:
        """The name of the model of a vector, as stored beside it."""

    @property
    def dimensions(self) -> int:
        """The size of a vector; 0 while a remote model has not told its own yet."""

    @property
    def opposition_similarity(self) -> float:
        """The cosine above which a judge reads two texts."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions)."""
