"""Whatever is wrong with a request is refused with a problem document, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from tests.support.bad_input import (
    GOOD,
    JSON,
    assert_problem,
    conversation,
    memory,
    nothing_stored,
    paths,
)
from tests.support.cast import Cast

__all__ = ["conversation", "memory", "nothing_stored", "paths"]


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
    "a name that stands twice": b'{"content": "One.", "content": "Two."}',
    "a name that stands twice within": b'{"messages": [{"role": "user", "role": "tool"}]}',
    "a number of 5000 digits": b'{"content": "x", "importance": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"extract"}))
def test_a_body_that_is_no_json_is_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str
) -> None:
    for what, body in NOT_JSON.items():
        response = api.generic("POST", paths[name], body, content_type=JSON)  # type: ignore[arg-type]

        assert response.status_code in (400, 422), what
        assert_problem(response, codes=(400, 422))


@pytest.mark.parametrize("name", GOOD)
def test_a_body_of_another_shape_is_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str
) -> None:
    for body in ('"text"', "5", "true", "null", "[5]", '["text"]', "[[]]", "1e400"):
        response = api.generic("POST", paths[name], body, content_type=JSON)

        assert "errors" in assert_problem(response, codes=(422,)), body


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"extract"}))
def test_a_body_without_its_fields_is_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str
) -> None:
    response = api.generic("POST", paths[name], "{}", content_type=JSON)

    assert "errors" in assert_problem(response, codes=(422,))


@pytest.mark.parametrize("name", GOOD)
def test_another_media_type_is_refused(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str
) -> None:
    for media in ("text/plain", "application/xml", "multipart/form-data"):
        response = api.generic("POST", paths[name], json.dumps(GOOD[name]), content_type=media)

        problem = assert_problem(response, codes=(415,))
        assert "«Content-Type: application/json»" in problem["detail"], media


@pytest.mark.parametrize("name", GOOD)
def test_an_unknown_field_is_named(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str
) -> None:
    response = api.post(paths[name], {**GOOD[name], "contnet": "x"}, format="json")

    assert "contnet" in assert_problem(response, codes=(422,))["errors"]


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=ANY_JSON, name=st.sampled_from(sorted(GOOD)))
def test_no_body_is_a_defect_of_ours(
    api: APIClient, paths: dict[str, str], body: Any, name: str
) -> None:
    response = api.generic("POST", paths[name], json.dumps(body), content_type=JSON)

    assert response.status_code < 500
    if response.status_code >= 400:
        assert_problem(response, codes=(400, 403, 404, 409, 422))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.dictionaries(
        st.sampled_from(["query", "limit", "cursor", "tag", "user", "created_after", "status"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
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
