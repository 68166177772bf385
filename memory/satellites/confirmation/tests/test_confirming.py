"""People confirm and reject what a tool or a web page alone says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.types import Source, Status
from memory.models import Contradiction, Memory
from memory.satellites.confirmation.deciding import confirm, reject, snooze, undo
from memory.satellites.confirmation.models import Confirmation
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import pin_memory
from memory.writing.decisions.undoing import ChangedSinceError
from teams.errors import ConflictError, ForbiddenError
from tests.support.cast import Cast
from tests.support.judges import NumbersJudge
from tests.support.writing import OLD_LIMIT, OTHER_LIMIT, draft, write


@pytest.fixture
def judged(tools: Tools) -> Tools:
    return replace(tools, judge=NumbersJudge())


@pytest.fixture
def page(acme: Cast, judged: Tools) -> Memory:
    """The text of a page."""
    (result,) = write(acme, judged, draft(acme, OTHER_LIMIT, source=Source.WEB))
    return result.memory


@pytest.fixture
def ada(acme: Cast) -> Viewer:
    return Viewer(team_id=acme.team.id, actor="staff:ada")


def test_a_confirmed_memory_is_a_persons_and_may_be_pinned(
    ada: Viewer, judged: Tools, page: Memory
) -> None:
    memory = confirm(viewer=ada, memory_id=page.pk, tools=judged, now=timezone.now(), note="seen")

    assert (memory.source, memory.is_unconfirmed) == ("person", False)
    assert pin_memory(viewer=ada, memory_id=page.pk, pinned=True).is_pinned
    entry = MemoryLog.objects.filter(memory_id=page.pk, state__source="person").earliest("seq")
    assert (entry.actor, entry.reason) == ("staff:ada", "confirmed: seen")


def test_a_confirmed_memory_meets_the_others_as_a_new_one_would(
    acme: Cast, ada: Viewer, judged: Tools, page: Memory
) -> None:
    (known,) = write(acme, judged, draft(acme, OLD_LIMIT, source=Source.PERSON))
    assert not Contradiction.objects.exists()

    confirm(viewer=ada, memory_id=page.pk, tools=judged, now=timezone.now())

    known.memory.refresh_from_db()
    assert known.memory.status == Status.DISPUTED
    undo(viewer=ada, memory_id=page.pk)
    known.memory.refresh_from_db()
    page.refresh_from_db()
    assert (known.memory.status, page.status, page.source) == ("active", "active", "web")
    assert not Contradiction.objects.filter(resolved_at=None).exists()


def test_a_rejected_memory_is_deleted_and_comes_back_unconfirmed(ada: Viewer, page: Memory) -> None:
    assert reject(viewer=ada, memory_id=page.pk, now=timezone.now()).status == "soft_deleted"

    memory = undo(viewer=ada, memory_id=page.pk)

    assert (memory.status, memory.source) == ("active", "web")
    assert Confirmation.objects.get().decision == ""


def test_no_agent_decides(acme: Cast, judged: Tools, page: Memory) -> None:
    kyra = Viewer(team_id=acme.team.id, actor="key:kyra", agent_id=acme.kyra.pk)

    with pytest.raises(ForbiddenError):
        confirm(viewer=kyra, memory_id=page.pk, tools=judged, now=timezone.now())
    with pytest.raises(ForbiddenError):
        reject(viewer=kyra, memory_id=page.pk, now=timezone.now())


def test_a_confirmation_that_a_pin_rests_on_is_not_undone(
    ada: Viewer, judged: Tools, page: Memory
) -> None:
    confirm(viewer=ada, memory_id=page.pk, tools=judged, now=timezone.now())
    pin_memory(viewer=ada, memory_id=page.pk, pinned=True)

    with pytest.raises(ChangedSinceError, match="was pinned"):
        undo(viewer=ada, memory_id=page.pk)


def test_nothing_decided_is_not_undone(ada: Viewer, page: Memory) -> None:
    snooze(viewer=ada, memory_id=page.pk, until=None)

    with pytest.raises(ConflictError, match="no decision"):
        undo(viewer=ada, memory_id=page.pk)


def test_a_key_of_the_team_confirms_by_rest(api: APIClient, page: Memory) -> None:
    path = f"/v1/memories/{page.pk}/confirm"

    answer = api.post(path, {"reason": "the customer said so"}, format="json")

    assert answer.status_code == 200, answer.content
    assert (answer.json()["source"], answer.json()["is_unconfirmed"]) == ("person", False)
    again = api.post(path, {"confirmed": False}, format="json").json()
    assert (again["source"], again["is_unconfirmed"]) == ("web", True)
