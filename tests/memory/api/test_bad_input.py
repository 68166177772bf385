"""Whatever is wrong with a request is refused with a problem document, and nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from audit.models import MemoryLog
from memory.models import Job, Memory, SearchEntry
from teams.models import Agent, Conversation, EndUser, Message, Project
from tests import factories
from tests.conftest import Cast

JSON = "application/json"
NOBODY = "01920000-0000-7000-8000-00000000dead"
PROBLEM = "application/problem+json"
LONG = "x" * 32_001
STORED = (Agent, EndUser, Project, Conversation, Message, Memory, SearchEntry, MemoryLog, Job)

Answer = Any  # a response of the test client


def counts() -> dict[str, int]:
    """How many rows the team has of everything a request may store."""
    return {model.__name__: model._default_manager.count() for model in STORED}


def assert_problem(response: Answer, *, codes: tuple[int, ...] = (400, 404, 422)) -> dict[str, Any]:
    """The problem document of a refusal."""
    assert response.status_code in codes, response.content[:500]
    assert response["Content-Type"] == PROBLEM
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == response.status_code
    assert body["title"]
    assert body["detail"]
    return body


@pytest.fixture
def conversation(acme: Cast) -> Conversation:
    """A conversation to post to."""
    return factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )


@pytest.fixture
def memory(acme: Cast) -> Memory:
    """A memory to act on."""
    return factories.MemoryFactory.create(team=acme.team)


@pytest.fixture
def paths(conversation: Conversation, memory: Memory) -> dict[str, str]:
    """The addresses that take a body, by name."""
    return {
        "conversations": "/v1/conversations",
        "messages": f"/v1/conversations/{conversation.pk}/messages",
        "extract": f"/v1/conversations/{conversation.pk}/extract",
        "memories": "/v1/memories",
        "pin": f"/v1/memories/{memory.pk}/pin",
        "retrieve": "/v1/retrieve",
        "query": "/v1/memory/query",
    }


@pytest.fixture
def nothing_stored(paths: dict[str, str]) -> Iterator[None]:
    """Fails the test when a request stored something."""
    before = counts()
    yield
    assert counts() == before


GOOD: dict[str, dict[str, Any]] = {
    "conversations": {"agent": "kyra", "user": "sarah"},
    "messages": {"messages": [{"role": "user", "content": "Hello."}]},
    "extract": {"wait": True},
    "memories": {"content": "Sarah lives in Berlin."},
    "pin": {"pinned": True},
    "retrieve": {"agent": "kyra", "query": "Where does Sarah live?"},
    "query": {"agent": "kyra", "query": "Where does Sarah live?", "filters": {"pinned": False}},
}


@pytest.mark.parametrize("name", GOOD)
def test_the_good_body_of_each_address_is_taken(
    api: APIClient, paths: dict[str, str], name: str
) -> None:
    response = api.post(paths[name], GOOD[name], format="json")

    assert response.status_code in (200, 201, 202)


# -- bodies ----------------------------------------------------------------------------------

NOT_JSON = {
    "empty text": b"",
    "words": b"hello",
    "half an object": b'{"agent": ',
    "two documents": b"{} {}",
    "single quotes": b"{'agent': 'kyra'}",
    "NaN": b'{"content": "x", "importance": NaN}',
    "Infinity": b'{"content": "x", "confidence": Infinity}',
    "not UTF-8": b'{"content": "\xff\xfe"}',
    "nested too deeply": b"[" * 100_000 + b"]" * 100_000,
    "objects nested too deeply": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a number of 5000 digits": b'{"content": "x", "importance": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"extract"}))
@pytest.mark.parametrize("body", NOT_JSON.values(), ids=list(NOT_JSON))
def test_a_body_that_is_no_json_is_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str, body: bytes
) -> None:
    response = api.generic("POST", paths[name], body, content_type=JSON)  # type: ignore[arg-type]

    assert_problem(response, codes=(400, 422))


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("body", ['"text"', "5", "true", "[5]", '["text"]', "[[]]", "1e400"])
def test_a_body_of_another_shape_is_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str, body: str
) -> None:
    response = api.generic("POST", paths[name], body, content_type=JSON)

    assert "errors" in assert_problem(response, codes=(422,))


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"extract"}))
@pytest.mark.parametrize("body", ["null", "{}"])
def test_a_body_without_its_fields_is_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str, body: str
) -> None:
    response = api.generic("POST", paths[name], body, content_type=JSON)

    assert "errors" in assert_problem(response, codes=(422,))


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("media", ["text/plain", "application/xml", "multipart/form-data"])
def test_another_media_type_is_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str, media: str
) -> None:
    response = api.generic("POST", paths[name], json.dumps(GOOD[name]), content_type=media)

    assert_problem(response, codes=(415,))


@pytest.mark.parametrize("name", GOOD)
def test_an_unknown_field_is_named(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str
) -> None:
    response = api.post(paths[name], {**GOOD[name], "contnet": "x"}, format="json")

    assert "contnet" in assert_problem(response, codes=(422,))["errors"]


# -- fields ----------------------------------------------------------------------------------

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


def _label(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 24 else f"{text[:20]}...{len(text)}"


@pytest.mark.parametrize(
    ("name", "field", "named", "value"),
    [
        pytest.param(name, field, named, value, id=f"{name}-{named}-{_label(value)}")
        for name, field, named, values in BAD_FIELDS
        for value in values
    ],
)
def test_a_bad_field_is_named(
    api: APIClient,
    paths: dict[str, str],
    nothing_stored: None,
    name: str,
    field: str,
    named: str,
    value: Any,
) -> None:
    body = json.dumps({**GOOD[name], field: value})

    response = api.generic("POST", paths[name], body, content_type=JSON)

    problem = assert_problem(response, codes=(422,))
    assert named in problem["errors"]
    assert problem["errors"][named][0]


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


@pytest.mark.parametrize("value", [[], {}, None, "text", 5, {"0": {}}, [{"role": "user"}] * 501])
def test_a_bad_list_of_messages_is_named(
    api: APIClient, paths: dict[str, str], nothing_stored: None, value: Any
) -> None:
    response = api.post(paths["messages"], {"messages": value}, format="json")

    errors = assert_problem(response, codes=(422,))["errors"]
    assert any(name.startswith("messages") for name in errors)


@pytest.mark.parametrize("each", [None, 5, "text", [], {}, {"content": ""}, {"content": LONG}])
def test_a_bad_memory_in_a_list_is_named_by_its_place(
    api: APIClient, paths: dict[str, str], nothing_stored: None, each: Any
) -> None:
    response = api.post(paths["memories"], [GOOD["memories"], each], format="json")

    errors = assert_problem(response, codes=(422,))["errors"]
    assert all(name.startswith("[1]") for name in errors)


def test_501_memories_are_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    response = api.post(paths["memories"], [GOOD["memories"]] * 501, format="json")

    assert "500" in assert_problem(response, codes=(422,))["detail"]


def test_501_messages_are_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None
) -> None:
    one = {"role": "user", "content": "Hello."}

    response = api.post(paths["messages"], {"messages": [one] * 501}, format="json")

    assert "messages" in assert_problem(response, codes=(422,))["errors"]


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


# -- query parameters ------------------------------------------------------------------------

BAD_PARAMETERS: list[tuple[str, str, list[str]]] = [
    ("/v1/memories", "memory_type", ["gossip", "%00", "semantic,gossip"]),
    ("/v1/memories", "status", ["gone", "%00"]),
    ("/v1/memories", "tier", ["tepid", "%00"]),
    ("/v1/memories", "agent", ["%00", "", "n" * 101, "a%0Ab"]),
    ("/v1/memories", "user", ["%00", "", "n" * 201]),
    ("/v1/memories", "project", ["%00", "", "n" * 101]),
    ("/v1/memories", "conversation", ["x", "%00", "", "123"]),
    ("/v1/memories", "subject", ["%00", "s" * 201]),
    ("/v1/memories", "category", ["%00", "c" * 101]),
    ("/v1/memories", "tag", ["%00", "t" * 101]),
    ("/v1/memories", "is_pinned", ["maybe", "%00", "2"]),
    ("/v1/memories", "min_importance", ["0", "11", "x", "", "1.5", "9" * 5000]),
    ("/v1/memories", "max_importance", ["0", "11", "x", ""]),
    ("/v1/memories", "created_after", ["yesterday", "2026-02-09T09:04:00", "%00", ""]),
    ("/v1/memories", "created_before", ["yesterday", "2026-02-09", "%00"]),
    ("/v1/memories", "limit", ["0", "501", "-1", "x", "", "%00", "9" * 5000]),
    ("/v1/memories", "colour", ["red"]),
    ("/v1/memories/search", "query", ["", "%20", "%00", "q" * 8001]),
    ("/v1/memories/search", "memory_types", ["gossip", "%00"]),
    ("/v1/memories/search", "agent", ["%00", "", "n" * 101]),
    ("/v1/memories/search", "user", ["%00", "", "n" * 201]),
    ("/v1/memories/search", "min_importance", ["0", "11", "x"]),
    ("/v1/memories/search", "include_cold", ["maybe", "%00"]),
    ("/v1/memories/search", "limit", ["0", "501", "x"]),
    ("/v1/memories/search", "colour", ["red"]),
]


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        pytest.param(path, name, value, id=f"{path}-{name}-{_label(value)}")
        for path, name, values in BAD_PARAMETERS
        for value in values
    ],
)
def test_a_bad_query_parameter_is_named(
    api: APIClient, nothing_stored: None, path: str, name: str, value: str
) -> None:
    wanted = "query=tea&" if path.endswith("search") and name != "query" else ""

    response = api.get(f"{path}?{wanted}{name}={value}")

    errors = assert_problem(response, codes=(422,))["errors"]
    assert any(each == name or each.startswith(f"{name}[") for each in errors)


def test_a_search_without_a_query_is_refused(api: APIClient) -> None:
    assert "query" in assert_problem(api.get("/v1/memories/search"), codes=(422,))["errors"]


CURSORS = [
    "x",
    "%00",
    "bm90IGEgY3Vyc29y",  # "not a cursor"
    "cD1hYmM=",  # "p=abc": a position that is no id
    "cD0%3D",
    "cj0xJnA9MQ==",  # "r=1&p=1"
    "bz0tMQ==",  # "o=-1"
    "bz05OTk5OTk5OTk5OTk5OTk5OTk5OTk=",  # an offset of 23 digits
    "cD0wMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDAw",  # one digit too many
    "c" * 5000,
    "cD0A",  # "p=" and a NUL
    "cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk=",  # a position beyond any number
]


@pytest.mark.parametrize("cursor", CURSORS, ids=_label)
@pytest.mark.parametrize("listing", ["memories", "messages"])
def test_a_bad_cursor_does_no_harm(
    api: APIClient, paths: dict[str, str], listing: str, cursor: str
) -> None:
    """It is refused, or where it can be read as a position, it is one; it is never a defect."""
    response = api.get(f"{paths[listing]}?cursor={cursor}")

    if response.status_code != 200:
        assert_problem(response)


@pytest.mark.parametrize("cursor", ["cD1hYmM=", "x", "%00"], ids=_label)
@pytest.mark.parametrize("listing", ["memories", "messages"])
def test_a_cursor_of_nobodys_is_refused(
    api: APIClient, paths: dict[str, str], listing: str, cursor: str
) -> None:
    assert_problem(api.get(f"{paths[listing]}?cursor={cursor}"))


# -- paths -----------------------------------------------------------------------------------

BAD_IDS = ["x", "123", "%00", "%ff", "%ed%a0%80", "..", "g" * 36, "a" * 5000, NOBODY + "x"]


@pytest.mark.parametrize("given", BAD_IDS, ids=_label)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/memories/{}"),
        ("DELETE", "/v1/memories/{}"),
        ("POST", "/v1/memories/{}/pin"),
        ("GET", "/v1/conversations/{}"),
        ("GET", "/v1/conversations/{}/messages"),
        ("POST", "/v1/conversations/{}/messages"),
        ("POST", "/v1/conversations/{}/extract"),
        ("POST", "/v1/conversations/{}/close"),
        ("GET", "/v1/jobs/{}"),
    ],
)
def test_a_path_with_a_bad_id_is_not_found(
    api: APIClient, nothing_stored: None, method: str, path: str, given: str
) -> None:
    response = api.generic(method, path.format(given), "{}", content_type=JSON)

    # Where "x" stands for nothing, it may be a name: /v1/memories/search is one.
    assert_problem(response, codes=(404,))


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/memories/", "/v1/%00", "/nothing/%00"])
def test_an_address_that_does_not_exist_is_a_problem_document(api: APIClient, path: str) -> None:
    assert_problem(api.get(path), codes=(404,))


@pytest.mark.parametrize(
    ("method", "name"),
    [("PUT", "memories"), ("PATCH", "conversations"), ("DELETE", "messages"), ("GET", "retrieve")],
)
def test_a_method_that_does_not_exist_is_a_problem_document(
    api: APIClient, paths: dict[str, str], nothing_stored: None, method: str, name: str
) -> None:
    response = api.generic(method, paths[name], "{}", content_type=JSON)

    assert assert_problem(response, codes=(405,))["title"] == "Method not allowed"
    assert method not in response["Allow"]


@pytest.mark.parametrize(
    "cursor", ["x", "bm90IGEgY3Vyc29y", "cD1ub3QtYW4taWQ=", "bz0tMQ==", "%00", "ж"]
)
@pytest.mark.parametrize("name", ["memories", "messages", "contradictions"])
def test_a_cursor_that_no_page_gave_out_is_refused_by_its_name(
    api: APIClient, paths: dict[str, str], name: str, cursor: str
) -> None:
    response = api.get(f"{paths.get(name, '/v1/' + name)}?cursor={cursor}")

    problem = assert_problem(response, codes=(422,))
    assert list(problem["errors"]) == ["cursor"]
    assert problem["title"] == "Invalid input"


# -- anything at all -------------------------------------------------------------------------

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["kyra", "sarah", "user", "semantic", "2026-02-09T09:04:00Z", "\x00"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "agent",
                    "user",
                    "messages",
                    "role",
                    "content",
                    "query",
                    "importance",
                    "tags",
                    "pinned",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=ANY_JSON, name=st.sampled_from(sorted(GOOD)))
def test_no_body_is_a_defect_of_ours(
    api: APIClient, paths: dict[str, str], body: Any, name: str
) -> None:
    response = api.generic("POST", paths[name], json.dumps(body), content_type=JSON)

    assert response.status_code < 500
    if response.status_code >= 400:
        assert_problem(response, codes=(400, 403, 404, 409, 422))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.dictionaries(
        st.sampled_from(["query", "limit", "cursor", "tag", "user", "created_after", "status"]),
        st.text(st.characters(codec="utf-8"), max_size=12),
        max_size=3,
    ),
    path=st.sampled_from(["/v1/memories", "/v1/memories/search"]),
)
def test_no_query_is_a_defect_of_ours(
    api: APIClient, acme: Cast, values: dict[str, str], path: str
) -> None:
    query = "&".join(f"{name}={quote(value)}" for name, value in values.items())

    response = api.get(f"{path}?{query}")

    assert response.status_code in (200, 404, 422)
