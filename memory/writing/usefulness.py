"""Reports of memories that were of use in some work, for the satellites that learn from them."""

from __future__ import annotations

from typing import Protocol

from memory.domain.work import Work
from memory.models import Memory


class Listener(Protocol):
    """Learns that a memory was of use; called in the transaction of the report and its scope."""

    def __call__(self, *, memory: Memory, work: Work) -> None: ...


LISTENERS: list[Listener] = []


def note_useful(*, memory: Memory, work: Work) -> None:
    """Tells every listener that the memory was of use in the work."""
    for listener in LISTENERS:
        listener(memory=memory, work=work)
