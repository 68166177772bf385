"""The team's memory at any moment, over HTTP, on the command line, and brought back."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line
from rest_framework.test import APIClient

from audit.models import MemoryLog
from audit.selectors import instant_at
from memory.models import Memory
from teams.models import Agent
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast

STATE = "/v1/audit/state"


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team: only what is committed has a place in time."""
    return make_cast(f"town-{uuid4().hex}")


@pytest.fixture
def api(town: Cast, client_of: Callable[..., APIClient]) -> APIClient:
    """A client of the whole team."""
    return client_of(town)


def told(api: APIClient, content: str, **values: Any) -> str:
    """Store a memory; its id."""
    body = {"content": content, "check": False, **values}
    response = api.post("/v1/memories", body, format="json")
    assert response.status_code == 201, response.json()
    return str(response.json()["id"])


def moment(town: Cast) -> str:
    """Now, as the server has it."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        return instant_at(team_id=town.team.id, at=None).at.isoformat().replace("+00:00", "Z")


def listed(api: APIClient, path: str, **params: Any) -> list[dict[str, Any]]:
    """Every result of a list, page by page."""
    response = api.get(path, params)
    found: list[dict[str, Any]] = []
    while True:
        assert response.status_code == 200, response.json()
        page = response.json()
        found += page["results"]
        if not page["next"]:
            return found
        response = api.get(page["next"])


def without_usage(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Memories without their counters, which are no part of the past."""
    return [{name: row[name] for name in row if name != "usage"} for row in rows]


FILTERS: list[dict[str, Any]] = [
    {},
    {"status": "all"},
    {"status": "soft_deleted"},
    {"user": "sarah"},
    {"user": "nobody"},
    {"agent": "kyra"},
    {"tag": "a"},
    {"tag": "a,b"},
    {"is_pinned": "true"},
    {"min_importance": 7, "max_importance": 9},
    {"memory_type": "semantic,identity"},
    {"subject": "user."},
    {"limit": 2},
]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_it_shows_what_a_list_showed_then(
    town: Cast, api: APIClient, filters: dict[str, Any]
) -> None:
    ids = [
        told(api, "One.", user="sarah", tags=["a", "b"], importance=7),
        told(api, "Two.", user="dmitri", tags=["a"], subject="user.home"),
        told(api, "Three.", agent="kyra", memory_type="identity"),
        told(api, "Four.", user="sarah", importance=9, is_pinned=True),
        told(api, "Five."),
    ]
    api.delete(f"/v1/memories/{ids[4]}")
    at, seen = moment(town), listed(api, "/v1/memories", **filters)
    api.post(f"/v1/memories/{ids[0]}/pin", {"pinned": True}, format="json")
    api.delete(f"/v1/memories/{ids[3]}")
    told(api, "Six.", user="sarah", tags=["a", "b"])
    with team_scope(team_ids=[town.team.id], actor="test"):
        Memory.objects.update(
            end_user_id=town.dmitri.pk, tags=["z"], importance=1, subject="", memory_type="shared"
        )

    assert listed(api, STATE, at=at, **filters) == without_usage(seen)


def test_a_memory_that_changed_its_person_is_found_by_the_one_of_then(
    town: Cast, api: APIClient
) -> None:
    memory = told(api, "One.", user="sarah")
    first = moment(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        Memory.objects.update(end_user_id=town.dmitri.pk)
    second = moment(town)

    def about(user: str, at: str) -> list[str]:
        return [row["id"] for row in listed(api, STATE, at=at, user=user)]

    assert (about("sarah", first), about("dmitri", first)) == ([memory], [])
    assert (about("sarah", second), about("dmitri", second)) == ([], [memory])


def test_it_says_how_many_commits_were_done(town: Cast, api: APIClient) -> None:
    told(api, "One.")
    at = moment(town)

    page = api.get(STATE, {"at": at}).json()

    assert (page["at"], page["position"]) == (at, 1)
    assert page["changed_at"] < at
    assert list(page["results"][0]) == [
        name for name in api.get("/v1/memories").json()["results"][0] if name != "usage"
    ]


def test_to_an_agents_key_it_counts_what_the_agent_sees_alone(
    town: Cast, api: APIClient, client_of: Callable[..., APIClient]
) -> None:
    def counted(agent: Agent) -> tuple[int, str | None, int]:
        page = client_of(town, agent).get(STATE, {"at": at, "status": "all"}).json()
        return page["position"], page["changed_at"], len(page["results"])

    lukes = {"agent": "luke", "memory_type": "agent_private"}
    shared = told(api, "One.")
    told(api, "Two.", **lukes)
    api.post(f"/v1/memories/{shared}/pin", {"pinned": True}, format="json")
    told(api, "Three.", **lukes)
    at = moment(town)
    told(api, "Four.")

    whole = api.get(STATE, {"at": at}).json()
    kyra, luke = counted(town.kyra), counted(town.luke)

    assert whole["position"] == 4
    assert (kyra[0], kyra[2]) == (2, 1)
    assert (luke[0], luke[2]) == (4, 3)
    assert luke[1] == whole["changed_at"]
    assert kyra[1] is not None
    assert kyra[1] < whole["changed_at"]


def test_before_the_first_memory_nothing_was_known(town: Cast, api: APIClient) -> None:
    told(api, "One.")

    page = api.get(STATE, {"at": "2020-01-01T00:00:00Z"}).json()

    assert (page["position"], page["changed_at"], page["results"]) == (0, None, [])


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "at"),
        ({"at": ""}, "at"),
        ({"at": "yesterday"}, "at"),
        ({"at": "2026-11-01T12:00:00"}, "at"),
        ({"at": "9999-01-01T00:00:00Z"}, "at"),
        ({"at": "2026-01-02T00:00:00Z", "diff_to": "2026-01-01T00:00:00Z"}, "diff_to"),
        ({"at": "2026-01-02T00:00:00Z", "diff_to": "9999-01-01T00:00:00Z"}, "diff_to"),
        ({"at": "2026-01-02T00:00:00Z", "cursor": "x"}, "cursor"),
        (
            {"at": "2026-01-02T00:00:00Z", "diff_to": "2026-01-03T00:00:00Z", "cursor": "x"},
            "cursor",
        ),
        ({"at": "2026-01-02T00:00:00Z", "status": "gone"}, "status"),
        ({"at": "2026-01-02T00:00:00Z", "since": "1"}, "since"),
    ],
    ids=str,
)
def test_a_question_that_cannot_be_meant_is_refused(
    api: APIClient, params: dict[str, str], field: str
) -> None:
    response = api.get(STATE, params)

    assert response.status_code == 422
    assert response["Content-Type"] == "application/problem+json"
    assert any(name.startswith(field) for name in response.json()["errors"])


def test_an_agent_sees_only_what_it_could_see_then(
    town: Cast, api: APIClient, client_of: Callable[..., APIClient]
) -> None:
    own = told(api, "Kyra's.", agent="kyra", memory_type="agent_private")
    told(api, "Luke's.", agent="luke", memory_type="agent_private")
    shared = told(api, "All's.", memory_type="shared")
    at = moment(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        Memory.objects.update(memory_type="shared")

    rows = listed(client_of(town, town.kyra), STATE, at=at)
    refused = client_of(town, town.kyra).get(STATE, {"at": at, "agent": "luke"})

    assert [row["id"] for row in rows] == [shared, own]
    assert refused.status_code == 403


def test_another_team_sees_nothing_of_it(
    town: Cast, api: APIClient, client_of: Callable[..., APIClient]
) -> None:
    told(api, "One.")
    stranger = client_of(make_cast(f"other-{uuid4().hex}"))

    assert listed(stranger, STATE, at=moment(town), status="all") == []
    assert (
        listed(stranger, STATE, at="2020-01-01T00:00:00Z", diff_to=moment(town), status="all") == []
    )


def test_changes_between_two_moments(town: Cast, api: APIClient) -> None:
    kept = told(api, "Kept.")
    pinned = told(api, "Pinned.")
    deleted = told(api, "Deleted.")
    returned = told(api, "Returned.")
    api.delete(f"/v1/memories/{returned}")
    start = moment(town)
    api.post(f"/v1/memories/{pinned}/pin", {"pinned": True}, format="json")
    api.delete(f"/v1/memories/{deleted}")
    assert api.post(f"/v1/memories/{returned}/restore").status_code == 200
    fresh = told(api, "Fresh.")
    fleeting = told(api, "Fleeting.")
    api.delete(f"/v1/memories/{fleeting}")
    end = moment(town)
    told(api, "Later.")
    api.delete(f"/v1/memories/{kept}")

    found = {row["id"]: row for row in listed(api, STATE, at=start, diff_to=end, limit=1)}

    assert {each: found[each]["change"] for each in found} == {
        fresh: "created",
        returned: "appeared",
        deleted: "gone",
        pinned: "changed",
    }
    assert found[pinned]["fields"] == {
        "is_pinned": {"from": False, "to": True},
        "tier": {"from": "warm", "to": "hot"},
    }
    assert found[deleted]["fields"]["status"] == {"from": "active", "to": "soft_deleted"}
    assert found[fresh]["fields"] == {}
    assert found[fresh]["memory"]["content"] == "Fresh."


def test_what_changed_and_changed_back_did_not_change(town: Cast, api: APIClient) -> None:
    memory = told(api, "One.")
    start = moment(town)
    for pinned in (True, False):
        api.post(f"/v1/memories/{memory}/pin", {"pinned": pinned}, format="json")

    assert listed(api, STATE, at=start, diff_to=moment(town)) == []


# -- bringing back ---------------------------------------------------------------------------


def test_a_deleted_memory_is_brought_back(town: Cast, api: APIClient) -> None:
    memory = told(api, "One.", importance=9)
    before = api.get(f"/v1/memories/{memory}").json()
    api.delete(f"/v1/memories/{memory}")

    response = api.post(f"/v1/memories/{memory}/restore")

    assert response.status_code == 200
    after = response.json()
    assert {name for name in after if after[name] != before[name]} == {"updated_at"}
    assert [row["id"] for row in listed(api, "/v1/memories")] == [memory]
    with team_scope(team_ids=[town.team.id], actor="test"):
        events = MemoryLog.objects.order_by("seq").values_list("event", flat=True)
        assert list(events) == ["created", "soft_deleted", "restored"]


def test_bringing_back_what_is_there_changes_nothing(town: Cast, api: APIClient) -> None:
    memory = told(api, "One.")

    assert api.post(f"/v1/memories/{memory}/restore").status_code == 200
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert MemoryLog.objects.count() == 1


def test_a_fact_that_stands_again_is_not_doubled(api: APIClient) -> None:
    first = told(api, "Sarah lives in Rome.", check=True)
    api.delete(f"/v1/memories/{first}")
    second = told(api, "Sarah lives in  Rome.", check=True)

    response = api.post(f"/v1/memories/{first}/restore")

    assert response.status_code == 409
    assert second in response.json()["detail"]
    assert api.get(f"/v1/memories/{first}").json()["status"] == "soft_deleted"


def test_an_old_version_is_not_made_current(api: APIClient) -> None:
    old = told(api, "Sarah lives in Rome.", check=True)
    new = api.post(
        f"/v1/memories/{old}/correct",
        {"corrected_content": "Sarah lives in Oslo."},
        format="json",
    ).json()["id"]

    refused = api.post(f"/v1/memories/{old}/restore")
    api.delete(f"/v1/memories/{old}")
    back = api.post(f"/v1/memories/{old}/restore")

    assert refused.status_code == 409
    assert new in refused.json()["detail"]
    assert (back.status_code, back.json()["status"]) == (200, "superseded")


def test_what_cannot_be_seen_cannot_be_brought_back(
    town: Cast, api: APIClient, client_of: Callable[..., APIClient]
) -> None:
    memory = told(api, "Kyra's.", agent="kyra", memory_type="agent_private")
    api.delete(f"/v1/memories/{memory}")

    for client in (client_of(town, town.luke), client_of(make_cast(f"other-{uuid4().hex}"))):
        assert client.post(f"/v1/memories/{memory}/restore").status_code == 404


# -- on the command line ---------------------------------------------------------------------


def ran(*args: str) -> list[str]:
    """The lines that the command prints."""
    out = StringIO()
    call_command("memory_at", *args, stdout=out)
    return out.getvalue().splitlines()


def test_the_command_prints_the_memories_of_a_moment(town: Cast, api: APIClient) -> None:
    first = told(api, "One\nand a half.", user="sarah")
    at = moment(town)
    told(api, "Two.")

    (line,) = ran(at, "--team", town.team.slug)
    (document,) = ran(at, "--team", town.team.slug, "--user", "sarah", "--json")

    assert line == f"{first}  [semantic, active, importance 8] One and a half."
    shown = json.loads(document)
    assert (shown["id"], shown["content"], shown["user"]) == (first, "One\nand a half.", "sarah")
    assert ran(at, "--team", town.team.slug, "--status", "archived") == []


def test_the_command_prints_what_changed(town: Cast, api: APIClient) -> None:
    pinned = told(api, "One.")
    start = moment(town)
    api.post(f"/v1/memories/{pinned}/pin", {"pinned": True}, format="json")
    fresh = told(api, "Two.")
    end = moment(town)

    lines = ran(start, "--team", town.team.slug, "--diff-to", end)
    documents = [
        json.loads(each)
        for each in ran(start, "--team", town.team.slug, "--diff-to", end, "--json")
    ]

    assert lines == [
        f"created  {fresh}  Two.",
        f"changed  {pinned}  One.",
        "         is_pinned: false -> true",
        '         tier: "warm" -> "hot"',
    ]
    assert [(each["change"], each["id"]) for each in documents] == [
        ("created", fresh),
        ("changed", pinned),
    ]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["2026-01-01T00:00:00Z", "--team", "nobody-here"], "no team"),
        (["yesterday", "--team", "nobody-here"], "with its zone"),
        (["2026-01-01T00:00:00", "--team", "nobody-here"], "with its zone"),
    ],
)
def test_the_command_says_what_is_wrong(committed_db: None, args: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        ran(*args)


def test_a_wrong_time_on_the_command_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        execute_from_command_line(["manage.py", "memory_at", "yesterday", "--team", "nobody-here"])

    assert "no time with its zone" in capsys.readouterr().err


def test_the_command_knows_no_time_to_come(town: Cast) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()

    with pytest.raises(CommandError, match="in the future"):
        ran(tomorrow, "--team", town.team.slug)
