"""External ids: whose they are, and what becomes of one whose memory goes while another comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.services.deciding.state import delete_memory
from memory.services.writing.drafts import Outcome
from memory.services.writing.explicit import StatedMemory, remember
from teams.errors import ConflictError
from tests.conftest import Cast
from tests.memory.given_vectors import NOON, RandomEmbedder

FACT = "The dam holds."


class InterruptedEmbedder(RandomEmbedder):
    """Somebody else does something between the first look and the write: while it embeds."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._meanwhile()
        return super().embed(texts)


def tell(cast: Cast, tools: Tools, *stated: StatedMemory, is_import: bool = False) -> list[Outcome]:
    """State the memories as the team."""
    viewer = Viewer(team_id=cast.team.id, actor="test")
    results = remember(viewer=viewer, stated=stated, tools=tools, now=NOON, is_import=is_import)
    return [result.outcome for result in results]


def while_deleting(acme: Cast, tools: Tools, memory: Memory) -> Tools:
    """Tools with which a write meets the deletion of that memory half-way."""
    viewer = Viewer(team_id=acme.team.id, actor="another")

    def delete() -> None:
        delete_memory(viewer=viewer, memory_id=memory.pk)

    return replace(tools, embedder=InterruptedEmbedder(delete))


def test_an_id_whose_memory_is_deleted_during_the_write_is_refused(
    acme: Cast, tools: Tools
) -> None:
    tell(acme, tools, StatedMemory(FACT, external_id="e-1"))
    racing = while_deleting(acme, tools, Memory.objects.get())

    with pytest.raises(ConflictError, match=r"was deleted\. Restore that one") as refused:
        tell(
            acme,
            racing,
            StatedMemory("The canal is dry."),
            StatedMemory("The dam leaks.", external_id="e-1"),
        )

    assert refused.value.field == "[1].external_id"
    assert list(Memory.objects.values_list("content", "status")) == [(FACT, "soft_deleted")]


def test_what_is_deleted_during_an_import_stays_deleted(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, StatedMemory(FACT, external_id="e-1"))
    racing = while_deleting(acme, tools, Memory.objects.get())

    outcomes = tell(acme, racing, StatedMemory(FACT, external_id="e-1"), is_import=True)

    assert outcomes == [Outcome.DUPLICATE]
    assert [memory.status for memory in Memory.objects.all()] == ["soft_deleted"]


def test_an_id_of_a_memory_about_somebody_else_is_refused_at_its_place(
    acme: Cast, tools: Tools
) -> None:
    tell(acme, tools, StatedMemory(FACT, user="sarah", external_id="e-1"))

    with pytest.raises(ConflictError, match="about somebody else") as refused:
        tell(
            acme,
            tools,
            StatedMemory("The canal is dry.", user="a-newcomer"),
            StatedMemory(FACT, user="ben", external_id="e-1"),
        )

    assert refused.value.field == "[1].external_id"
    assert Memory.objects.count() == 1
