"""A workflow is recorded step by step and becomes one memory, however often it is finished."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.satellites.workflows.models import WorkflowRecording
from memory.satellites.workflows.recording import (
    NewWorkflow,
    discard_recording,
    finish_recording,
    record_step,
    start_recording,
)
from memory.understanding.tools import Tools
from teams.errors import ConflictError, NotFoundError, TooLargeError
from tests.support.cast import Cast

NOW = timezone.now()


def begun(viewer: Viewer) -> WorkflowRecording:
    """A recording of two steps."""
    workflow = NewWorkflow("deploy", project="apollo")
    row = start_recording(viewer=viewer, workflow=workflow, now=NOW)
    record_step(viewer=viewer, recording_id=row.pk, name="test", detail="pnpm test")
    record_step(viewer=viewer, recording_id=row.pk, name="prod")
    return row


@pytest.fixture
def kyra(acme: Cast) -> Viewer:
    """Kyra, by a key of her own."""
    return Viewer(team_id=acme.team.id, actor="agent:kyra", agent_id=acme.kyra.pk)


def test_what_was_recorded_becomes_a_memory(kyra: Viewer, tools: Tools) -> None:
    row = begun(kyra)

    result = finish_recording(viewer=kyra, recording_id=row.pk, tools=tools, now=NOW)

    memory = Memory.objects.get()
    assert memory.pk == result.memory.pk
    assert (memory.memory_type, memory.content) == ("procedural", "deploy: test → prod")
    assert memory.payload["details"] == {"test": "pnpm test"}
    for step in (
        lambda: finish_recording(viewer=kyra, recording_id=row.pk, tools=tools, now=NOW),
        lambda: record_step(viewer=kyra, recording_id=row.pk, name="late"),
        lambda: discard_recording(viewer=kyra, recording_id=row.pk, now=NOW),
    ):
        with pytest.raises(ConflictError, match="finished"):
            step()


def test_one_that_was_interrupted_is_completed_and_not_written_twice(
    kyra: Viewer, tools: Tools
) -> None:
    row = begun(kyra)
    first = finish_recording(viewer=kyra, recording_id=row.pk, tools=tools, now=NOW)
    # As a process leaves it that dies between the memory and its note.
    WorkflowRecording.objects.filter(pk=row.pk).update(memory=None)

    again = finish_recording(viewer=kyra, recording_id=row.pk, tools=tools, now=NOW)

    assert again.memory.pk == first.memory.pk
    assert Memory.objects.count() == 1


def test_a_discarded_one_leaves_nothing(kyra: Viewer, tools: Tools) -> None:
    row = begun(kyra)

    assert discard_recording(viewer=kyra, recording_id=row.pk, now=NOW).steps == []

    with pytest.raises(ConflictError, match="discarded"):
        finish_recording(viewer=kyra, recording_id=row.pk, tools=tools, now=NOW)
    assert not Memory.objects.exists()


def test_secrets_are_masked_and_too_much_is_refused(kyra: Viewer) -> None:
    row = begun(kyra)
    kept = record_step(
        viewer=kyra, recording_id=row.pk, name="login", detail="password: hunter2horse"
    )

    assert "hunter2horse" not in str(kept.steps)
    with pytest.raises(TooLargeError):
        record_step(viewer=kyra, recording_id=row.pk, name="long", detail="x" * 40_000)
    row.refresh_from_db()
    assert len(row.steps) == 3


def test_strangers_find_none(kyra: Viewer, acme: Cast, globex: Cast) -> None:
    row = begun(kyra)
    luke = Viewer(team_id=acme.team.id, actor="agent:luke", agent_id=acme.luke.pk)
    stranger = Viewer(team_id=globex.team.id, actor="key:x")

    for viewer, asked in ((luke, row.pk), (stranger, row.pk), (kyra, uuid4())):
        with pytest.raises(NotFoundError):
            record_step(viewer=viewer, recording_id=asked, name="mine")


def test_an_empty_one_cannot_be_finished(kyra: Viewer, tools: Tools) -> None:
    row = start_recording(viewer=kyra, workflow=NewWorkflow("deploy"), now=NOW)

    with pytest.raises(ConflictError, match="no step"):
        finish_recording(viewer=kyra, recording_id=row.pk, tools=tools, now=NOW)
