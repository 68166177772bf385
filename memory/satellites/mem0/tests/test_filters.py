"""mem0's filter language, asked by its own client over HTTP."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from mem0.exceptions import ValidationError

from memory.domain.filters import MAX_DEPTH, MAX_PARTS, MAX_VALUES
from memory.satellites.mem0.tests.conftest import Clients
from tests.support.cast import Cast
from tests.support.mem0_clients import Mem0

BOAT, CHESS, TEA, RULE = (
    "Alice owns a blue boat.",
    "Alice plays chess.",
    "Bob drinks tea.",
    "Be brief.",
)
ALL = {BOAT, CHESS, TEA, RULE}


@pytest.fixture
def mem0(team: Cast, mem0_of: Clients) -> Mem0:
    """A client whose team knows four things."""
    client = mem0_of(team)
    known: list[tuple[str, dict[str, Any]]] = [
        (BOAT, {"user_id": "alice", "metadata": {"topic": "things", "n": 1}, "run_id": "r1"}),
        (CHESS, {"user_id": "alice", "app_id": "club", "timestamp": 1_600_000_000}),
        (TEA, {"user_id": "bob", "metadata": {"topic": "drinks", "n": 2}}),
        (RULE, {"agent_id": "kyra", "metadata": {"nested": {"b": True, "a": [1, None]}}}),
    ]
    for text, given in known:
        client.add(text, infer=False, **given)
    return client


def found(mem0: Mem0, filters: Any) -> set[str]:
    """The texts of the list; a search that names everybody has the same ones."""
    listed = {each["memory"] for each in mem0.get_all(filters=filters)["results"]}
    anybody = {"OR": [{"user_id": {"in": ["alice", "bob"]}}, {"user_id": None}]}
    assert searched(mem0, {"AND": [filters, anybody]}) == listed
    return listed


def searched(mem0: Mem0, filters: Any) -> set[str]:
    """The texts that a search finds."""
    answer = mem0.search("What is known?", filters=filters, top_k=50)
    return {each["memory"] for each in answer["results"]}


CASES: list[tuple[Any, set[str]]] = [
    ({}, ALL),
    ({"user_id": "alice"}, {BOAT, CHESS}),
    ({"user_id": {"eq": "alice"}}, {BOAT, CHESS}),
    ({"user_id": {"ne": "alice"}}, {TEA, RULE}),
    ({"user_id": {"in": ["alice", "bob"]}}, {BOAT, CHESS, TEA}),
    ({"user_id": ["bob", "nobody"]}, {TEA}),
    ({"user_id": "*"}, {BOAT, CHESS, TEA}),
    ({"user_id": {"in": ["*"]}}, {BOAT, CHESS, TEA}),
    ({"user_id": {"in": ["bob", "*"]}}, {BOAT, CHESS, TEA}),
    ({"app_id": ["*"]}, {CHESS}),
    ({"categories": {"in": ["*"]}}, set()),
    ({"user_id": {"ne": "*"}}, {RULE}),
    ({"user_id": None}, {RULE}),
    ({"AND": [{"user_id": "*"}, {"user_id": {"ne": "alice"}}]}, {TEA}),
    ({"agent_id": "kyra"}, {RULE}),
    ({"app_id": "club"}, {CHESS}),
    ({"app_id": {"ne": "club"}}, {BOAT, TEA, RULE}),
    ({"run_id": "r1"}, {BOAT}),
    ({"run_id": "*"}, {BOAT}),
    ({"run_id": {"ne": "r1"}}, {CHESS, TEA, RULE}),
    ({"NOT": [{"app_id": "*"}]}, {BOAT, TEA, RULE}),
    ({"NOT": {"user_id": "alice"}}, {TEA, RULE}),
    ({"NOT": [{"app_id": "club"}, {"user_id": "bob"}]}, {BOAT, RULE}),
    ({"OR": [{"app_id": "club"}, {"user_id": "bob"}]}, {CHESS, TEA}),
    ({"OR": [{"AND": [{"user_id": "alice"}, {"run_id": "r1"}]}, {"agent_id": "*"}]}, {BOAT, RULE}),
    ({"created_at": {"lt": "2020-12-31"}}, {CHESS}),
    ({"timestamp": {"gte": "2020-09-13T12:26:40Z", "lte": "2020-09-13T12:26:40Z"}}, {CHESS}),
    ({"created_at": {"gt": "2021-01-01T00:00:00+02:00"}}, {BOAT, TEA, RULE}),
    ({"updated_at": {"gte": "2021-01-01"}}, ALL),
    ({"keywords": {"contains": "chess"}}, {CHESS}),
    ({"keywords": {"contains": "CHESS"}}, set()),
    ({"keywords": {"icontains": "CHESS"}}, {CHESS}),
    ({"keywords": {"icontains": "%"}}, set()),
    ({"keywords": "tea"}, {TEA}),
    ({"metadata": {"topic": "things"}}, {BOAT}),
    ({"metadata": {"topic": "things", "n": 1}}, {BOAT}),
    ({"metadata": {"topic": "things", "n": 2}}, set()),
    ({"metadata": {"n": {"in": [1, 2]}}}, {BOAT, TEA}),
    ({"metadata": {"topic": {"ne": "things"}}}, {CHESS, TEA, RULE}),
    ({"metadata": {"ne": {"topic": "things"}}}, {CHESS, TEA, RULE}),
    ({"metadata": {"contains": {"topic": "drinks"}}}, {TEA}),
    ({"metadata": {"nested": {"a": [1, None], "b": True}}}, {RULE}),
    ({"metadata": {"nested": {"b": True, "a": [1.0, None]}}}, {RULE}),
    ({"metadata": {"nested": {"b": 1, "a": [1, None]}}}, set()),
    ({"metadata": {"n": 1.0}}, {BOAT}),
    ({"metadata": {"n": "1"}}, set()),
    ({"categories": {"in": ["health"]}}, set()),
    ({"categories": {"ne": "*"}}, ALL),
]


def test_a_filter_leaves_what_it_says(mem0: Mem0) -> None:
    for filters, expected in CASES:
        assert found(mem0, filters) == expected, filters


def test_memories_are_named_by_id(mem0: Mem0) -> None:
    ids = {each["memory"]: each["id"] for each in mem0.get_all()["results"]}

    assert found(mem0, {"memory_ids": [ids[BOAT], ids[TEA]]}) == {BOAT, TEA}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {RULE}),
        ({"user_id": "*"}, set()),
        ({"keywords": "chess"}, set()),
        ({"NOT": {"app_id": "club"}}, {RULE}),
        ({"user_id": {"ne": "bob"}}, {RULE}),
        ({"user_id": "alice"}, {BOAT, CHESS}),
        ({"OR": [{"app_id": "club"}, {"user_id": "bob"}]}, {TEA}),
        ({"user_id": {"in": ["bob", "nobody"]}}, {TEA}),
    ],
)
def test_a_search_tells_of_those_whom_its_filter_names(
    mem0: Mem0, filters: Any, expected: set[str]
) -> None:
    assert searched(mem0, filters) == expected


def deep(levels: int) -> Any:
    """Filters in filters."""
    filters: Any = {"user_id": "alice"}
    for _ in range(levels - 1):
        filters = {"AND": [filters]}
    return filters


BAD: list[tuple[Any, str]] = [
    ({"nickname": "x"}, r"filters\.nickname: There is no such field"),
    ({"AND": [{"user_id": "a"}, {"score": 1}]}, r"filters\.AND\[1\]\.score"),
    ({"AND": []}, r"filters\.AND: Must be a list"),
    ({"AND": {"user_id": "a"}}, r"filters\.AND: Must be a list"),
    ({"OR": [1]}, r"filters\.OR\[0\]: Must be an object"),
    ({"user_id": {"contains": "a"}}, r"filters\.user_id\.contains: 'user' takes"),
    ({"user_id": {"like": "a"}}, r"filters\.user_id\.like: There is no such operator"),
    ({"user_id": {}}, r"filters\.user_id: Must have an operator"),
    ({"user_id": 7}, r"filters\.user_id: Must be a name"),
    ({"user_id": {"in": []}}, r"filters\.user_id\.in: Must be a list"),
    ({"user_id": {"in": ["x"] * (MAX_VALUES + 1)}}, rf"at most {MAX_VALUES} values"),
    ({"created_at": {"gte": "soon"}}, r"filters\.created_at\.gte: Must be a time"),
    ({"created_at": "*"}, r"filters\.created_at: Must be a time"),
    ({"memory_ids": ["x"]}, r"filters\.memory_ids\[0\]: Must be an id"),
    ({"keywords": {"contains": ""}}, r"filters\.keywords\.contains: Must not be empty"),
    ({"keywords": {"eq": "a"}}, r"filters\.keywords\.eq"),
    ({"metadata": "x"}, r"filters\.metadata: Must be an object"),
    ({"metadata": {"n": {"gt": 1}}}, r"filters\.metadata\.n: Metadata is compared as a whole"),
    ({"metadata": {"n": "*"}}, r"filters\.metadata\.n: Metadata is compared as a whole"),
    ({"metadata": {"n": {"in": [1, "*"]}}}, r"filters\.metadata\.n: Metadata is compared"),
    ({"metadata": {"n": {}}}, r"filters\.metadata\.n: Metadata is compared as a whole"),
    ({"user_id": {"ne": ["*"]}}, r"filters\.user_id\.ne: Must be a name"),
    ({"metadata": {"n": {"in": 1}}}, r"filters\.metadata\.n: Must be a list"),
    (deep(MAX_DEPTH + 1), rf"at most {MAX_DEPTH} levels"),
    ({"OR": [{"user_id": "a"}] * MAX_PARTS}, rf"at most {MAX_PARTS} parts"),
]


def test_a_filter_that_cannot_be_answered_names_the_place(team: Cast, mem0_of: Clients) -> None:
    mem0 = mem0_of(team)
    for filters, told in BAD:
        for ask in (mem0.get_all, partial(mem0.search, "x")):
            with pytest.raises(ValidationError, match=told) as refused:
                ask(filters=filters)
            assert refused.value.error_code == "HTTP_400"
