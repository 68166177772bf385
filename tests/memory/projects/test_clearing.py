"""Clearing deletes all of a project or team for who types its name, and nothing is gone."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.types import Scope
from memory.models import Contradiction, Memory
from memory.understanding.tools import Tools
from memory.writing.decisions.clearing import AT_ONCE, clear_project, clear_team
from tests import factories
from tests.support.cast import Cast, Clients
from tests.support.memories_api import OLD_LIMIT, OTHER_LIMIT, post, remember, shown
from tests.support.writing import store


@pytest.fixture
def notes(api: APIClient) -> dict[str, str]:
    """Memories of two projects, a person and the team, by their words."""
    return {
        "first": remember(api, "The port of apollo is 5433.", project="apollo", is_pinned=True),
        "second": remember(api, "Apollo ships on Friday.", project="apollo", user="sarah"),
        "other": remember(api, "Zeus runs on ARM.", project="zeus"),
        "team": remember(api, "The office closes at six."),
        "person": remember(api, "Sarah likes tea.", user="sarah"),
    }


def statuses(api: APIClient, notes: dict[str, str]) -> dict[str, str]:
    """The status of each."""
    return {name: shown(api, each)["status"] for name, each in notes.items()}


def test_a_project_is_cleared_with_history_and_can_come_back(
    api: APIClient, notes: dict[str, str]
) -> None:
    done = post(api, "projects/apollo/clear", name="apollo", reason="it was a trial")

    assert (done.status_code, done.json()) == (200, {"deleted": 2, "left": 0})
    assert statuses(api, notes) == {
        "first": "soft_deleted",
        "second": "soft_deleted",
        "other": "active",
        "team": "active",
        "person": "active",
    }
    first = shown(api, notes["first"])
    assert (first["is_pinned"], first["tier"]) == (False, "cold")
    rows = MemoryLog.objects.filter(memory_id__in=[notes["first"], notes["second"]])
    last = [row for row in rows if row.event != "created"]
    assert {row.reason for row in last} == {"the project 'apollo' was cleared: it was a trial"}
    assert len(last) == 2
    assert post(api, "projects/apollo/clear", name="apollo").json() == {"deleted": 0, "left": 0}
    assert post(api, f"memories/{notes['first']}/restore").status_code == 200


def test_another_name_changes_nothing(
    api: APIClient, notes: dict[str, str], acme: Cast, client_of: Clients
) -> None:
    for body in ({}, {"name": "zeus"}, {"name": "Apollo!"}, {"name": True}):
        answer = post(api, "projects/apollo/clear", **body)
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["name"])
    wrong = post(api, "team/clear", name="globex", scope="team")
    unknown = post(api, "projects/none/clear", name="none")
    kyra = client_of(acme, acme.kyra)
    refused = [
        post(kyra, "projects/apollo/clear", name="apollo"),
        post(kyra, "team/clear", name=acme.team.name, scope="team"),
    ]

    assert (wrong.status_code, list(wrong.json()["errors"])) == (422, ["name"])
    assert unknown.status_code == 404
    assert [each.status_code for each in refused] == [403, 403]
    assert set(statuses(api, notes).values()) == {"active"}


@pytest.mark.parametrize(
    ("scope", "gone"), [("team", {"team"}), ("project", {"first", "second", "other"})]
)
def test_a_team_is_cleared_of_one_scope(
    api: APIClient, notes: dict[str, str], acme: Cast, scope: str, gone: set[str]
) -> None:
    done = post(api, "team/clear", name=acme.team.name, scope=scope)

    assert (done.status_code, done.json()["deleted"]) == (200, len(gone))
    found = statuses(api, notes)
    assert {name for name, status in found.items() if status == "soft_deleted"} == gone


def test_disputes_with_what_is_cleared_end(api: APIClient) -> None:
    one = remember(api, OLD_LIMIT, project="apollo")
    two = remember(api, OTHER_LIMIT, project="apollo")
    assert Contradiction.objects.filter(resolved_at=None).count() == 1

    post(api, "projects/apollo/clear", name="apollo")

    assert {shown(api, each)["status"] for each in (one, two)} == {"soft_deleted"}
    assert not Contradiction.objects.filter(resolved_at=None).exists()


def test_what_takes_long_is_done_in_steps(acme: Cast, tools: Tools, viewer: Viewer) -> None:
    project = factories.ProjectFactory.create(team=acme.team, slug="apollo")
    texts = [f"Apollo has a part {number}." for number in range(AT_ONCE + 2)]
    store(acme, tools, *texts, project_id=project.pk)

    first = clear_project(viewer=viewer, slug="apollo", typed="apollo", seconds=-1)
    rest = clear_team(viewer=viewer, scope=Scope.PROJECT, typed="acme")

    assert (first.deleted, first.left) == (AT_ONCE, 2)
    assert (rest.deleted, rest.left) == (2, 0)
    assert Memory.objects.filter(status="soft_deleted").count() == len(texts)


def test_one_call_goes_on_until_all_is_cleared(acme: Cast, tools: Tools, viewer: Viewer) -> None:
    texts = [f"The office has a room {number}." for number in range(AT_ONCE + 2)]
    store(acme, tools, *texts)

    cleared = clear_team(viewer=viewer, scope=Scope.TEAM, typed="acme")

    assert (cleared.deleted, cleared.left) == (len(texts), 0)
