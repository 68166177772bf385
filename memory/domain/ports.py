"""What the memory services need from the outside; rules and model-backed versions fit behind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .types import Candidate, Judgement, Participants, SourceMessage, Statement


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
        ...

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Pass 2: only what pass 1 missed, found another way, with `extraction_pass` 2."""
        ...


class Judge(Protocol):
    """Decides how a new statement stands to an existing one."""

    name: str

    def judge(self, *, existing: Statement, new: Statement) -> Judgement:
        """The verdict on the pair; `new` is the one that arrives."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors.

    `opposition_similarity` is the cosine above which two texts may speak of the same thing, so
    that a judge should read them (seed 000: 0.7, for a transformer's vectors).
    """

    name: str
    dimensions: int
    opposition_similarity: float

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimensions)."""
        ...
