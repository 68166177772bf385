"""Sources of candidates besides the search, which satellites add."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol
from uuid import UUID

from memory.domain.retrieval.question import Asked
from memory.domain.viewer import Viewer


class Source(Protocol):
    """Proposes memories that the viewer may see for a question; called in the team's scope."""

    def __call__(self, *, viewer: Viewer, asked: Asked) -> Iterable[UUID]: ...


SOURCES: list[Source] = []


def further_candidates(*, viewer: Viewer, asked: Asked) -> list[UUID]:
    """Returns the candidates of every source."""
    return [found for source in SOURCES for found in source(viewer=viewer, asked=asked)]
