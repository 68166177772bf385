"""Predictions from open files, branches and errors: bounded, and only of what is visible."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.models import Memory, MemoryArtifact
from memory.reading.cache import prefetched
from memory.satellites.plans.prediction_models import file_name
from teams.models import Agent, EndUser, Team
from tests.support.cast import Cast, Clients
from tests.support.memories_api import post


def change(api: APIClient, title: str, *files: dict[str, Any], **fields: Any) -> str:
    """The id of an episode that changed these files."""
    artifacts = [{"kind": "file", **each} for each in files]
    response = post(
        api,
        "memories",
        form="episode",
        payload={"title": title, "artifacts": artifacts},
        check=False,
        **fields,
    )
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def predicted(api: APIClient, **signals: Any) -> Any:
    """The answer to good signals."""
    response = post(api, "context/predict", **{"agent": "kyra", **signals})
    assert response.status_code == 200, response.content
    return response.json()


def ids(answer: Any) -> list[str]:
    """Returns the ids of the predicted memories, likeliest first."""
    return [each["id"] for each in answer["predicted_memories"]]


def test_the_change_whose_lines_are_left_comes_before_the_one_that_was_rewritten(
    api: APIClient,
) -> None:
    written = change(api, "Write the client", {"ref": "src/client.py", "added": 300, "removed": 0})
    rewritten = change(
        api, "Rewrite the client", {"ref": "src/client.py", "added": 300, "removed": 300}
    )
    change(api, "Fix a typo", {"ref": "src/client.py", "added": 1, "removed": 1})

    answer = predicted(api, file_opened="src/client.py")

    found = ids(answer)
    assert found.index(rewritten) < found.index(written)
    first = answer["predicted_memories"][0]
    assert first["why"] == ["changed src/client.py"]
    assert 0 < first["prediction_confidence"] <= answer["confidence"] <= 1


def test_a_file_that_moved_keeps_its_changes(api: APIClient) -> None:
    made = change(api, "Write the client", {"ref": "lib/Client.py", "added": 30, "removed": 0})

    assert ids(predicted(api, file_opened="lib/core/__client.py", limit=1)) == [made]
    with_name = MemoryArtifact.objects.get(memory_id=made)
    assert with_name.name == file_name("lib/Client.py")


def test_files_that_changed_together_are_near(api: APIClient) -> None:
    change(api, "Add retries", {"ref": "src/client.py"}, {"ref": "tests/test_client.py"})
    tested = change(api, "Test timeouts", {"ref": "tests/test_client.py", "added": 40})
    for number in range(3):
        change(api, f"Repaint page {number}", {"ref": f"web/page{number}.css"})

    answer = predicted(api, file_opened="src/client.py")

    assert ids(answer)[1] == tested
    why = answer["predicted_memories"][1]["why"]
    assert why == ["changed tests/test_client.py, near the open files"]


def test_files_that_the_open_one_imports_are_near(api: APIClient) -> None:
    pool = change(api, "Size the pool", {"ref": "src/net/pool.py", "added": 40})
    for number in range(3):
        change(api, f"Repaint page {number}", {"ref": f"web/page{number}.css"})
    text = "from net import pool\n"

    assert ids(predicted(api, file_opened="src/client.py", file_text=text))[0] == pool
    assert ids(predicted(api, file_opened="src/client.py", file_text=""))[0] != pool
    signals = {"current_file": "src/client.py", "file_text": text, "opened_files": ["web/x.css"]}
    response = post(api, "context/assemble", agent="kyra", signals=signals)
    assert response.status_code == 200
    why = {each["id"]: each["why"] for each in response.json()["memories"]}
    assert why[pool] == "predicted: changed src/net/pool.py, near the open files"


def test_a_collaborator_is_known_by_id_and_by_name(api: APIClient, acme: Cast) -> None:
    EndUser.objects.create(team=acme.team, external_id="u-4711", display_name="Ottoline")
    theirs = change(api, "Move billing to the queue, as Ottoline asked")
    change(api, "Repaint the settings page")

    answer = predicted(api, collaborator="u-4711")

    assert ids(answer) == [theirs]
    assert answer["predicted_memories"][0]["why"] == ["names the collaborator"]


def test_an_error_speaks_by_its_words(api: APIClient) -> None:
    pool = change(api, "Raise the pool size after ConnectionTimeout in checkout")
    change(api, "Repaint the settings page")

    answer = predicted(api, error="ConnectionTimeout: pool exhausted in checkout")

    assert ids(answer)[0] == pool
    assert answer["predicted_memories"][0]["why"] == ["words of the error"]


def test_signals_for_one_memory_add_up(api: APIClient) -> None:
    change(api, "Raise the pool size", {"ref": "src/pool.py", "added": 5, "removed": 0})

    (by_file,) = predicted(api, file_opened="src/pool.py")["predicted_memories"]
    (by_both,) = predicted(api, file_opened="src/pool.py", branch="fix/pool-size")[
        "predicted_memories"
    ]

    assert by_both["prediction_confidence"] > by_file["prediction_confidence"]
    assert by_both["why"] == ["changed src/pool.py", "words of the branch"]


def test_what_is_deleted_or_of_another_team_is_not_predicted(
    api: APIClient, globex: Cast, client_of: Clients
) -> None:
    change(client_of(globex), "Theirs", {"ref": "src/pool.py", "added": 5, "removed": 0})
    gone = change(api, "Ours", {"ref": "src/pool.py", "added": 5, "removed": 0})
    assert api.delete(f"/v1/memories/{gone}").status_code in (200, 204)

    assert ids(predicted(api, file_opened="src/pool.py")) == []


def test_what_is_of_another_person_is_not_predicted(api: APIClient) -> None:
    file = {"ref": "src/pool.py", "added": 5, "removed": 0}
    change(api, "Ben's", file, user="ben", agent="kyra")
    of_sarah = change(api, "Sarah's", file, user="sarah", agent="kyra")

    assert ids(predicted(api, file_opened="src/pool.py", user="sarah")) == [of_sarah]


def test_changes_of_a_busy_project_take_no_places_of_another_one(api: APIClient) -> None:
    def file(path: str) -> dict[str, Any]:
        return {"ref": path, "added": 5, "removed": 0}

    atlas = [
        change(api, "Raise the pool size", file("src/pool.py"), project="atlas"),
        change(api, "Repaint the settings page", file("src/settings.css"), project="atlas"),
    ]
    parts = [file(f"part{each}/pool.py") for each in range(200)]
    for each in range(11):
        change(api, f"Move part {each}", *parts, project="zeus")

    found = predicted(api, file_opened="src/pool.py", project="atlas")

    assert ids(found) == atlas
    assert [each["why"] for each in found["predicted_memories"]] == [
        ["changed src/pool.py"],
        ["among the latest changes"],
    ]


def test_what_was_predicted_is_found_by_exactly_the_same_viewer(api: APIClient, acme: Cast) -> None:
    made = change(api, "Raise the pool size", {"ref": "src/pool.py", "added": 5, "removed": 0})
    predicted(api, file_opened="src/pool.py")
    kyra = Agent.objects.get(slug="kyra")
    viewer = Viewer(acme.team.id, "test", agent_id=kyra.pk)

    assert [each.memory_id for each in prefetched(viewer=viewer)] == [UUID(made)]
    assert prefetched(viewer=Viewer(acme.team.id, "test")) == ()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"error": "x" * 100_000}, "error"),
        ({"file_opened": "x" * 100_000}, "file_opened"),
        ({"branch": "x" * 100_000}, "branch"),
        ({"opened_files": ["a.py"] * 51}, "opened_files"),
        ({"opened_files": "a.py"}, "opened_files"),
        ({"time": "yesterday"}, "time"),
        ({"file_opened": "a.py", "limit": 0}, "limit"),
        ({"file": "a.py"}, "file"),
        ({}, "file_opened"),
    ],
)
def test_bad_signals_are_refused_by_name(api: APIClient, body: Any, field: str) -> None:
    response = post(api, "context/predict", **{"agent": "kyra", **body})

    assert response.status_code == 422
    assert field in str(response.json()["errors"])


@pytest.mark.parametrize("time", ["9999-12-31T23:30:00Z", "0001-01-01T00:00:00Z"])
def test_the_ends_of_the_calendar_are_times(api: APIClient, acme: Cast, time: str) -> None:
    for zone in ("Europe/Berlin", "America/New_York"):
        Team.objects.filter(pk=acme.team.pk).update(time_zone=zone)

        response = post(api, "context/predict", agent="kyra", time=time, branch="main")

        assert response.status_code == 200, response.content


def test_an_unknown_project_or_agent_is_not_found(api: APIClient) -> None:
    for named in ({"agent": "kyra", "project": "nowhere"}, {"agent": "nobody-yet"}):
        response = post(api, "context/predict", file_opened="a.py", **named)
        assert response.status_code == 404, response.content


@pytest.mark.parametrize("lines", [-1, 10**7, "3", True, 1.5])
def test_lines_of_an_artifact_are_checked(api: APIClient, lines: Any) -> None:
    artifact = {"kind": "file", "ref": "a.py", "added": lines}
    payload = {"title": "A change", "artifacts": [artifact]}

    response = post(api, "memories", form="episode", payload=payload)

    assert response.status_code == 422
    assert not Memory.objects.exists()
