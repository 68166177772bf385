"""Fields that cannot be: each is named, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.support.bad_input import (
    GOOD,
    JSON,
    LONG,
    NOBODY,
    assert_problem,
    conversation,
    label,
    memory,
    nothing_stored,
    paths,
)

__all__ = ["conversation", "memory", "nothing_stored", "paths"]
TEXTS: list[Any] = ["", "   ", "\n\t", "\x00", "a\x00b", 5, True, None, [], {}, ["a"], {"a": 1}]
TIMES: list[Any] = [
    "2026-02-09T09:04:00",
    "2026-02-09",
    "09:04",
    "yesterday",
    "2026-02-30T09:04:00Z",
    "2026-02-09T25:00:00Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "\x00",
    0,
    1770627840,
    True,
    [],
    {},
]
NAMES: list[Any] = [
    "", " ", "\x00", "a\nb", "a\u202eb", "\ud800", "n" * 201, 5, True, [], {},
]  # fmt: skip
CHOICES: list[Any] = ["", "gossip", "USER", "\x00", "\ud800", 1, True, None, [], {}, ["user"]]
NUMBERS: list[Any] = [
    0, 11, -1, 5.5, 10**30, -(10**400), "5", "five", "", True, None, [], {},
]  # fmt: skip
SHARES: list[Any] = [-0.1, 1.1, 10**400, "nan", "NaN", "inf", "half", True, None, [], {}]
SWITCHES: list[Any] = ["true", "yes", 1, 0, "", [], {}]
IDS: list[Any] = ["", "x", "\x00", "\ud800", "123", 1.5, [], {}, "g" * 32]
BAD_FIELDS: list[tuple[str, str, str, list[Any]]] = [
    ("conversations", "agent", "agent", [*NAMES, None, "n" * 101]),
    ("conversations", "user", "user", [*NAMES, None]),
    ("conversations", "project", "project", [*NAMES, "n" * 101]),
    ("conversations", "thread_id", "thread_id", NAMES),
    ("extract", "wait", "wait", [*SWITCHES, None]),
    ("memories", "content", "content", [*TEXTS, LONG, "\ud800", "a\udfffb", "\u200b\u2060"]),
    ("memories", "memory_type", "memory_type", CHOICES),
    ("memories", "importance", "importance", NUMBERS),
    ("memories", "is_pinned", "is_pinned", [*SWITCHES, None]),
    ("memories", "check", "check", [*SWITCHES, None]),
    ("memories", "confidence", "confidence", SHARES),
    ("memories", "agent", "agent", [*NAMES, "n" * 101]),
    ("memories", "user", "user", NAMES),
    ("memories", "project", "project", [*NAMES, "n" * 101]),
    ("memories", "external_id", "external_id", NAMES),
    ("memories", "subject", "subject", ["\x00", "a\nb", "\ud800", "s" * 201, 5, [], {}]),
    ("memories", "category", "category", ["\x00", "a\nb", "\ud800", "c" * 101, 5, [], {}]),
    ("memories", "conversation", "conversation", IDS),
    ("memories", "created_at", "created_at", TIMES),
    ("memories", "valid_from", "valid_from", TIMES),
    ("memories", "valid_to", "valid_to", TIMES),
    (
        *("memories", "ttl", "ttl"),
        [0, -5, 1.5, True, "60", "P", "1 day", "-P1D", "PT0S", "P101Y", 10**30, [], {}],
    ),
    ("memories", "tags", "tags", ["a", {}, 5, None, {"0": "a"}, ["t"] * 51]),
    ("memories", "tags", "tags[1]", [["good", each] for each in [*NAMES, None, "n" * 101]]),
    ("memories", "message_ids", "message_ids", ["a", {}, 5, None]),
    ("memories", "message_ids", "message_ids[0]", [[each] for each in [*IDS, None]]),
    ("pin", "pinned", "pinned", [*SWITCHES, None]),
    ("retrieve", "query", "query", [*TEXTS, "q" * 8001, "\ud800"]),
    ("retrieve", "agent", "agent", [*NAMES, None, "n" * 101]),
    ("retrieve", "user", "user", NAMES),
    ("retrieve", "project", "project", [*NAMES, "n" * 101]),
    ("retrieve", "conversation", "conversation", IDS),
    ("retrieve", "token_budget", "token_budget", [0, 99, -5, 1.5, 10**30, "500", True, [], {}]),
    ("retrieve", "limit", "limit", [0, 501, -5, 1.5, 10**30, "5", True, [], {}]),
    ("retrieve", "include_cold", "include_cold", [*SWITCHES, None]),
]


@pytest.mark.parametrize(
    ("name", "field", "named", "values"),
    BAD_FIELDS,
    ids=[f"{name}-{named}" for name, _, named, _ in BAD_FIELDS],
)
def test_a_bad_field_is_named(
    api: APIClient,
    paths: dict[str, str],
    nothing_stored: None,
    name: str,
    field: str,
    named: str,
    values: list[Any],
) -> None:
    for value in values:
        body = json.dumps({**GOOD[name], field: value})

        response = api.generic("POST", paths[name], body, content_type=JSON)

        problem = assert_problem(response, codes=(422,))
        assert problem["errors"].get(named, [""])[0], label(value)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("content", [*TEXTS, LONG, "\ud800"]),
        ("role", CHOICES),
        ("created_at", TIMES),
        ("external_id", NAMES),
        ("name", ["\x00", "a\nb", "\ud800", "n" * 201, 5, [], {}]),
        ("colour", ["red"]),
    ],
)
def test_a_bad_message_is_named_by_its_place(
    api: APIClient, paths: dict[str, str], nothing_stored: None, field: str, values: list[Any]
) -> None:
    good = {"role": "user", "content": "Hello."}
    for value in values:
        body = json.dumps({"messages": [good, {**good, field: value}, good]})

        response = api.generic("POST", paths["messages"], body, content_type=JSON)

        assert f"messages[1].{field}" in assert_problem(response, codes=(422,))["errors"]


def test_a_bad_list_of_messages_is_named(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    bad: list[object] = [[], {}, None, "text", 5, {"0": {}}, [{"role": "user"}] * 501]
    for value in bad:
        response = api.post(paths["messages"], {"messages": value}, format="json")

        errors = assert_problem(response, codes=(422,))["errors"]
        assert any(name.startswith("messages") for name in errors), label(value)


def test_a_bad_memory_in_a_list_is_named_by_its_place(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    bad: list[object] = [None, 5, "text", [], {}, {"content": ""}, {"content": LONG}]
    for each in bad:
        response = api.post(paths["memories"], [GOOD["memories"], each], format="json")

        errors = assert_problem(response, codes=(422,))["errors"]
        assert all(name.startswith("[1]") for name in errors), label(each)


def test_501_memories_are_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    response = api.post(paths["memories"], [GOOD["memories"]] * 501, format="json")

    assert "500" in assert_problem(response, codes=(422,))["detail"]


def test_texts_of_more_than_two_million_characters_are_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    long = "x " * 15_000
    memories = [{**GOOD["memories"], "content": long}] * 67
    messages = {"messages": [{"role": "user", "content": long}] * 67}
    for name, body in (("memories", memories), ("messages", messages)):
        response = api.post(paths[name], body, format="json")

        assert "2,000,000 characters" in str(assert_problem(response, codes=(422,)))


def test_no_memories_at_all_are_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    assert_problem(api.post(paths["memories"], [], format="json"), codes=(422,))


def test_a_time_that_ends_before_it_begins_is_named(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    body = {
        **GOOD["memories"],
        "valid_from": "2026-02-02T00:00:00Z",
        "valid_to": "2026-02-01T00:00:00Z",
    }

    response = api.post(paths["memories"], body, format="json")

    assert "valid_to" in assert_problem(response, codes=(422,))["errors"]


def test_two_ends_are_one_too_many(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    body = {**GOOD["memories"], "valid_to": "2026-02-02T00:00:00Z", "ttl": 60}

    response = api.post(paths["memories"], body, format="json")

    assert "ttl" in assert_problem(response, codes=(422,))["errors"]


@pytest.mark.parametrize("kind", ["agent_private", "identity"])
def test_a_memory_of_an_agent_without_one_is_named(
    api: APIClient, paths: dict[str, str], nothing_stored: None, kind: str
) -> None:
    body = {**GOOD["memories"], "memory_type": kind, "user": "somebody-new"}

    one = api.post(paths["memories"], body, format="json")
    many = api.post(paths["memories"], [GOOD["memories"], body], format="json")

    assert "agent" in assert_problem(one, codes=(422,))["errors"]
    assert "[1].agent" in assert_problem(many, codes=(422,))["errors"]


@pytest.mark.parametrize(("field", "value"), [("conversation", NOBODY), ("message_ids", [NOBODY])])
def test_a_source_that_does_not_exist_is_named(
    api: APIClient, paths: dict[str, str], nothing_stored: None, field: str, value: Any
) -> None:
    response = api.post(
        paths["memories"],
        [GOOD["memories"], {**GOOD["memories"], "user": "somebody-new", field: value}],
        format="json",
    )

    assert f"[1].{field}" in assert_problem(response, codes=(404, 422))["errors"]


def test_the_longest_content_is_taken(api: APIClient, paths: dict[str, str]) -> None:
    longest = "y" * 32_000

    memory = api.post(paths["memories"], {"content": longest}, format="json")
    message = api.post(
        paths["messages"], {"messages": [{"role": "user", "content": longest}]}, format="json"
    )

    assert (memory.status_code, message.status_code) == (201, 201)
    assert memory.json()["content"] == longest
