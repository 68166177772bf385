"""An item becomes a memory of the project when somebody says so, and never by itself."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.models import Category, Memory
from tests.support.cast import Cast, Clients
from tests.support.memories_api import listed, post, shown

FOUND = {"kind": "reasoning", "text": "The worker reads the port twice.", "stage": "plan"}


@pytest.fixture
def task(api: APIClient) -> str:
    """The path of a task of Kyra in the project apollo."""
    post(api, "tasks", id="fix-17", agent="kyra", project="apollo")
    return "tasks/fix-17"


def noted(api: APIClient, task: str, **fields: object) -> str:
    """The path of a new item."""
    answer = post(api, f"{task}/items", **{**FOUND, **fields})
    assert answer.status_code == 201, answer.content
    return f"{task}/items/{answer.json()['id']}"


def test_an_item_becomes_a_memory_of_the_project_and_names_where_it_came_from(
    api: APIClient, task: str, acme: Cast, client_of: Clients
) -> None:
    item = noted(api, task)
    assert not Memory.objects.exists()

    answer = post(api, f"{item}/promote", reason="it cost an hour")

    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert (made["content"], made["project"], made["scope"]) == (FOUND["text"], "apollo", "project")
    assert (made["importance"], made["agent"], made["user"]) == (5, None, None)
    assert {"project", "task:fix-17", "plan"} <= set(made["tags"])
    (row,) = MemoryLog.objects.filter(memory_id=made["id"])
    item_id = item.rpartition("/")[2]
    assert row.reason == f"promoted from task 'fix-17', item {item_id}: it cost an hour"
    (kept,) = api.get(f"/v1/{task}/items").json()["results"]
    assert kept["promoted_to"] == made["id"]
    # Every agent of the project sees it.
    assert shown(client_of(acme, acme.luke), made["id"])["content"] == FOUND["text"]


def test_what_was_promoted_outlives_the_task(api: APIClient, task: str) -> None:
    made = post(api, f"{noted(api, task)}/promote").json()
    noted(api, task, text="A thought that nobody keeps.")

    post(api, f"{task}/complete")

    assert shown(api, made["id"])["status"] == "active"
    assert listed(api) == [FOUND["text"]]


def test_promoted_twice_it_is_one_memory(api: APIClient, task: str) -> None:
    item = noted(api, task)
    first = post(api, f"{item}/promote")
    again = post(api, f"{item}/promote")
    other = post(api, f"{item}/promote", content="Something else entirely.")

    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert f"POST /v1/memories/{first.json()['id']}/correct" in other.json()["detail"]
    assert "external_id" not in other.content.decode()
    assert (again.json()["id"], again.json()["outcome"]) == (first.json()["id"], "duplicate")
    assert shown(api, first.json()["id"])["corroboration"] == 0
    assert Memory.objects.count() == 1


def test_what_was_promoted_and_deleted_does_not_come_back(api: APIClient, task: str) -> None:
    item = noted(api, task)
    made = post(api, f"{item}/promote").json()
    api.delete(f"/v1/memories/{made['id']}")

    assert post(api, f"{item}/promote").status_code == 409


@pytest.mark.parametrize(
    ("kind", "more", "importance", "content"),
    [
        ("decision", {}, 9, "Use port 5433."),
        ("convention", {}, 8, "Use port 5433."),
        (
            "failure",
            {"lesson": "Read settings once."},
            9,
            "Use port 5433.\nLesson: Read settings once.",
        ),
    ],
)
def test_a_kind_gives_importance_tag_and_category(
    api: APIClient, task: str, kind: str, more: dict[str, str], importance: int, content: str
) -> None:
    made = post(api, f"{noted(api, task)}/promote", kind=kind, content="Use port 5433.", **more)

    assert made.status_code == 201, made.content
    shown = made.json()
    assert (shown["importance"], shown["category"]) == (importance, kind)
    assert shown["content"] == content
    assert kind in shown["tags"]
    assert shown["form"] == kind
    assert "Use port 5433." in shown["payload"].values()


SENTENCES = {
    "decision": "Chose Redis streams in src/queue.py because consumers need to replay.",
    "convention": "Always run make lint before pushing.",
    "failure": "The deploy failed because the new env variable was missing in staging.",
}


@pytest.mark.parametrize("form", SENTENCES)
def test_without_a_kind_a_sentence_has_the_form_that_the_reader_is_sure_of(
    api: APIClient, task: str, form: str
) -> None:
    item = noted(api, task, text=SENTENCES[form])

    made = post(api, f"{item}/promote").json()

    assert (made["form"], made["content"]) == (form, SENTENCES[form])
    assert SENTENCES[form] in made["payload"].values()
    assert made["importance"] == 5
    assert form not in made["tags"]


def test_the_form_is_read_in_the_words_that_are_promoted(api: APIClient, task: str) -> None:
    made = post(api, f"{noted(api, task)}/promote", content=SENTENCES["decision"]).json()

    assert (made["form"], made["payload"]["artifacts"]) == (
        "decision",
        [{"kind": "file", "ref": "src/queue.py"}],
    )


def test_a_kind_that_is_given_wins_over_the_reader(api: APIClient, task: str) -> None:
    item = noted(api, task, text=SENTENCES["decision"])

    assert post(api, f"{item}/promote", kind="convention").json()["form"] == "convention"


@pytest.mark.parametrize(
    "fields",
    [
        {"text": FOUND["text"]},
        {"text": f"{SENTENCES['convention']} {SENTENCES['decision']}"},
        {"kind": "tool_output", "tool": "ci", "text": None, "output": SENTENCES["failure"]},
    ],
    ids=["no form", "several sentences", "output of a tool"],
)
def test_other_words_have_no_form(api: APIClient, task: str, fields: dict[str, str | None]) -> None:
    given = {key: value for key, value in {**FOUND, **fields}.items() if value is not None}
    item = post(api, f"{task}/items", **given).json()["id"]

    assert post(api, f"{task}/items/{item}/promote").json()["form"] is None


def test_what_was_promoted_keeps_its_form_when_the_team_gets_it(api: APIClient, task: str) -> None:
    item = noted(api, task, text="We use port 5433 in src/db.py, as 5432 is taken.")
    made = post(api, f"{item}/promote", kind="decision").json()

    moved = post(api, f"memories/{made['id']}/promote").json()

    assert (moved["scope"], moved["form"], moved["payload"]) == (
        "team",
        "decision",
        made["payload"],
    )
    assert moved["payload"]["artifacts"] == [{"kind": "file", "ref": "src/db.py"}]


def test_an_importance_between_0_and_1_is_one_of_ten(api: APIClient, task: str) -> None:
    made = post(api, f"{noted(api, task)}/promote", importance=0.85).json()

    assert made["importance"] == 9


def test_a_kind_that_is_no_category_of_the_team_is_a_tag_alone(
    api: APIClient, task: str, acme: Cast
) -> None:
    Category.objects.create(team=acme.team, name="tasks")

    made = post(api, f"{noted(api, task)}/promote", kind="decision").json()

    assert (made["category"], made["importance"]) == ("", 9)
    assert "decision" in made["tags"]


def test_the_output_of_a_tool_is_promoted_as_its_text(api: APIClient, task: str) -> None:
    tool = {"kind": "tool_output", "tool": "grep", "text": None}
    body = {key: value for key, value in {**FOUND, **tool}.items() if value is not None}
    words, json_value = (
        post(api, f"{task}/items", **body, output=output).json()["id"]
        for output in ("Two hits in settings.py.", {"hits": 2})
    )

    first = post(api, f"{task}/items/{words}/promote").json()
    second = post(api, f"{task}/items/{json_value}/promote").json()

    assert (first["content"], first["importance"]) == ("Two hits in settings.py.", 7)
    assert second["content"] == '{"hits": 2}'


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ({}, "tool"),
        ({"content": "The port is in settings.py."}, "agent"),
        ({"source": "agent"}, "agent"),
        ({"content": "The page says port 80.", "source": "web"}, "web"),
    ],
)
def test_the_output_of_a_tool_is_unconfirmed_unless_an_agent_says_it(
    api: APIClient, task: str, body: dict[str, object], source: str
) -> None:
    item = post(api, f"{task}/items", kind="tool_output", tool="grep", output="Port 80.").json()
    place = f"{task}/items/{item['id']}/promote"

    pinned = post(api, place, **body, is_pinned=True)
    made = post(api, place, **body)

    assert made.json()["source"] == source
    assert pinned.status_code == (201 if source == "agent" else 422)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "failure"}, "lesson"),
        ({"kind": "decision", "lesson": "No."}, "lesson"),
        ({"kind": "idea"}, "kind"),
        ({"content": "  "}, "content"),
        ({"project": "zeus"}, "project"),
        ({"importance": 0}, "importance"),
        ({"content": "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEf"}, "content"),
    ],
)
def test_a_wrong_promotion_stores_nothing(
    api: APIClient, task: str, body: dict[str, object], field: str
) -> None:
    answer = post(api, f"{noted(api, task)}/promote", **body)

    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert not Memory.objects.exists()


def test_a_task_without_a_project_needs_one_named(api: APIClient) -> None:
    post(api, "tasks", id="loose", agent="kyra")
    item = noted(api, "tasks/loose")

    refused = post(api, f"{item}/promote")
    made = post(api, f"{item}/promote", project="apollo")

    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["project"])
    assert (made.status_code, made.json()["project"]) == (201, "apollo")


def test_what_is_too_long_or_says_nothing_is_refused(api: APIClient, task: str) -> None:
    body = {"kind": "tool_output", "tool": "cat"}
    for output in ("x" * 32_001, "…", None):
        item = post(api, f"{task}/items", **body, output=output).json()["id"]
        answer = post(api, f"{task}/items/{item}/promote")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["content"])
