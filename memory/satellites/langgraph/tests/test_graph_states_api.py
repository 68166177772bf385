"""States of graphs over REST: values kept once, whose they are, and what is refused."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from rest_framework.test import APIClient

from audit.services.erasure import erase_user
from memory.satellites.langgraph.checkpoints import MAX_WRITES
from memory.satellites.langgraph.models import (
    ChannelValue,
    GraphCheckpoint,
    GraphThread,
    PendingWrite,
)
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast
from tests.test_schema import Schema, check
from tests.test_schema import schema as schema

THREAD = "/v1/threads/t%2F1/checkpoints"


def value(text: str, channel: str = "messages") -> dict[str, str]:
    return {"channel": channel, "type": "text", "value": b64encode(text.encode()).decode()}


def save(api: APIClient, number: str, *, thread: str = THREAD, **given: Any) -> Any:
    body = {"data": {"v": 4}, **given}
    return api.put(f"{thread}/{number}", body, format="json")


def write(api: APIClient, number: str, **given: Any) -> Any:
    body = {"task_id": "task", "writes": [{"index": 0, **value("w")}], **given}
    return api.post(f"{THREAD}/{number}/writes", body, format="json")


def listed(api: APIClient, **query: Any) -> Any:
    answer = api.get("/v1/checkpoints", query)
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def test_a_state_comes_back_with_the_values_of_its_channels(api: APIClient, schema: Schema) -> None:
    first = {"messages": "1", "empty": "1"}
    save(api, "a", channels=first, values=[value("hello"), value("", "empty")], user="sarah")
    saved = save(
        api,
        "b",
        parent_id="a",
        namespace="",
        metadata={"step": 1, "run_id": "r"},
        channels={"messages": "2", "empty": "1"},
        values=[value("hello again")],
    )
    written = write(api, "b", task_path="p")
    answer = api.get("/v1/checkpoints", {"thread_id": "t/1"})

    check(schema, "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}", "put", saved)
    check(schema, "/v1/threads/{thread_id}/checkpoints/{checkpoint_id}/writes", "post", written)
    check(schema, "/v1/checkpoints", "get", answer)
    latest, before = answer.json()["results"]
    assert (latest["checkpoint_id"], latest["parent_id"], latest["user"]) == ("b", "a", "sarah")
    assert sorted(latest["values"], key=str) == sorted(
        [value("hello again"), value("", "empty")], key=str
    )
    assert latest["writes"] == [{**value("w"), "task_id": "task", "task_path": "p", "index": 0}]
    assert before["values"][0] != before["values"][1]
    assert before["writes"] == []
    assert ChannelValue.objects.count() == 3


def test_of_two_values_of_a_channel_the_last_one_is_kept(api: APIClient) -> None:
    for number, version in (("a", "1"), ("b", "b")):
        values = [value("one"), value("two")]
        saved = save(api, number, channels={"messages": version}, values=values)

        assert saved.status_code == 200
        assert listed(api, checkpoint_id=number)[0]["values"] == [value("two")]


def test_values_that_are_neither_sent_nor_stored_are_asked_for(api: APIClient) -> None:
    refused = save(api, "a", channels={"messages": "1", "other": "1"}, values=[value("x")])

    assert refused.status_code == 409
    assert refused.json()["errors"]["values"]
    assert "other" in refused.json()["detail"]
    assert GraphThread.objects.count() == 0


def test_the_first_write_of_a_place_stays_unless_it_is_to_be_replaced(api: APIClient) -> None:
    write(api, "a", writes=[{"index": 0, **value("one")}])
    write(api, "a", writes=[{"index": 0, **value("two")}])
    save(api, "a")
    assert listed(api)[0]["writes"][0]["value"] == value("one")["value"]

    write(api, "a", writes=[{"index": 0, **value("three")}], replace=True)

    assert listed(api)[0]["writes"][0]["value"] == value("three")["value"]


def test_a_task_writes_as_much_at_once_as_a_checkpoint_may_have(api: APIClient) -> None:
    writes = [{"index": number, **value("w")} for number in range(MAX_WRITES + 1)]

    assert write(api, "a", writes=writes).status_code == 422
    assert write(api, "a", writes=writes[:MAX_WRITES]).status_code == 200
    assert write(api, "a", writes=writes[:1], task_id="other").status_code == 413
    assert PendingWrite.objects.count() == MAX_WRITES


def test_lists_are_filtered_and_paged(api: APIClient) -> None:
    for number in range(5):
        save(api, f"c{number}", metadata={"step": number, "deep": {"x": [number % 2]}})
    save(api, "c9", namespace="child:1")
    save(api, "c8", thread="/v1/threads/other/checkpoints")

    pages, address = [], "/v1/checkpoints?limit=2&thread_id=t%2F1&namespace="
    while address:
        answer = api.get(address).json()
        pages.append([each["checkpoint_id"] for each in answer["results"]])
        address = answer["next"]

    assert pages == [["c4", "c3"], ["c2", "c1"], ["c0"]]
    assert [each["checkpoint_id"] for each in listed(api)] == [
        "c9",
        "c8",
        "c4",
        "c3",
        "c2",
        "c1",
        "c0",
    ]
    ids = [
        each["checkpoint_id"] for each in listed(api, metadata='{"deep": {"x": [1]}}', before="c3")
    ]
    assert ids == ["c1"]
    assert listed(api, thread_id="t/1", checkpoint_id="c9")[0]["namespace"] == "child:1"


@pytest.mark.parametrize("number", ["1e400", "NaN"])
def test_metadata_by_a_number_that_is_not_finite_is_refused(api: APIClient, number: str) -> None:
    refused = api.get("/v1/checkpoints", {"metadata": f'{{"score": {number}}}'})

    assert refused.status_code == 422
    assert "finite" in refused.json()["detail"]


def test_pruning_drops_values_and_parents_that_nothing_names_any_more(
    api: APIClient, schema: Schema
) -> None:
    save(api, "a", channels={"m": "1", "k": "1"}, values=[value("1", "m"), value("k", "k")])
    save(api, "b", parent_id="a", channels={"m": "2", "k": "1"}, values=[value("2", "m")])
    write(api, "a")
    write(api, "b")

    pruned = api.post("/v1/checkpoints/prune", {"thread_ids": ["t/1", "none"]}, format="json")

    check(schema, "/v1/checkpoints/prune", "post", pruned)
    assert pruned.json() == {"count": 1}
    for keep in ("latest", "nothing"):
        none = api.post("/v1/checkpoints/prune", {"thread_ids": [], "keep": keep}, format="json")
        assert none.json() == {"count": 0}
    (left,) = listed(api)
    assert (left["checkpoint_id"], left["parent_id"], len(left["writes"])) == ("b", "", 1)
    assert {each["channel"]: each["value"] for each in left["values"]} == {
        each["channel"]: each["value"] for each in (value("2", "m"), value("k", "k"))
    }
    assert ChannelValue.objects.count() == 2
    assert PendingWrite.objects.count() == 1


def test_what_rests_on_earlier_states_is_not_pruned(api: APIClient) -> None:
    save(api, "a", needs_ancestors=True)
    save(api, "b", parent_id="a", needs_ancestors=True)

    refused = api.post("/v1/checkpoints/prune", {"thread_ids": ["t/1"]}, format="json")
    whole = api.post(
        "/v1/checkpoints/prune", {"thread_ids": ["t/1"], "keep": "nothing"}, format="json"
    )

    assert refused.status_code == 409
    assert "t/1" in refused.json()["detail"]
    assert whole.json() == {"count": 1}
    assert listed(api) == []


def test_runs_are_deleted_in_every_thread(api: APIClient, schema: Schema) -> None:
    save(api, "a", metadata={"run_id": "r1"})
    save(api, "b", parent_id="a", metadata={"run_id": "r2"})
    save(api, "c", thread="/v1/threads/other/checkpoints", metadata={"run_id": "r1"})

    done = api.post("/v1/checkpoints/delete-runs", {"run_ids": ["r1"]}, format="json")

    check(schema, "/v1/checkpoints/delete-runs", "post", done)
    assert done.json() == {"count": 2}
    assert [(each["checkpoint_id"], each["parent_id"]) for each in listed(api)] == [("b", "")]


def test_a_thread_is_copied_to_a_new_one_and_deleted(api: APIClient, schema: Schema) -> None:
    save(api, "a", channels={"m": "1"}, values=[value("1", "m")], user="sarah")
    write(api, "a")

    copied = api.post("/v1/threads/t%2F1/copy", {"target_id": "copy"}, format="json")
    again = api.post("/v1/threads/t%2F1/copy", {"target_id": "copy"}, format="json")
    itself = api.post("/v1/threads/t%2F1/copy", {"target_id": "t/1"}, format="json")
    unknown = api.post("/v1/threads/none/copy", {"target_id": "copy2"}, format="json")
    deleted = api.delete(THREAD)
    (left,) = listed(api)

    check(schema, "/v1/threads/{thread_id}/copy", "post", copied)
    check(schema, "/v1/threads/{thread_id}/checkpoints", "delete", deleted)
    assert [each.status_code for each in (again, itself, unknown)] == [409, 422, 404]
    assert (left["thread_id"], left["user"]) == ("copy", "sarah")
    assert (left["values"], len(left["writes"])) == ([value("1", "m")], 1)
    assert api.delete(THREAD).json() == {"count": 0}


def test_threads_of_agents_and_of_the_team_are_apart(
    api: APIClient, acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    kyra, luke = client_of(acme, agent=acme.kyra), client_of(acme, agent=acme.luke)
    for client, number in ((api, "team"), (kyra, "k"), (luke, "l")):
        assert save(client, number).status_code == 200

    assert [each["checkpoint_id"] for each in listed(api)] == ["team"]
    assert [each["checkpoint_id"] for each in listed(kyra)] == ["k"]
    assert [each["checkpoint_id"] for each in listed(api, agent="luke")] == ["l"]
    assert kyra.get("/v1/checkpoints", {"agent": "luke"}).status_code == 403
    assert save(kyra, "x", agent="luke").status_code == 403
    assert kyra.delete(f"{THREAD}?agent=luke").status_code == 403
    kyra.delete(THREAD)
    assert [each["checkpoint_id"] for each in listed(luke)] == ["l"]


def test_a_thread_of_one_person_is_not_anothers(api: APIClient) -> None:
    save(api, "a")
    save(api, "b", user="sarah")

    refused = save(api, "c", user="dmitri")

    assert refused.status_code == 409
    assert [(each["checkpoint_id"], each["user"]) for each in listed(api)] == [
        ("b", "sarah"),
        ("a", "sarah"),
    ]


def test_a_key_of_one_agent_sees_a_persons_thread_only_where_it_names_the_thread(
    acme: Cast, api: APIClient, client_of: Callable[..., APIClient]
) -> None:
    kyra = client_of(acme, agent=acme.kyra)
    save(kyra, "a", user="sarah")
    save(kyra, "b", thread="/v1/threads/other/checkpoints")

    assert [each["checkpoint_id"] for each in listed(kyra)] == ["b"]
    assert [each["checkpoint_id"] for each in listed(kyra, thread_id="t/1")] == ["a"]
    assert [each["checkpoint_id"] for each in listed(api, agent="kyra")] == ["b", "a"]


def test_an_erased_person_takes_the_threads_along(api: APIClient, acme: Cast) -> None:
    save(api, "a", channels={"m": "1"}, values=[value("1", "m")], user="sarah")
    write(api, "a")
    save(api, "b", thread="/v1/threads/other/checkpoints")

    plan = erase_user(team_id=acme.team.id, external_id="sarah", actor="test")

    assert plan.checkpoints == 1
    assert [each["checkpoint_id"] for each in listed(api)] == ["b"]
    assert (ChannelValue.objects.count(), PendingWrite.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"data": []}, "data"),
        ({"data": {"x": "\x00"}}, "data"),
        ({"metadata": {"x": ["\x00"]}}, "metadata"),
        ({"channels": {"": "1"}}, "channels"),
        ({"channels": {"m": "x" * 61}}, "channels"),
        ({"values": [value("x", "unnamed")]}, "values"),
        ({"values": [{"channel": "m", "type": "t", "value": "no base64"}]}, "values"),
        ({"namespace": "n" * 401}, "namespace"),
        ({"unknown": 1}, "unknown"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_is_wrong_is_refused_and_changes_nothing(
    api: APIClient, body: dict[str, Any], field: str
) -> None:
    refused = save(api, "a", **body)

    assert refused.status_code == 422
    assert any(name.startswith(field) for name in refused.json()["errors"])
    assert GraphCheckpoint.objects.count() == 0


def test_a_state_may_not_be_larger_than_a_checkpoint(api: APIClient, settings: Any) -> None:
    settings.CHECKPOINT_MAX_BYTES = 1024
    given: dict[str, Any] = {"channels": {"m": "1"}, "values": [value("x" * 1025, "m")]}

    assert save(api, "a", **given).status_code == 413
    assert write(api, "a", writes=[{"index": 0, **value("x" * 1025)}]).status_code == 413
    assert save(api, "a", data={"x": "y" * 1025}).status_code == 413
    assert GraphThread.objects.count() == 0


def test_all_values_of_a_state_and_its_writes_are_bounded(api: APIClient, settings: Any) -> None:
    settings.CHECKPOINT_MAX_BYTES = 1024
    names = [f"m{number}" for number in range(17)]
    for last in range(1, 16):
        channels = dict.fromkeys(names[:last], "1")
        given = [value("x" * 1000, names[last - 1])]
        assert save(api, "a", channels=channels, values=given).status_code == 200
        writes = [{"index": last, **given[0]}]
        assert write(api, "a", writes=writes).status_code == 200
    # 16 KiB are 16,384 bytes.
    more = [value("x" * 1000, names[15]), value("x" * 1000, names[16])]
    assert (
        save(api, "b", channels=dict.fromkeys(names[:16], "1"), values=more[:1]).status_code == 200
    )

    refused = save(api, "a", channels=dict.fromkeys(names, "1"), values=more[1:])
    writes = [{"index": 0, **more[0]}]
    assert write(api, "a", writes=writes).status_code == 200
    too_many = write(api, "a", task_id="other", writes=writes)

    assert [refused.status_code, too_many.status_code] == [413, 413]
    assert ChannelValue.objects.count() == PendingWrite.objects.count() == 16


def test_pages_are_cut_where_values_and_writes_fill_them(api: APIClient, settings: Any) -> None:
    for number in ("a", "b", "c"):
        save(api, number)
        write(api, number, writes=[{"index": 0, **value("x" * 600_000)}])

    page = api.get("/v1/checkpoints", {"limit": 500}).json()

    assert [each["checkpoint_id"] for each in page["results"]] == ["c"]
    assert page["next"]


@pytest.mark.parametrize("limit", [1, 3, 500])
def test_pages_of_copies_leave_none_out(api: APIClient, limit: int) -> None:
    save(api, "a", channels={"m": "1"}, values=[value("x" * 600_000, "m")])
    for number in range(6):
        api.post("/v1/threads/t%2F1/copy", {"target_id": f"copy{number}"}, format="json")

    threads, address = [], f"/v1/checkpoints?limit={limit}"
    while address:
        page = api.get(address).json()
        threads += [each["thread_id"] for each in page["results"]]
        address = page["next"]

    assert sorted(threads) == [*(f"copy{number}" for number in range(6)), "t/1"]


def test_a_state_saved_again_has_what_it_was_saved_with_last(api: APIClient) -> None:
    save(api, "a", channels={"m": "1", "own": "a"}, values=[value("1", "m"), value("1", "own")])
    again = save(
        api,
        "a",
        parent_id="p",
        channels={"m": "1", "own": "a"},
        values=[value("1", "m"), value("2", "own")],
    )

    (shown,) = listed(api)
    assert (again.status_code, shown["parent_id"]) == (200, "p")
    assert sorted(shown["values"], key=str) == sorted([value("1", "m"), value("2", "own")], key=str)


@pytest.mark.parametrize("text", ["2", "longer"], ids=["same-size", "other-size"])
def test_another_value_at_a_stored_version_is_refused(api: APIClient, text: str) -> None:
    save(api, "a", channels={"m": "1"}, values=[value("1", "m")])

    refused = save(api, "b", channels={"m": "1"}, values=[value(text, "m")])

    assert refused.status_code == 409
    assert list(refused.json()["errors"]) == ["channels"]
    (shown,) = listed(api)
    assert (shown["checkpoint_id"], shown["values"]) == ("a", [value("1", "m")])


def test_an_unchanged_channel_has_the_own_value_of_its_parent(api: APIClient) -> None:
    data = {"channel_versions": {"m": 1}}
    save(api, "a", data=data, channels={"m": "1"}, values=[value("shared", "m")])
    save(api, "b", data=data, channels={"m": "b"}, values=[value("own", "m")])
    for number, parent in (("c", "b"), ("d", "c")):
        saved = save(api, number, parent_id=parent, data=data, channels={"m": "1"})
        assert saved.status_code == 200
    api.post("/v1/checkpoints/prune", {"thread_ids": ["t/1"]}, format="json")

    (last,) = listed(api)
    assert (last["checkpoint_id"], last["values"]) == ("d", [value("own", "m")])
    save(api, "e", parent_id="d", data={}, channels={"m": "2"}, values=[value("new", "m")])
    save(api, "f", parent_id="e", data=data, channels={"m": "2"})
    assert listed(api)[0]["values"] == [value("new", "m")]


def test_names_with_spaces_around_them_are_refused(api: APIClient) -> None:
    save(api, "a")
    for refused in (
        save(api, "a", thread="/v1/threads/t%2F1%20/checkpoints"),
        save(api, "%20a"),
        api.delete("/v1/threads/%20t%2F1/checkpoints"),
        api.get("/v1/checkpoints", {"thread_id": " t/1"}),
        api.post("/v1/threads/t%2F1/copy", {"target_id": "x "}, format="json"),
        api.post("/v1/checkpoints/prune", {"thread_ids": ["t/1 "]}, format="json"),
    ):
        assert refused.status_code == 422, refused.content

    assert [each["thread_id"] for each in listed(api)] == ["t/1"]


def test_a_text_about_an_escaped_nul_is_kept(api: APIClient) -> None:
    told = {"x": "a \\u0000 in JSON", "y": "\\\\u0000"}
    save(api, "a", data=told, metadata=told)

    (shown,) = listed(api)
    assert (shown["data"], shown["metadata"]) == (told, told)
    assert save(api, "b", data={"x": "\\\x00"}).status_code == 422


def test_writers_of_a_new_thread_at_once_all_save(
    committed_db: None, client_of: Callable[..., APIClient]
) -> None:
    cast = make_cast(f"race-{uuid4().hex[:12]}")
    clients = [client_of(cast) for _ in range(4)]

    def one(number: int) -> int:
        try:
            return int(save(clients[number], f"c{number}").status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(one, range(4)))

    assert statuses == [200] * 4
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert GraphThread.objects.count() == 1
        assert GraphCheckpoint.objects.count() == 4
