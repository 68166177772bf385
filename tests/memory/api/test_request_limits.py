"""Requests larger than any need are refused before they are built, in a few words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from config.parsers import MAX_DEPTH, MAX_VALUES
from memory.api.base import MAX_PARAMETERS
from memory.api.schemas import MAX_PARAMETER_VALUES
from tests import factories
from tests.support.bad_input import (
    JSON,
    assert_problem,
    conversation,
    memory,
    nothing_stored,
    paths,
)
from tests.support.cast import Cast

__all__ = ["conversation", "memory", "nothing_stored", "paths"]

MILLION = 1_000_000
# More than an error needs, and less than anything that repeats what was sent.
MOST_BYTES = 20_000
ITEM = b'{"role":"user","content":"x"}'
NESTED = b"[" * 10_000 + b"]" * 10_000
TOO_MUCH = {
    "the same field again and again": b"{" + b",".join([b'"content":"x"'] * 40_000) + b"}",
    "another field again and again": b"{%s}" % b",".join(b'"%d":1' % n for n in range(40_000)),
    "a million items": b'{"messages":[' + b",".join([ITEM] * MILLION) + b"]}",
    "a million memories": b"[" + b",".join([b'{"content":"x"}'] * MILLION) + b"]",
    "more items than the list takes": b'{"messages":[' + b",".join([b"1"] * 50_000) + b"]}",
    "deep": NESTED,
    "deep in a string's company": b'{"content": "\\"[[", "tags": ' + NESTED + b"}",
    "a long name": b'{"' + b"x" * 500_000 + b'": 1}',
    "a long word that is no choice": b'{"memory_type": "' + b"x" * 500_000 + b'"}',
    "many wrong items": b"[" + b",".join([b'{"contents":"x"}'] * 500) + b"]",
    "more bytes than any body": b" " * (40 * 1024 * 1024),
}


@pytest.mark.parametrize("name", ["memories", "messages", "retrieve", "pin"])
@pytest.mark.parametrize("body", TOO_MUCH.values(), ids=list(TOO_MUCH))
def test_too_much_is_refused_in_a_few_words(
    api: APIClient, paths: dict[str, str], nothing_stored: None, name: str, body: bytes
) -> None:
    response = api.generic("POST", paths[name], body, content_type=JSON)  # type: ignore[arg-type]

    assert_problem(response, codes=(400, 413, 422))
    assert len(response.content) < MOST_BYTES


@pytest.mark.parametrize("name", ["a million items", "a million memories", "deep"])
def test_what_a_body_holds_is_counted_before_it_is_parsed(
    api: APIClient, paths: dict[str, str], name: str
) -> None:
    """Cut off before its end it is no JSON, and what is refused is still how much it is."""
    body = TOO_MUCH[name][: len(TOO_MUCH[name]) // 2]

    response = api.generic("POST", paths["memories"], body, content_type=JSON)  # type: ignore[arg-type]

    detail = assert_problem(response)["detail"]
    assert f"{MAX_VALUES:,} values" in detail or f"{MAX_DEPTH} levels" in detail


def test_signs_within_strings_are_not_counted(api: APIClient, paths: dict[str, str]) -> None:
    content = 'In "brackets": ' + '[{,\\" ' * 5_000
    response = api.post(paths["memories"], [{"content": content}] * 30, format="json")

    assert response.status_code == 201


@pytest.mark.parametrize("charset", ["punycode", "idna", "utf-7", "cp037"])
def test_a_body_in_an_unusual_encoding_is_refused(
    api: APIClient, paths: dict[str, str], charset: str
) -> None:
    body: Any = json.dumps({"content": "Sarah lives in Berlin."}).encode()
    response = api.generic(
        "POST", paths["memories"], body, content_type=f"application/json; charset={charset}"
    )

    assert "UTF-8" in assert_problem(response)["detail"]


@pytest.mark.parametrize(
    "query",
    [
        "&".join(["tag=a"] * 900),
        "&".join(f"tag=a{number}" for number in range(MAX_PARAMETER_VALUES + 1)),
        "tag=" + ",".join(map(str, range(MAX_PARAMETER_VALUES + 1))),
        "&".join(["user=sarah"] * (MAX_PARAMETER_VALUES + 1)),
        "&".join(f"a{number}=1" for number in range(MAX_PARAMETERS + 1)),
    ],
    ids=["900 tags", "21 tags", "21 tags in one", "21 of what takes one", "101 names"],
)
def test_too_many_parameters_are_refused(api: APIClient, query: str) -> None:
    response = api.get(f"/v1/memories?{query}")

    assert_problem(response)
    assert len(response.content) < MOST_BYTES


def test_a_list_asks_for_all_its_tags_at_once(acme: Cast, api: APIClient) -> None:
    tags = [f"t{number}" for number in range(MAX_PARAMETER_VALUES)]
    factories.MemoryFactory.create(team=acme.team, content="all", tags=tags)
    factories.MemoryFactory.create(team=acme.team, content="some", tags=tags[:-1])

    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = api.get("/v1/memories?" + "&".join(f"tag={tag}" for tag in tags)).json()

    assert [each["content"] for each in answer["results"]] == ["all"]
    listed = [each["sql"] for each in queries if "memory_memorytag" in each["sql"]]
    assert [each.count('JOIN "memory_memorytag"') for each in listed] == [1]
