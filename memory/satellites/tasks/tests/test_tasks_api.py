"""Tasks and their items: what is noted, who sees it, what bounds it, and how it ends."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.utils import timezone
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.satellites.tasks.services import NewItem, add_item
from memory.satellites.tasks.store import ItemKind
from tests.support.cast import Cast, Clients, switch
from tests.support.memories_api import post

REASONING = {"kind": "reasoning", "text": "The port is read twice.", "stage": "plan"}
OUTPUT = {"kind": "tool_output", "tool": "grep", "output": {"hits": [1, "ü\x00"]}, "stage": "run"}


def begin(api: APIClient, **fields: object) -> str:
    """The path of a new task."""
    answer = post(api, "tasks", **fields)
    assert answer.status_code == 201, answer.content
    return f"tasks/{answer.json()['id']}"


def items(api: APIClient, path: str, query: str = "") -> list[dict[str, Any]]:
    """Returns the listed items of a task."""
    answer = api.get(f"/v1/{path}/items?{query}")
    assert answer.status_code == 200, answer.content
    return list(answer.json()["results"])


def test_a_task_is_begun_noted_in_and_read(api: APIClient) -> None:
    made = post(api, "tasks", id="fix-17", agent="kyra", project="apollo", ttl=600).json()
    one = post(api, "tasks/fix-17/items", **REASONING)
    two = post(api, "tasks/fix-17/items", **OUTPUT, tags=["slow"])

    assert (made["id"], made["agent"], made["project"]) == ("fix-17", "kyra", "apollo")
    assert (made["status"], made["ttl"], made["items"]) == ("open", 600, 0)
    assert (one.status_code, two.status_code) == (201, 201)
    first, second = items(api, "tasks/fix-17")
    assert (first, second) == (one.json(), two.json())
    assert (first["importance"], second["importance"]) == (5, 7)
    assert first["source"] == "task/fix-17/plan"
    assert first["tags"] == ["task", "plan"]
    assert second["tags"] == ["task", "run", "tool", "grep", "slow"]
    assert second["output"] == OUTPUT["output"]
    assert first["tokens"] > 0
    assert api.get("/v1/tasks/fix-17").json()["items"] == 2


def test_items_are_listed_by_stage_and_kind(api: APIClient) -> None:
    path = begin(api, agent="kyra")
    for item in (REASONING, OUTPUT, {**REASONING, "text": "Fixed.", "stage": "run"}):
        post(api, f"{path}/items", **item)

    assert [each["kind"] for each in items(api, path, "stage=run")] == ["tool_output", "reasoning"]
    assert [each["stage"] for each in items(api, path, "kind=reasoning")] == ["plan", "run"]
    assert items(api, path, "stage=nowhere") == []


def test_items_are_listed_in_the_order_that_is_asked_for_and_counted(api: APIClient) -> None:
    path = begin(api, agent="kyra")
    for importance in (0.85, 3, 1.0, 0.3):
        post(api, f"{path}/items", **{**REASONING, "importance": importance})

    def ordered(query: str = "") -> list[int]:
        return [each["importance"] for each in items(api, path, query)]

    assert ordered() == [9, 3, 10, 3]
    assert ordered("order_by=-importance") == [10, 9, 3, 3]
    assert ordered("order_by=-created_at") == [3, 10, 3, 9]
    assert api.get(f"/v1/{path}/items?kind=reasoning").json()["count"] == 4


@pytest.mark.parametrize(("end", "state"), [("complete", "completed"), ("fail", "failed")])
def test_what_ended_is_cleared_and_refuses_all_but_being_read(
    api: APIClient, end: str, state: str
) -> None:
    path = begin(api, id="t", agent="kyra")
    item = post(api, f"{path}/items", **REASONING).json()["id"]

    ended = post(api, f"{path}/{end}")

    assert ended.status_code == 200
    assert (ended.json()["status"], ended.json()["cleared"]) == (state, 1)
    assert (ended.json()["items"], ended.json()["bytes"]) == (0, 0)
    read = api.get(f"/v1/{path}").json()
    assert (read["status"], read["ended_at"]) == (state, ended.json()["ended_at"])
    refused = [
        post(api, f"{path}/complete"),
        post(api, f"{path}/fail"),
        post(api, f"{path}/items", **REASONING),
        post(api, f"{path}/items/{item}/promote"),
        post(api, "tasks", id="t", agent="kyra"),
        api.get(f"/v1/{path}/items"),
    ]
    assert [each.status_code for each in refused] == [409] * 6
    client = get_redis_connection("default")
    kept = b" ".join(
        client.dump(each) for each in client.scan_iter(f"{settings.REDIS_PREFIX}:task:*")
    )
    assert b"read twice" not in kept
    assert not Memory.objects.exists()


def test_what_is_unknown_is_404(api: APIClient) -> None:
    begin(api, id="known", agent="kyra")
    answers = [
        api.get("/v1/tasks/nothing"),
        api.get("/v1/tasks/nothing/items"),
        post(api, "tasks/nothing/items", **REASONING),
        post(api, "tasks/nothing/complete"),
        post(api, "tasks/nothing/fail"),
        post(api, f"tasks/nothing/items/{uuid4()}/promote"),
        post(api, f"tasks/known/items/{uuid4()}/promote"),
    ]
    assert [each.status_code for each in answers] == [404] * 7


def test_another_agents_and_another_teams_task_is_as_none(
    acme: Cast, globex: Cast, client_of: Clients
) -> None:
    kyra, luke = client_of(acme, acme.kyra), client_of(acme, acme.luke)
    team, theirs = client_of(acme), client_of(globex)
    path = begin(kyra, id="mine", project="apollo")
    item = post(kyra, f"{path}/items", **REASONING).json()["id"]

    for stranger in (luke, theirs, client_of(globex, globex.kyra)):
        for method, end, body in (
            ("get", "", None),
            ("get", "/items", None),
            ("post", "/items", REASONING),
            ("post", "/complete", None),
            ("post", "/fail", None),
            ("post", f"/items/{item}/promote", {}),
            ("delete", "/items", None),
        ):
            for task in ("mine", "never"):
                url = f"/v1/tasks/{task}{end}"
                answer = getattr(stranger, method)(url, body, format="json")
                assert answer.status_code == 404, url
                assert answer.json()["detail"] == "There is no such task: begin it first."
    assert len(items(kyra, path)) == 1
    assert [each["id"] for each in items(team, path)] == [item]
    assert luke.get("/v1/tasks/mine?agent=kyra").status_code == 403


def test_an_id_is_each_agents_own(acme: Cast, client_of: Clients) -> None:
    kyra, luke, team = client_of(acme, acme.kyra), client_of(acme, acme.luke), client_of(acme)
    begin(kyra, id="same")
    begin(luke, id="same")
    begin(team, id="same")
    post(kyra, "tasks/same/items", **REASONING)

    assert (len(items(kyra, "tasks/same")), len(items(luke, "tasks/same"))) == (1, 0)
    several = team.get("/v1/tasks/same")
    assert (several.status_code, list(several.json()["errors"])) == (409, ["agent"])
    assert team.get("/v1/tasks/same?agent=kyra").json()["items"] == 1
    assert post(kyra, "tasks", id="same").status_code == 409
    assert post(kyra, "tasks", id="x", agent="luke").status_code == 403


def test_a_task_dies_after_its_time_and_each_item_begins_it_anew(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begin(api, id="brief", agent="kyra", ttl=600)
    client = get_redis_connection("default")
    keys = [*client.scan_iter(f"{settings.REDIS_PREFIX}:task*")]
    assert len(keys) == 2
    for key in keys:
        client.expire(key, 5)

    post(api, f"{path}/items", **REASONING)
    lives = [client.ttl(each) for each in client.scan_iter(f"{settings.REDIS_PREFIX}:task*")]
    for key in client.scan_iter(f"{settings.REDIS_PREFIX}:task*"):
        client.pexpire(key, 1)
    time.sleep(0.05)

    assert len(lives) == 3
    assert all(590 <= each <= 600 for each in lives)
    assert api.get(f"/v1/{path}").status_code == 404
    assert post(api, "tasks", id="brief", agent="kyra").status_code == 201


def test_a_full_task_refuses_what_is_too_much_and_keeps_what_it_has(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "TASK_MAX_ITEMS", 2)
    monkeypatch.setattr(settings, "TASK_MAX_BYTES", 2_000)
    path = begin(api, agent="kyra")
    post(api, f"{path}/items", **REASONING)

    large = post(api, f"{path}/items", kind="reasoning", text="ü" * 900)
    output = post(api, f"{path}/items", kind="tool_output", tool="cat", output="x" * 3_000)
    fits = post(api, f"{path}/items", **REASONING)
    many = post(api, f"{path}/items", **REASONING)

    assert [each.status_code for each in (large, output, fits, many)] == [413, 413, 201, 413]
    found = [list(each.json()["errors"]) for each in (large, output, many)]
    assert found == [["text"], ["output"], ["items"]]
    assert len(items(api, path)) == 2


def test_items_are_cleared_and_the_task_goes_on(api: APIClient) -> None:
    path = begin(api, agent="kyra", project="apollo")
    kept = post(api, f"{path}/items", **REASONING).json()["id"]
    memory = post(api, f"{path}/items/{kept}/promote").json()["id"]
    post(api, f"{path}/items", **OUTPUT)

    cleared = api.delete(f"/v1/{path}/items")
    noted = post(api, f"{path}/items", **REASONING)

    assert cleared.status_code == 200
    told = cleared.json()
    assert (told["status"], told["cleared"], told["items"], told["bytes"]) == ("open", 2, 0, 0)
    assert [each["id"] for each in items(api, path)] == [noted.json()["id"]]
    assert api.get(f"/v1/memories/{memory}").json()["status"] == "active"
    post(api, f"{path}/complete")
    assert api.delete(f"/v1/{path}/items").status_code == 409


def test_a_team_has_only_so_many_open_tasks(
    acme: Cast, globex: Cast, client_of: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "TASK_MAX_OPEN", 2)
    api = client_of(acme)
    first, second = begin(api, id="one", agent="kyra"), begin(api, id="two", agent="luke")

    refused = post(api, "tasks", id="three")
    again = post(api, "tasks", id="one", agent="kyra")
    post(api, f"{first}/items", **REASONING)
    begin(client_of(globex), id="three")
    post(api, f"{second}/fail")

    assert (refused.status_code, again.status_code) == (409, 409)
    assert "complete or fail one" in refused.json()["detail"]
    assert "already" in again.json()["detail"]
    assert api.get("/v1/tasks/three").status_code == 404
    begin(api, id="three")
    assert post(api, "tasks", id="four").status_code == 409


def test_a_task_that_died_counts_no_more(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "TASK_MAX_OPEN", 1)
    begin(api, id="brief", ttl=1)
    assert post(api, "tasks", id="next").status_code == 409
    time.sleep(2.1)

    begin(api, id="next")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "kind"),
        ({"kind": "thought", "text": "x"}, "kind"),
        ({"kind": "reasoning"}, "text"),
        ({"kind": "reasoning", "text": " "}, "text"),
        ({"kind": "reasoning", "text": "x" * 32_001}, "text"),
        ({"kind": "reasoning", "text": "x", "tool": "grep"}, "tool"),
        ({"kind": "reasoning", "text": "x", "output": None}, "output"),
        ({"kind": "tool_output", "output": 1}, "tool"),
        ({"kind": "tool_output", "tool": "grep"}, "output"),
        ({"kind": "reasoning", "text": "x", "importance": 11}, "importance"),
        ({"kind": "reasoning", "text": "x", "stage": "a" * 101}, "stage"),
        ({"kind": "reasoning", "text": "x", "colour": "red"}, "colour"),
    ],
)
def test_a_wrong_item_is_refused_by_its_field(
    api: APIClient, body: dict[str, object], field: str
) -> None:
    path = begin(api, agent="kyra")

    answer = post(api, f"{path}/items", **body)

    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert items(api, path) == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"id": "a/b"}, "id"),
        ({"id": "-a"}, "id"),
        ({"id": "a" * 101}, "id"),
        ({"ttl": 0}, "ttl"),
        ({"ttl": 8 * 24 * 3600}, "ttl"),
        ({"agent": "two words"}, "agent"),
    ],
)
def test_a_wrong_task_is_refused_by_its_field(
    api: APIClient, body: dict[str, object], field: str
) -> None:
    answer = post(api, "tasks", **body)

    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


@pytest.mark.parametrize("output", ['"\\ud800"', "NaN", "[Infinity]"])
def test_an_output_that_no_json_could_hold_is_refused(api: APIClient, output: str) -> None:
    path = begin(api, agent="kyra")
    body = f'{{"kind": "tool_output", "tool": "grep", "output": {output}}}'

    answer = api.post(f"/v1/{path}/items", body.encode(), content_type="application/json")

    assert answer.status_code in (400, 422)
    assert items(api, path) == []


def test_an_item_sent_twice_under_a_key_is_noted_once(api: APIClient) -> None:
    path = begin(api, agent="kyra")
    headers = {"Idempotency-Key": "once"}
    sent = [
        api.post(f"/v1/{path}/items", REASONING, format="json", headers=headers) for _ in range(2)
    ]

    assert sent[0].content == sent[1].content
    assert len(items(api, path)) == 1


def test_an_item_whose_answer_redis_gave_too_late_is_noted_once(
    api: APIClient, acme: Cast, viewer: Viewer
) -> None:
    task_id = begin(api).removeprefix("tasks/")
    item = NewItem(kind=ItemKind.REASONING, text="The test fails.")
    for _ in range(2):
        add_item(viewer=viewer, task_id=task_id, item=item, now=timezone.now(), sent_as="once")

    assert len(items(api, f"tasks/{task_id}")) == 1


def test_working_memory_is_off_where_memory_is(acme: Cast, client_of: Clients) -> None:
    switch(acme, memory=False)
    assert post(client_of(acme), "tasks").status_code == 403
