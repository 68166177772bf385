"""External ids: whose they are, and what becomes of one whose memory goes while another comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType
from memory.models import ExternalName, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import correct_memory, delete_memory
from memory.writing.drafts import Outcome
from memory.writing.repetitions import DraftRefusedError
from memory.writing.stating import StatedMemory, remember
from teams.errors import ConflictError
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.support.embedders import RandomEmbedder
from tests.support.judges import Repeating
from tests.support.waiting import race
from tests.support.writing import NOON, draft, write

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
            StatedMemory(FACT, external_id="e-1"),
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


@pytest.mark.parametrize("check", [True, False])
def test_two_texts_of_one_id_in_a_batch_are_refused(acme: Cast, tools: Tools, check: bool) -> None:
    with pytest.raises(DraftRefusedError, match="two texts at once") as refused:
        write(
            acme,
            tools,
            draft(acme, "One.", external_id="e", check=check),
            draft(acme, "Two.", external_id="e", check=check),
        )

    assert refused.value.index == 1
    assert not Memory.objects.exists()


def test_an_import_again_keeps_what_is_stored_under_its_id(acme: Cast, tools: Tools) -> None:
    tell(acme, tools, StatedMemory(FACT, external_id="e-1"))

    outcomes = tell(acme, tools, StatedMemory("The dam leaks.", external_id="e-1"), is_import=True)

    assert outcomes == [Outcome.DUPLICATE]
    assert Memory.objects.get().content == FACT


def test_eight_texts_of_one_id_at_once_are_one_memory_and_seven_refusals(
    committed_db: None, tools: Tools
) -> None:
    town = make_cast(f"town-{uuid4().hex}")

    def act(number: int) -> str:
        given = draft(town, f"Said by {number}.", external_id="e", check=number % 2 == 0)
        try:
            return write(town, tools, given)[0].memory.content
        except DraftRefusedError:
            return ""

    results = race(8, act)

    assert sorted(results)[:7] == [""] * 7
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.get().content == max(results)


def test_an_id_under_which_a_fact_was_sent_again_is_deleted_with_it(
    acme: Cast, tools: Tools
) -> None:
    tell(acme, tools, StatedMemory(FACT, external_id="e-1"))
    again = tell(acme, tools, StatedMemory(FACT, external_id="e-2"))
    delete_memory(viewer=Viewer(team_id=acme.team.id, actor="test"), memory_id=_only().pk)

    for name in ("e-1", "e-2"):
        with pytest.raises(ConflictError, match=r"was deleted\. Restore that one"):
            tell(acme, tools, StatedMemory(FACT, external_id=name))
    imported = tell(acme, tools, StatedMemory(FACT, external_id="e-2"), is_import=True)

    assert (again, imported) == ([Outcome.DUPLICATE], [Outcome.DUPLICATE])
    assert _only().status == "soft_deleted"


@pytest.mark.parametrize("first_name", ["e-1", None])
def test_an_id_under_which_a_fact_was_sent_again_follows_its_correction(
    acme: Cast, tools: Tools, first_name: str | None
) -> None:
    tell(acme, tools, StatedMemory(FACT, external_id=first_name))
    tell(acme, tools, StatedMemory("the dam HOLDS", external_id="e-2"))
    fixed = correct_memory(
        viewer=Viewer(team_id=acme.team.id, actor="test"),
        memory_id=_only().pk,
        corrected_content="The dam leaks.",
        reason="",
        tools=tools,
        now=NOON,
    ).memory

    given = draft(acme, FACT, external_id="e-2")
    (result,) = write(acme, tools, given)
    with pytest.raises(DraftRefusedError, match="something else"):
        write(acme, tools, draft(acme, "The dam is blue.", external_id="e-2"))

    assert (result.outcome, result.memory.pk) == (Outcome.DUPLICATE, fixed.pk)
    assert [memory.status for memory in Memory.objects.order_by("id")] == ["superseded", "active"]


def test_an_id_of_an_equal_meaning_stands_for_the_words_it_was_sent_with(
    acme: Cast, tools: Tools
) -> None:
    """The judge calls it a repetition, so that its own words are stored nowhere."""
    told, other = "Dmitri owns the billing service.", "Dmitri owns a billing service."
    write(acme, tools, draft(acme, told))
    sure = replace(tools, judge=Repeating(0.95))
    first, again, third = (
        write(acme, sure, draft(acme, text, external_id="e-2"))[0] for text in (other, other, told)
    )

    assert {each.outcome for each in (first, again, third)} == {Outcome.DUPLICATE}
    assert {each.memory.content for each in (first, again, third)} == {told}
    assert ExternalName.objects.count() == 1


def test_one_id_of_a_repetition_is_each_agents_own(acme: Cast, tools: Tools) -> None:
    by_kyra = StatedMemory(FACT, MemoryType.SHARED, agent="kyra", external_id="e-2")
    by_luke = replace(by_kyra, agent="luke")
    tell(acme, tools, StatedMemory(FACT, MemoryType.SHARED))
    again = tell(acme, tools, by_kyra)
    delete_memory(viewer=Viewer(team_id=acme.team.id, actor="test"), memory_id=_only().pk)

    assert (again, tell(acme, tools, by_luke)) == ([Outcome.DUPLICATE], [Outcome.CREATED])
    with pytest.raises(ConflictError, match="was deleted"):
        tell(acme, tools, by_kyra)


def test_one_repetition_from_eight_at_once_is_named_once(committed_db: None, tools: Tools) -> None:
    town = make_cast(f"town-{uuid4().hex}")
    write(town, tools, draft(town, FACT, external_id="e-1"))

    results = race(8, lambda _: write(town, tools, draft(town, FACT, external_id="e-2"))[0])

    assert {each.outcome for each in results} == {Outcome.DUPLICATE}
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.get().external_id == "e-1"
        assert ExternalName.objects.get().external_id == "e-2"


def _only() -> Memory:
    return Memory.objects.get()
