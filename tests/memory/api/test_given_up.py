"""A read ends when its client has gone, and a write is completed."""

from __future__ import annotations

from rest_framework.test import APIClient

from tests.support.bad_input import assert_problem

GONE = {"palimpsest.is_gone": lambda: True}
THERE = {"palimpsest.is_gone": lambda: False}


def test_a_read_whose_client_has_gone_asks_the_database_nothing_more(api: APIClient) -> None:
    query = {"agent": "kyra", "query": "Where does Sarah live?"}

    listed = api.get("/v1/memories", **GONE)  # type: ignore[arg-type]
    retrieved = api.post("/v1/retrieve", query, format="json", **GONE)  # type: ignore[arg-type]

    for each in (listed, retrieved):
        assert assert_problem(each, codes=(499,))["title"] == "Client closed request"


def test_a_read_whose_client_waits_is_answered(api: APIClient) -> None:
    assert api.get("/v1/memories", **THERE).status_code == 200  # type: ignore[arg-type]


def test_a_write_is_stored_although_its_client_has_gone(api: APIClient) -> None:
    body = {"content": "Sarah lives in Berlin."}

    sent = api.post("/v1/memories", body, format="json", **GONE)  # type: ignore[arg-type]

    assert sent.status_code == 201
    assert api.get(f"/v1/memories/{sent.json()['id']}").json()["content"] == body["content"]
