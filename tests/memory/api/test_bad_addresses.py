"""Query parameters, cursors and paths that cannot be."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from memory.models import Memory
from tests.support.bad_input import (
    JSON,
    NOBODY,
    assert_problem,
    conversation,
    label,
    memory,
    nothing_stored,
    paths,
)

__all__ = ["conversation", "memory", "nothing_stored", "paths"]


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
    ("path", "name", "values"),
    BAD_PARAMETERS,
    ids=[f"{path}-{name}" for path, name, _ in BAD_PARAMETERS],
)
def test_a_bad_query_parameter_is_named(
    api: APIClient, nothing_stored: None, path: str, name: str, values: list[str]
) -> None:
    wanted = "query=tea&" if path.endswith("search") and name != "query" else ""
    for value in values:
        response = api.get(f"{path}?{wanted}{name}={value}")

        errors = assert_problem(response, codes=(422,))["errors"]
        assert any(each == name or each.startswith(f"{name}[") for each in errors), label(value)


@pytest.mark.parametrize(
    ("path", "name"),
    [("/v1/memories/search", "query"), ("/v1/memories", "user"), ("/v1/budget", "user")],
)
def test_parameters_that_are_no_utf_8_are_refused_as_a_body_is(
    api: APIClient, path: str, name: str
) -> None:
    for sent in ("%ff%fe", "a%C3", "%ed%a0%80"):
        problem = assert_problem(api.get(f"{path}?{name}={sent}"), codes=(400,))

        assert "not valid UTF-8" in problem["detail"], sent


def test_parameters_that_are_utf_8_are_read(api: APIClient) -> None:
    for sent in ("M%C3%BCnchen", "100%25", "München", "%F0%9F%8D%B5+tea"):
        assert api.get(f"/v1/memories/search?query={sent}").status_code == 200, sent


@pytest.mark.parametrize("after", ["", "/related"])
def test_one_memory_takes_no_parameters(
    api: APIClient, paths: dict[str, str], memory: Memory, after: str
) -> None:
    problem = assert_problem(api.get(f"/v1/memories/{memory.pk}{after}?limit=3"), codes=(422,))

    assert problem["errors"] == {"limit": ["There is no such field; none is known."]}


@pytest.mark.parametrize(
    "path", ["/v1/memories", "/v1/memories/search?query=tea", "/v1/audit/export?user=sarah"]
)
def test_a_parameter_called_format_is_unknown_like_any_other(api: APIClient, path: str) -> None:
    response = api.get(f"{path}{'&' if '?' in path else '?'}format=xml")

    assert list(assert_problem(response, codes=(422,))["errors"]) == ["format"]


@pytest.mark.parametrize(
    ("path", "name", "known"),
    [
        ("/v1/audit/log", "event", "created"),
        ("/v1/events", "status", "ok, error, skipped"),
        ("/v1/events/counts", "status", "ok, error, skipped"),
    ],
)
def test_a_choice_that_is_none_is_told_which_there_are(
    api: APIClient, path: str, name: str, known: str
) -> None:
    problem = assert_problem(api.get(f"{path}?{name}=foo"), codes=(422,))

    assert '"foo" is none of ' in problem["detail"]
    assert known in problem["detail"]


def test_an_answer_of_another_kind_is_refused_with_the_way_out(api: APIClient) -> None:
    response = api.get("/v1/memories", headers={"Accept": "application/xml"})

    assert "«Accept: application/json»" in assert_problem(response, codes=(406,))["detail"]


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
    "cD0xLjA=",  # "p=1.0"
    "cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk=",  # a position beyond any number
]


@pytest.mark.parametrize("listing", ["memories", "messages"])
def test_a_bad_cursor_does_no_harm(api: APIClient, paths: dict[str, str], listing: str) -> None:
    """It is refused, or where it can be read as a position, it is one; it is never a defect."""
    for cursor in CURSORS:
        response = api.get(f"{paths[listing]}?cursor={cursor}")

        if response.status_code != 200:
            assert_problem(response)


# -- paths -----------------------------------------------------------------------------------
BAD_IDS = ["x", "123", "%00", "%ff", "%ed%a0%80", "..", "g" * 36, "a" * 5000, NOBODY + "x"]


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
    api: APIClient, nothing_stored: None, method: str, path: str
) -> None:
    for given in BAD_IDS:
        # Where "x" stands for nothing, it may be a name: /v1/memories/search is one.
        response = api.generic(method, path.format(given), "{}", content_type=JSON)

        assert_problem(response, codes=(404,))


def test_an_address_that_does_not_exist_is_a_problem_document(api: APIClient) -> None:
    for path in ("/v1/nothing", "/v1/memories/", "/v1/%00", "/nothing/%00"):
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


@pytest.mark.parametrize("name", ["memories", "messages", "contradictions"])
def test_a_cursor_that_no_page_gave_out_is_refused_by_its_name(
    api: APIClient, paths: dict[str, str], name: str
) -> None:
    for cursor in ("x", "bm90IGEgY3Vyc29y", "cD1ub3QtYW4taWQ=", "cD1hYmM=", "bz0tMQ==", "%00", "ж"):
        response = api.get(f"{paths.get(name, '/v1/' + name)}?cursor={cursor}")

        problem = assert_problem(response, codes=(422,))
        assert list(problem["errors"]) == ["cursor"], cursor
        assert problem["title"] == "Invalid input"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/users/{}", ""),
        ("GET", "/v1/users/{}/insights", ""),
        ("PATCH", "/v1/users/{}", '{"role": "member"}'),
        ("PATCH", "/v1/users/{}", '{"has_insights": false}'),
        ("DELETE", "/v1/users/{}", ""),
        ("DELETE", "/v1/users/{}?confirmation=x", ""),
        ("GET", "/v1/projects/{}", ""),
        ("PATCH", "/v1/projects/{}", '{"name": "Apollo"}'),
        ("POST", "/v1/projects/{}/clear", '{"name": "Apollo"}'),
        ("GET", "/v1/agents/{}", ""),
        ("GET", "/v1/agents/{}/versions", ""),
        ("GET", "/v1/threads/{}/checkpoint?user=sarah", ""),
        ("GET", "/v1/threads/{}/changes", ""),
        ("DELETE", "/v1/threads/{}/checkpoints", ""),
        ("GET", "/v1/tasks/{}", ""),
        ("GET", "/v1/models/{}", ""),
    ],
)
def test_a_name_in_the_address_that_cannot_be_one_is_refused(
    api: APIClient, nothing_stored: None, method: str, path: str, body: str
) -> None:
    for given in ("%00", "a%00b", "%20", "n" * 2000):
        response = api.generic(method, path.format(given), body, content_type=JSON)

        assert response.status_code in (400, 404, 422), (given, response.content)
