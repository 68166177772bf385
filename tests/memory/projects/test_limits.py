"""A project keeps its `max_items`: what is least important, then oldest, is archived."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from celery import current_app
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.models import Memory
from memory.tasks import keep_project_to_limit
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import pin_memory
from memory.writing.decisions.clearing import keep_all_to_limits, keep_to_limit
from memory.writing.stating import StatedMemory, remember
from teams.models import Project
from tests.support.cast import Cast, Clients
from tests.support.memories_api import post, shown

START = datetime(2026, 1, 1, tzinfo=UTC)


def filled(
    viewer: Viewer, tools: Tools, *importance: int, max_items: int, slug: str = "apollo"
) -> Project:
    """A project with memories of these importances, one a day, and its limit."""
    remember(
        viewer=viewer,
        stated=[
            StatedMemory(
                content=f"Note {slug} {number}.",
                project=slug,
                importance=each,
                created_at=START + timedelta(days=number),
                check=False,
            )
            for number, each in enumerate(importance)
        ],
        tools=tools,
        now=START,
    )
    Project.objects.filter(slug=slug).update(max_items=max_items)
    return Project.objects.get(slug=slug)


def live(project: Project) -> list[str]:
    """Returns the live memories of the project, in the order they came."""
    rows = Memory.objects.filter(project=project).live().order_by("created_at")
    return list(rows.values_list("content", flat=True))


def limited(project: Project) -> int:
    """Returns the number of memories that one run of the service archives."""
    return keep_to_limit(team_id=project.team_id, project_id=project.pk)


def test_the_bottom_tenth_goes_by_importance_then_age(
    viewer: Viewer, acme: Cast, tools: Tools
) -> None:
    importance = [8, 3, 9, 3, 3, *[8] * 15]
    project = filled(viewer, tools, *importance, max_items=19)

    assert limited(project) == 2
    assert limited(project) == 0

    gone = {"Note apollo 1.", "Note apollo 3."}
    assert set(live(project)) == {f"Note apollo {n}." for n in range(20)} - gone
    archived = Memory.objects.filter(project=project, status="archived")
    assert {(row.content, row.tier) for row in archived} == {(each, "cold") for each in gone}
    rows = MemoryLog.objects.filter(memory_id__in=archived.values("pk"), event="archived")
    assert {row.actor for row in rows} == {"task:project_limit"}
    assert {row.reason for row in rows} == {
        "the project 'apollo' had 20 memories, more than 19: its least important tenth is archived"
    }


def test_what_is_pinned_or_within_the_limit_stays(viewer: Viewer, acme: Cast, tools: Tools) -> None:
    project = filled(viewer, tools, *[1] * 5, max_items=5)
    assert limited(project) == 0

    for memory in Memory.objects.filter(project=project):
        pin_memory(viewer=viewer, memory_id=memory.pk, pinned=True)
    Project.objects.filter(pk=project.pk).update(max_items=2)

    assert limited(project) == 0
    assert len(live(project)) == 5


def test_tenths_go_until_the_limit_is_kept_and_other_projects_keep_theirs(
    viewer: Viewer, acme: Cast, tools: Tools
) -> None:
    other = filled(viewer, tools, *[1] * 12, max_items=12, slug="zeus")
    project = filled(viewer, tools, *[5] * 30, max_items=20)

    limited(project)

    assert 18 <= len(live(project)) <= 20
    assert len(live(other)) == 12


def test_the_archive_is_found_when_asked_for(
    viewer: Viewer, acme: Cast, tools: Tools, api: APIClient
) -> None:
    project = filled(viewer, tools, 1, 8, 8, max_items=2)
    limited(project)

    def found(**more: object) -> list[str]:
        answer = post(
            api, "retrieve", agent="kyra", project="apollo", query="Note apollo 0", **more
        )
        return [each["content"] for each in answer.json()["memories"]]

    assert "Note apollo 0." not in found(include_cold=False)
    assert "Note apollo 0." in found(include_cold=True)


def test_a_sweep_finds_what_no_task_did(viewer: Viewer, acme: Cast, tools: Tools) -> None:
    project = filled(viewer, tools, *[4] * 11, max_items=10)

    assert keep_all_to_limits() == 1
    assert keep_all_to_limits() == 0
    assert len(live(project)) == 10


def test_the_task_runs_twice_and_for_a_project_that_is_gone(
    viewer: Viewer, acme: Cast, tools: Tools
) -> None:
    project = filled(viewer, tools, *[4] * 11, max_items=10)
    for _ in range(2):
        keep_project_to_limit(str(project.team_id), str(project.pk))
    keep_project_to_limit(str(project.team_id), str(acme.team.pk))

    assert len(live(project)) == 10


def test_a_write_to_a_project_asks_for_one_task(
    viewer: Viewer,
    acme: Cast,
    tools: Tools,
    django_capture_on_commit_callbacks: pytest.FixtureRequest,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        filled(viewer, tools, 5, 5, max_items=10)
        filled(viewer, tools, 6, max_items=10)
        remember(
            viewer=viewer, stated=[StatedMemory(content="Of no project.")], tools=tools, now=START
        )

    queue = current_app.conf.task_default_queue
    prefix = current_app.conf.broker_transport_options["global_keyprefix"]
    waiting = get_redis_connection("default").lrange(f"{prefix}{queue}", 0, -1)
    named = [each for each in waiting if b"keep_project_to_limit" in each]
    assert len(named) == 1


def test_the_limit_is_a_setting_of_the_project(
    api: APIClient, acme: Cast, client_of: Clients
) -> None:
    post(api, "memories", content="The port is 5433.", project="apollo")
    assert api.get("/v1/projects/apollo").json()["max_items"] == 1000

    changed = api.patch("/v1/projects/apollo", {"max_items": 50}, format="json")
    refused = [
        api.patch("/v1/projects/apollo", {"max_items": each}, format="json")
        for each in (0, "many", 10**9)
    ]
    agents = client_of(acme, acme.kyra).patch(
        "/v1/projects/apollo", {"max_items": 5}, format="json"
    )

    assert (changed.status_code, changed.json()["max_items"]) == (200, 50)
    assert [(each.status_code, list(each.json()["errors"])) for each in refused] == [
        (422, ["max_items"])
    ] * 3
    assert agents.status_code == 403
    assert api.patch("/v1/projects/none", {"max_items": 5}, format="json").status_code == 404
    assert api.get("/v1/projects").json()["results"][0]["max_items"] == 50


def test_another_teams_project_is_as_none(
    api: APIClient, acme: Cast, globex: Cast, client_of: Clients
) -> None:
    memory = post(api, "memories", content="The port is 5433.", project="apollo").json()["id"]
    stranger = client_of(globex)

    assert stranger.get("/v1/projects/apollo").status_code == 404
    assert stranger.patch("/v1/projects/apollo", {"max_items": 1}, format="json").status_code == 404
    assert post(stranger, "projects/apollo/clear", name="apollo").status_code == 404
    assert post(stranger, f"memories/{memory}/promote").status_code == 404
    assert shown(api, memory)["status"] == "active"
