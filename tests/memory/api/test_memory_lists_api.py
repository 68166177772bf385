"""Lists of memories over HTTP: filters and pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.api import pagination
from tests import factories
from tests.support.cast import Cast
from tests.support.memories_api import listed
from tests.support.memories_api import post_memory as remember


@pytest.fixture
def shelf(acme: Cast) -> Cast:
    """Memories that differ in everything a filter asks for."""
    project = factories.ProjectFactory.create(team=acme.team, slug="apollo")
    make = factories.MemoryFactory.create
    make(team=acme.team, content="plain")
    make(team=acme.team, content="kyra's", agent=acme.kyra, memory_type="agent_private")
    make(team=acme.team, content="sarah's", end_user=acme.sarah, subject="user.city")
    make(team=acme.team, content="apollo's", project=project, category="decision")
    make(team=acme.team, content="tagged", tags=["a", "b"], importance=9, tier="hot")
    make(team=acme.team, content="half tagged", tags=["a"], importance=2, is_pinned=True)
    make(team=acme.team, content="disputed", status="disputed")
    make(team=acme.team, content="superseded", status="superseded", tier="cold")
    make(team=acme.team, content="deleted", status="soft_deleted", tier="cold")
    return acme


LIVE = {"plain", "kyra's", "sarah's", "apollo's", "tagged", "half tagged", "disputed"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", LIVE),
        ("status=all", LIVE | {"superseded", "deleted"}),
        ("status=superseded", {"superseded"}),
        ("status=superseded,soft_deleted", {"superseded", "deleted"}),
        ("status=superseded&status=disputed", {"superseded", "disputed"}),
        ("memory_type=agent_private", {"kyra's"}),
        ("tier=hot", {"tagged"}),
        ("agent=kyra", {"kyra's"}),
        ("agent=luke", set()),
        ("agent=nobody", set()),
        ("user=sarah", {"sarah's"}),
        ("project=apollo", {"apollo's"}),
        ("subject=user", {"sarah's"}),
        ("subject=user.city", {"sarah's"}),
        ("subject=city", set()),
        ("subject=%25", set()),
        ("category=decision", {"apollo's"}),
        ("tag=a", {"tagged", "half tagged"}),
        ("tag=a&tag=b", {"tagged"}),
        ("tag=a,b", {"tagged"}),
        ("is_pinned=true", {"half tagged"}),
        ("is_pinned=false", LIVE - {"half tagged"}),
        ("min_importance=9", {"tagged"}),
        ("max_importance=2", {"half tagged"}),
        ("min_importance=3&max_importance=8", LIVE - {"tagged", "half tagged"}),
        ("created_after=2000-01-01T00:00:00Z", LIVE),
        ("created_before=2000-01-01T00:00:00Z", set()),
        ("tag=a&is_pinned=true&min_importance=2", {"half tagged"}),
    ],
)
def test_a_filter_keeps_what_matches(
    api: APIClient, shelf: Cast, query: str, expected: set[str]
) -> None:
    found = listed(api, query)

    assert len(found) == len(set(found))
    assert set(found) == expected


def test_names_in_a_list_say_whose_memories_and_the_key_says_who_asks(
    acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    make = factories.MemoryFactory
    make(team=acme.team, content="hers", agent=acme.kyra, end_user=acme.sarah)
    make(team=acme.team, content="of no agent", end_user=acme.sarah)
    make(team=acme.team, content="his", agent=acme.luke, end_user=acme.sarah)

    filtered = listed(client_of(acme), "user=sarah&agent=kyra")
    seen = listed(client_of(acme, acme.kyra), "user=sarah")

    assert set(filtered) == {"hers"}
    assert set(seen) == {"hers", "of no agent"}


def test_the_newest_comes_first(api: APIClient) -> None:
    for number in range(4):
        remember(api, f"Number {number}.", check=False)

    assert listed(api) == [f"Number {number}." for number in (3, 2, 1, 0)]


def pages(api: APIClient, address: str) -> list[list[str]]:
    """The contents of every page from this one on."""
    found = []
    following: str | None = address
    while following:
        page = api.get(following).json()
        found.append([each["content"] for each in page["results"]])
        following = page["next"]
    return found


def test_pages_hold_each_memory_once(api: APIClient, acme: Cast) -> None:
    for number in range(7):
        factories.MemoryFactory(team=acme.team, content=f"n{number}")

    found = pages(api, "/v1/memories?limit=3")

    assert found == [["n6", "n5", "n4"], ["n3", "n2", "n1"], ["n0"]]


def test_pages_do_not_shift_when_memories_arrive(api: APIClient, acme: Cast) -> None:
    for number in range(4):
        factories.MemoryFactory(team=acme.team, content=f"n{number}")
    first = api.get("/v1/memories?limit=2").json()

    factories.MemoryFactory(team=acme.team, content="late")

    assert pages(api, first["next"]) == [["n1", "n0"]]


def test_pages_keep_their_filters_and_lead_back(api: APIClient, acme: Cast) -> None:
    for number in range(4):
        factories.MemoryFactory(team=acme.team, content=f"a{number}", tags=["a"])
        factories.MemoryFactory(team=acme.team, content=f"b{number}")
    first = api.get("/v1/memories?limit=3&tag=a").json()

    second = api.get(first["next"]).json()

    assert [each["content"] for each in second["results"]] == ["a0"]
    assert api.get(second["previous"]).json()["results"] == first["results"]


def test_a_page_ends_where_its_texts_fill_it(
    api: APIClient, acme: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pagination, "MOST_PAGE_CHARS", 100)
    lengths = (10, 90, 30, 30, 500, 20, 20)
    for number, length in enumerate(lengths):
        factories.MemoryFactory(team=acme.team, content=f"{number}".ljust(length, "."))

    found = pages(api, "/v1/memories?limit=5")

    # The latest first.
    assert [[text[0] for text in page] for page in found] == [
        ["6", "5"],
        ["4"],
        ["3", "2"],
        ["1", "0"],
    ]


def test_short_pages_lead_back(api: APIClient, acme: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagination, "MOST_PAGE_CHARS", 100)
    for number in range(9):
        factories.MemoryFactory(team=acme.team, content=f"{number}".ljust(45, "."))
    walked = [api.get("/v1/memories?limit=5").json()]
    while walked[-1]["next"]:
        walked.append(api.get(walked[-1]["next"]).json())

    back = [walked[-1]]
    while back[-1]["previous"]:
        back.append(api.get(back[-1]["previous"]).json())

    there = [each["content"] for page in walked for each in page["results"]]
    and_back = [each["content"] for page in reversed(back) for each in page["results"]]
    assert [len(page["results"]) for page in walked] == [2, 2, 2, 2, 1]
    assert and_back == there


def test_what_was_stored_last_comes_first_whenever_it_was_said(api: APIClient) -> None:
    years = (2024, 2021, 2023)
    for year in years:
        remember(api, f"Said in {year}.", created_at=f"{year}-05-01T12:00:00Z", check=False)
    first = api.get("/v1/memories?limit=2").json()
    remember(api, "Said in 2022.", created_at="2022-05-01T12:00:00Z", check=False)

    assert [each["content"] for each in first["results"]] == ["Said in 2023.", "Said in 2021."]
    assert pages(api, first["next"]) == [["Said in 2024."]]


def test_an_empty_list_is_a_page(api: APIClient) -> None:
    assert api.get("/v1/memories").json() == {"next": None, "previous": None, "results": []}


def test_a_list_costs_the_same_queries_however_long(
    api: APIClient, acme: Cast, django_assert_max_num_queries: Any
) -> None:
    for _ in range(30):
        factories.MemoryFactory(team=acme.team, agent=acme.kyra, end_user=acme.sarah, tags=["a"])

    with django_assert_max_num_queries(8):
        assert len(listed(api, "limit=30")) == 30
