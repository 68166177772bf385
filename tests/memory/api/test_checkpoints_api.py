"""A thread's saved state: versions, preconditions, sizes, and whose it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from memory.api.threads import LoadedCheckpointSerializer, SavedCheckpointSerializer
from teams.errors import InvalidError
from teams.models import Checkpoint
from teams.services.checkpoints import checkpoint_text
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast

URL = "/v1/threads/t-1/checkpoint"
STATE = {"step": 3, "b": [1.0, None, True], "a": {"ü": "\U0001f642 \x00 end"}}


def save(api: APIClient, data: object, url: str = URL, **headers: str) -> Any:
    return api.put(url, {"user": "sarah", "data": data}, format="json", headers=headers)


def load(api: APIClient, query: str = "user=sarah", url: str = URL, **headers: str) -> Any:
    return api.get(f"{url}?{query}", headers=headers)


def test_a_state_comes_back_as_it_was_saved(api: APIClient) -> None:
    first = save(api, STATE)

    assert first.status_code == 201
    assert first["ETag"] == '"1"'
    found = load(api)
    assert found.status_code == 200
    assert found["Content-Type"] == "application/json"
    assert found["ETag"] == '"1"'
    shown = found.json()
    assert shown["data"] == STATE
    assert list(shown["data"]) == ["step", "b", "a"]
    text = json.dumps(STATE, ensure_ascii=False, separators=(",", ":"))
    assert shown["bytes"] == len(text.encode())
    assert (shown["thread_id"], shown["user"], shown["agent"]) == ("t-1", "sarah", None)
    assert shown["saved_by"].startswith("key:")
    assert datetime.fromisoformat(shown["saved_at"]).utcoffset() == timedelta(0)
    # The answers are written by hand, for speed.
    assert set(first.json()) == set(SavedCheckpointSerializer().fields)
    assert set(shown) == set(LoadedCheckpointSerializer().fields)


def test_each_save_is_a_version_and_the_last_one_stands(api: APIClient) -> None:
    for step in (1, 2, 3):
        answer = save(api, {"step": step})
        assert answer.json()["version"] == step

    assert load(api).json()["data"] == {"step": 3}
    assert load(api, "user=sarah&version=1").json()["data"] == {"step": 1}
    assert load(api).json()["versions"] == [3, 2, 1]


def test_history_is_kept_to_its_depth(api: APIClient, settings: Any) -> None:
    settings.CHECKPOINT_VERSIONS = 3
    for step in range(1, 8):
        save(api, {"step": step})
    save(api, {"step": 1}, url="/v1/threads/other/checkpoint")

    assert load(api).json()["versions"] == [7, 6, 5]
    gone = load(api, "user=sarah&version=4")
    assert gone.status_code == 404
    assert "not kept" in gone.json()["detail"]
    assert Checkpoint.objects.count() == 4


def test_an_update_of_an_old_version_is_refused(api: APIClient) -> None:
    seen = save(api, {"step": 1})["ETag"]
    save(api, {"step": 2})

    lost = save(api, {"step": "mine"}, **{"If-Match": seen})

    assert lost.status_code == 412
    assert lost["Content-Type"] == "application/problem+json"
    assert "version 2" in lost.json()["detail"]
    assert load(api).json()["data"] == {"step": 2}
    assert save(api, {"step": 3}, **{"If-Match": '"2"'}).json()["version"] == 3


@pytest.mark.parametrize(
    ("header", "value", "before", "after"),
    [
        ("If-None-Match", "*", 201, 412),
        ("If-Match", "*", 412, 200),
        ("If-Match", '"1"', 412, 200),
        ("If-Match", '"7", "1"', 412, 200),
        ("If-Match", 'W/"1"', 412, 412),
        ("If-Match", '"another"', 412, 412),
        ("If-None-Match", '"1"', 201, 412),
        ("If-None-Match", '"2"', 201, 200),
        ("If-Match", "1", 422, 422),
        ("If-Match", '"1" "2', 422, 422),
    ],
)
def test_preconditions_hold_before_and_after_the_first_save(
    api: APIClient, header: str, value: str, before: int, after: int
) -> None:
    assert save(api, {"n": 1}, **{header: value}).status_code == before
    if before != 201:
        assert load(api).status_code == 404
        save(api, {"n": 1})
    assert save(api, {"n": 2}, **{header: value}).status_code == after
    assert load(api).json()["data"] == {"n": 2 if after == 200 else 1}


def test_who_has_the_version_that_stands_is_not_sent_it_again(api: APIClient) -> None:
    tag = save(api, {"n": 1})["ETag"]

    same = load(api, **{"If-None-Match": f"W/{tag}"})

    assert (same.status_code, same.content, same["ETag"]) == (304, b"", tag)
    save(api, {"n": 2})
    assert load(api, **{"If-None-Match": tag}).status_code == 200


def test_a_state_that_is_too_large_is_refused_and_changes_nothing(
    api: APIClient, settings: Any
) -> None:
    settings.CHECKPOINT_MAX_BYTES = 2_000
    save(api, {"n": 1})

    refused = save(api, {"text": "ü" * 1_000})

    assert refused.status_code == 413
    problem = refused.json()
    assert problem["status"] == 413
    assert "at most 2000 bytes" in problem["detail"]
    assert "data" in problem["errors"]
    assert load(api).json()["versions"] == [1]
    assert save(api, {"text": "u" * 1_980}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"user": "sarah"},
        {"user": "sarah", "data": None},
        {"user": "sarah", "data": [1]},
        {"user": "sarah", "data": "text"},
        {"user": "", "data": {}},
        {"data": {}},
        {"user": "sarah", "data": {}, "version": 3},
        {"user": "sarah", "data": {"half": "\ud83d"}},
    ],
)
def test_what_is_no_state_is_refused(api: APIClient, body: object) -> None:
    response = api.put(URL, json.dumps(body), content_type="application/json")

    assert response.status_code == 422
    assert not Checkpoint.objects.exists()


def test_a_number_beyond_json_is_refused(api: APIClient) -> None:
    response = api.put(
        URL, '{"user": "sarah", "data": {"n": 1e999}}', content_type="application/json"
    )

    assert response.status_code == 422


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=8,
        ),
    )
)
def test_the_stored_text_says_the_same_or_is_refused(data: dict[str, Any]) -> None:
    try:
        text = checkpoint_text(data)
    except InvalidError:
        return
    assert json.loads(text) == data
    assert "\x00" not in text


def test_threads_users_and_agents_have_states_of_their_own(api: APIClient, acme: Cast) -> None:
    save(api, {"of": "sarah"})
    api.put(URL, {"user": "dmitri", "data": {"of": "dmitri"}}, format="json")
    api.put(URL, {"user": "sarah", "agent": "kyra", "data": {"of": "kyra"}}, format="json")
    save(api, {"of": "a/b"}, url="/v1/threads/a/b/checkpoint")

    assert load(api).json()["data"] == {"of": "sarah"}
    assert load(api, "user=dmitri").json()["data"] == {"of": "dmitri"}
    of_kyra = load(api, "user=sarah&agent=kyra").json()
    assert (of_kyra["data"], of_kyra["agent"]) == ({"of": "kyra"}, "kyra")
    slashed = load(api, url="/v1/threads/a/b/checkpoint").json()
    assert (slashed["data"], slashed["thread_id"]) == ({"of": "a/b"}, "a/b")
    assert load(api, "user=nobody").status_code == 404


def test_a_key_of_an_agent_saves_and_sees_that_agents_state(
    acme: Cast, api: APIClient, client_of: Callable[..., APIClient]
) -> None:
    kyra, luke = client_of(acme, acme.kyra), client_of(acme, acme.luke)
    save(api, {"of": "team"})

    assert save(kyra, {"of": "kyra"}).status_code == 201

    assert load(kyra).json()["data"] == {"of": "kyra"}
    assert load(luke).status_code == 404
    assert load(luke, "user=sarah&agent=kyra").status_code == 403
    assert load(api, "user=sarah&agent=kyra").json()["data"] == {"of": "kyra"}
    other = {"user": "sarah", "agent": "kyra", "data": {}}
    assert luke.put(URL, other, format="json").status_code == 403


def test_another_team_sees_nothing(
    api: APIClient, globex: Cast, client_of: Callable[..., APIClient]
) -> None:
    save(api, {"secret": 1})

    assert load(client_of(globex)).status_code == 404


def test_of_many_who_change_the_same_version_one_succeeds(
    committed_db: None, client_of: Callable[..., APIClient]
) -> None:
    cast = make_cast(f"race-{uuid4().hex[:12]}")
    clients = [client_of(cast) for _ in range(6)]

    def change(number: int) -> int:
        try:
            tag: dict[str, str] = {}
            wins = 0
            for _ in range(10):
                found = load(clients[number])
                count = found.json()["data"]["count"] if found.status_code == 200 else 0
                tag = (
                    {"If-Match": found["ETag"]}
                    if found.status_code == 200
                    else {"If-None-Match": "*"}
                )
                answer = save(clients[number], {"count": count + 1}, **tag)
                assert answer.status_code in (200, 201, 412)
                wins += answer.status_code != 412
            return wins
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        wins = sum(pool.map(change, range(6)))

    final = load(clients[0]).json()
    # Every save that was acknowledged counts, none was overwritten unseen.
    assert final["data"]["count"] == wins == final["version"]
    assert 10 <= wins <= 60


def test_unconditional_savers_get_versions_of_their_own(
    committed_db: None, client_of: Callable[..., APIClient]
) -> None:
    cast = make_cast(f"race-{uuid4().hex[:12]}")
    clients = [client_of(cast) for _ in range(4)]

    def change(number: int) -> list[int]:
        try:
            return [save(clients[number], {"by": number}).json()["version"] for _ in range(5)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        versions = [each for found in pool.map(change, range(4)) for each in found]

    assert sorted(versions) == list(range(1, 21))
    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert Checkpoint.objects.count() == 10
