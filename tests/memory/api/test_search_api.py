"""Searching: what was asked for comes first, with the reasons."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import Memory
from memory.reading.usage import flush_noted_usage
from tests.support.cast import Cast

FACTS = [
    {"content": "Sarah lives in Berlin.", "user": "sarah", "importance": 5},
    {"content": "Dmitri plays the violin.", "user": "dmitri", "importance": 5},
    {"content": "The billing service runs on PostgreSQL.", "project": "billing", "importance": 9},
    {"content": "Deployments happen on Tuesdays.", "memory_type": "procedural", "importance": 2},
]


@pytest.fixture
def filled(api: APIClient, acme: Cast) -> APIClient:
    """A client of a team that knows four things."""
    body = [{**fact, "check": False} for fact in FACTS]
    assert api.post("/v1/memories", body, format="json").status_code == 201
    return api


def search(api: APIClient, query: str, **params: str | float) -> list[Any]:
    """Searches on behalf of Sarah, unless the parameters name another."""
    response = api.get("/v1/memories/search", {"query": query, "user": "sarah", **params})
    assert response.status_code == 200, response.content
    results: list[Any] = response.json()["results"]
    return results


def contents(found: list[Any]) -> list[str]:
    """The texts of what was found."""
    return [each["content"] for each in found]


@pytest.mark.parametrize(
    ("user", "query", "first"),
    [
        ("sarah", "Where does Sarah live?", "Sarah lives in Berlin."),
        ("sarah", "Berlin", "Sarah lives in Berlin."),
        ("dmitri", "who plays violin", "Dmitri plays the violin."),
        ("sarah", "which database does billing use", "The billing service runs on PostgreSQL."),
        ("sarah", "When are deployments?", "Deployments happen on Tuesdays."),
    ],
)
def test_what_was_asked_comes_first(filled: APIClient, user: str, query: str, first: str) -> None:
    assert contents(search(filled, query, user=user))[0] == first


def test_results_are_ordered_by_a_score_between_0_and_1(filled: APIClient) -> None:
    scores = [each["score"] for each in search(filled, "Sarah and the billing service")]

    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_each_result_shows_its_signals(filled: APIClient) -> None:
    for each in search(filled, "Sarah lives in Berlin"):
        signals = {name: value for name, value in each["signals"].items() if name != "parts"}
        assert set(signals) == {
            "semantic", "recency", "importance", "continuity", "relation", "cosine", "lexical",
            "usage", "prefetched",
        }  # fmt: skip
        assert all(0 <= value <= 1 for value in signals.values())


def test_what_makes_a_result_relevant_adds_up(filled: APIClient) -> None:
    found = search(filled, "Where did Sarah live in 2026?")

    for each in found:
        parts = each["signals"]["parts"]
        assert set(parts) == {"words", "meaning", "neighbours", "person", "time"}
        assert sum(parts.values()) == pytest.approx(each["signals"]["semantic"], abs=0.001)
    assert found[0]["content"] == "Sarah lives in Berlin."
    assert min(found[0]["signals"]["parts"][name] for name in ("words", "meaning")) > 0


@pytest.mark.parametrize(
    ("params", "hidden"),
    [
        ({}, {"Dmitri plays the violin."}),
        ({"user": "dmitri"}, {"Sarah lives in Berlin."}),
        ({"user": "stranger"}, {"Dmitri plays the violin.", "Sarah lives in Berlin."}),
        (
            {"project": "other"},
            {"Dmitri plays the violin.", "The billing service runs on PostgreSQL."},
        ),
        (
            {"min_importance": 5},
            {"Dmitri plays the violin.", "Deployments happen on Tuesdays."},
        ),
        (
            {"memory_types": "procedural"},
            {each["content"] for each in FACTS} - {"Deployments happen on Tuesdays."},
        ),
    ],
    ids=lambda each: ",".join(sorted(map(str, each))),
)
def test_a_filter_hides_what_does_not_match(
    filled: APIClient, params: dict[str, str | float], hidden: set[object]
) -> None:
    query = "Sarah Dmitri violin Berlin billing PostgreSQL deployments Tuesdays"

    found = set(contents(search(filled, query, **params)))

    assert found == {each["content"] for each in FACTS} - hidden


def test_limit_keeps_the_best(filled: APIClient) -> None:
    everything = search(filled, "Sarah billing deployments")

    assert contents(search(filled, "Sarah billing deployments", limit=2)) == contents(
        everything[:2]
    )


def test_superseded_memories_are_found_only_in_the_cold(filled: APIClient) -> None:
    Memory.objects.filter(content=FACTS[0]["content"]).update(status="superseded", tier="cold")

    assert FACTS[0]["content"] not in contents(search(filled, "Berlin"))
    assert FACTS[0]["content"] in contents(search(filled, "Berlin", include_cold="true"))


def test_a_pinned_memory_has_no_claim_to_every_search(filled: APIClient) -> None:
    Memory.objects.filter(content=FACTS[2]["content"]).update(is_pinned=True)

    assert contents(search(filled, "Where does Sarah live?"))[0] == FACTS[0]["content"]


def test_an_unknown_agent_is_not_found(filled: APIClient) -> None:
    response = filled.get("/v1/memories/search", {"query": "tea", "agent": "nobody"})

    assert response.status_code == 404
    assert "agent" in response.json()["errors"]


@pytest.mark.parametrize(
    "query",
    ["'", '"', "a & b | !c", "<->", ":*", "(((", "\\", "%", "_", "' OR 1=1 --", "🎉", "日本語"],
)
def test_signs_of_query_languages_mean_nothing(filled: APIClient, query: str) -> None:
    assert isinstance(search(filled, query), list)


def test_being_found_is_counted(filled: APIClient) -> None:
    found = search(filled, "Berlin", limit=1)
    search(filled, "Berlin", limit=1)

    flush_noted_usage()

    usage = filled.get(f"/v1/memories/{found[0]['id']}").json()["usage"]
    assert usage["retrieved"] == 2
    assert usage["last_accessed_at"] is not None


def test_an_empty_team_finds_nothing(api: APIClient) -> None:
    assert search(api, "anything") == []


def test_a_search_costs_the_same_queries_however_many_it_finds(
    filled: APIClient, django_assert_max_num_queries: Any
) -> None:
    body = [{"content": f"The billing rule number {n}.", "check": False} for n in range(60)]
    filled.post("/v1/memories", body, format="json")

    with django_assert_max_num_queries(20):
        assert len(search(filled, "billing rule", limit=50)) == 50


def test_who_is_asked_about_is_the_user_of_a_stated_memory(api: APIClient) -> None:
    tea = {"sarah": "oolong", "dmitri": "green", "noor": "rooibos"}
    body = [
        {"content": f"Prefers {kind} tea in the afternoon.", "user": user, "check": False}
        for user, kind in tea.items()
    ]
    assert api.post("/v1/memories", body, format="json").status_code == 201

    for user, kind in tea.items():
        query = f"What tea does {user.title()} prefer?"
        asked = {"agent": "kyra", "query": query, "filters": {"user": list(tea)}, "return": "full"}
        found = api.post("/v1/memory/query", asked, format="json").json()["results"]
        assert len(found) == len(tea)
        assert found[0]["content"] == f"Prefers {kind} tea in the afternoon."
