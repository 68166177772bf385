"""A memory used in some work is predicted when its signals recur, only for those who may see it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.domain.types import Signals, Work
from memory.models import Memory
from memory.satellites.plans.models import SignalUse
from memory.satellites.plans.predicting import note_useful
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients, make_cast
from tests.support.erasure import erase
from tests.support.memories_api import post

NOON = datetime(2026, 2, 9, 12, tzinfo=UTC)
WORK = {
    "file_opened": "src/auth/login.ts",
    "error": "SessionExpired: after 30 s",
    "time": "2026-02-09T09:04:00Z",
    "collaborator": "sarah",
}


def stated(api: APIClient, content: str, **fields: Any) -> str:
    response = post(api, "memories", content=content, **fields)
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def of_use(api: APIClient, memory_id: str, signal: str = "helpful", **work: Any) -> None:
    response = post(api, f"memories/{memory_id}/feedback", signal=signal, work=work or WORK)
    assert response.status_code == 200, response.content


def predicted(api: APIClient, **signals: Any) -> dict[str, Any]:
    response = post(api, "context/predict", agent="kyra", **signals)
    assert response.status_code == 200, response.content
    return {each["id"]: each for each in response.json()["predicted_memories"]}


@pytest.mark.parametrize(
    "signals",
    [
        {"file_opened": "src/auth/login.ts"},
        {"file_opened": "lib/login.py"},
        {"file_opened": "src/auth/logout.ts"},
        {"error": "SessionExpired: after 90 s"},
        {"time": "2026-02-16T09:59:00Z"},
        {"collaborator": "sarah"},
    ],
)
def test_what_was_of_use_is_predicted_at_like_signals(
    api: APIClient, acme: Cast, signals: dict[str, str]
) -> None:
    memory_id = stated(api, "Tokens are renewed on the gateway.")
    assert memory_id not in predicted(api, **signals)

    of_use(api, memory_id)

    found = predicted(api, **signals)[memory_id]
    assert 0 < found["prediction_confidence"] < 1
    assert found["why"][0].startswith("was of use at ")
    assert memory_id not in predicted(api, branch="main", time="2026-02-11T20:00:00Z")


def test_the_hour_is_that_of_the_teams_time_zone(api: APIClient, acme: Cast) -> None:
    Team.objects.filter(pk=acme.team.pk).update(time_zone="Europe/Berlin")
    memory_id = stated(api, "The report goes out on Monday mornings.")
    of_use(api, memory_id, time="2026-03-23T08:10:00Z")

    # Nine o'clock in Berlin, before and after the clocks change.
    assert memory_id in predicted(api, time="2026-03-30T03:30:00-04:00")
    assert memory_id not in predicted(api, time="2026-03-30T08:30:00Z")


def test_more_uses_say_more_and_what_was_ignored_nothing(api: APIClient) -> None:
    once = stated(api, "Tokens are renewed on the gateway.")
    twice = stated(api, "The yak paddock has eleven gates.")
    never = stated(api, "Lunch is at noon on Fridays.")
    of_use(api, once)
    of_use(api, twice)
    of_use(api, twice, "cited")
    of_use(api, never, "ignored")

    found = predicted(api, file_opened="src/auth/login.ts")

    assert found[twice]["prediction_confidence"] > found[once]["prediction_confidence"]
    assert never not in found


def test_nobody_learns_of_what_is_not_theirs(
    api: APIClient, acme: Cast, client_of: Clients
) -> None:
    private = stated(api, "Kyra keeps it short.", agent="kyra", memory_type="agent_private")
    elsewhere = stated(api, "The gateway of apollo is slow.", project="apollo")
    of_use(api, private)
    of_use(api, elsewhere)
    stated(api, "Another project.", project="gemini")

    assert private in predicted(api, file_opened="src/auth/login.ts")
    luke = client_of(acme, acme.luke)
    body = {"agent": "luke", "file_opened": "src/auth/login.ts"}
    assert post(luke, "context/predict", **body).json()["predicted_memories"] == []
    assert elsewhere in predicted(api, file_opened="src/auth/login.ts", project="apollo")
    assert elsewhere not in predicted(api, file_opened="src/auth/login.ts", project="gemini")


@pytest.mark.parametrize(
    ("work", "field"),
    [({}, "file_opened"), ({"error": "x" * 100_000}, "error"), ({"file": "a"}, "file")],
)
def test_a_work_that_cannot_be_used_is_refused(
    api: APIClient, work: dict[str, str], field: str
) -> None:
    memory_id = stated(api, "Tokens are renewed on the gateway.")

    response = post(api, f"memories/{memory_id}/feedback", signal="helpful", work=work)

    assert response.status_code == 422
    assert field in str(response.json()["errors"])


def test_a_project_keeps_its_latest_counts(api: APIClient, acme: Cast) -> None:
    memory_id = stated(api, "Tokens are renewed on the gateway.")

    with team_scope(team_ids=[acme.team.pk], actor="test"):
        memory = Memory.objects.get(pk=memory_id)
        for number in range(9):
            work = Work(Signals(branch=f"gate-{number}"), NOON + timedelta(hours=number))
            note_useful(memory=memory, work=work, most=5)
        kept = SignalUse.objects.order_by("noted_at").values_list("signal", flat=True)
        assert list(kept) == [f"branch:gate-{number}" for number in range(4, 9)]


def test_an_erasure_forgets_them(committed_db: None, client_of: Clients) -> None:
    town = make_cast("town-of-uses")
    api = client_of(town)
    of_use(api, stated(api, "Sarah likes the gateway.", agent="kyra", user="sarah"))

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.pk], actor="test"):
        assert not SignalUse.objects.exists()
