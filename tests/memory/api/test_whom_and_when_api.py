"""Questions that name a time or a person find what is of that time and about that person first."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

NAMES = ["Will", "May", "Mark", "Rose", "Drew", "June", "Hope"]


def state(api: APIClient, content: str, **fields: Any) -> None:
    """Store it beside whatever it looks like."""
    body = {"content": content, "check": False, **fields}
    answer = api.post("/v1/memories", body, format="json")
    assert answer.status_code == 201, answer.content


def found(api: APIClient, question: str, **fields: Any) -> list[dict[str, Any]]:
    """The memories of a retrieval, best first."""
    body = {"query": question, "agent": "kyra", "return": "full", **fields}
    memories: list[dict[str, Any]] = api.post("/v1/retrieve", body, format="json").json()[
        "memories"
    ]
    return memories


def found_of(api: APIClient, question: str, *people: str) -> list[dict[str, Any]]:
    """Those of a query that names these people in its filter, best first."""
    named = {"user": {"in": people}}
    body = {"query": question, "agent": "kyra", "return": "full", "filters": named}
    results: list[dict[str, Any]] = api.post("/v1/memory/query", body, format="json").json()[
        "results"
    ]
    return results


def test_what_was_said_within_a_named_month_comes_before_what_was_said_beside_it(
    api: APIClient,
) -> None:
    days = ["2025-02-26", "2025-03-02", "2025-03-17", "2025-03-30", "2025-04-01", "2025-04-05"]
    for number, day in enumerate(days):
        at = f"{day}T12:00:00Z"
        state(api, f"Went rowing on lake {number}.", memory_type="episodic", created_at=at)

    memories = found(api, "Where did we go rowing in March 2025?")

    assert [each["created_at"][:7] for each in memories[:3]] == ["2025-03"] * 3
    times = [each["signals"]["parts"]["time"] for each in memories]
    assert min(times[:3]) > 1.5 * max(times[3:])


@pytest.mark.parametrize("name", NAMES)
def test_a_person_with_a_name_that_is_a_word_is_known_by_it(api: APIClient, name: str) -> None:
    state(api, "The favourite dish is ramen.", user=name)
    state(api, "The favourite dish is goulash.", user="Sarah")

    for question in (f"Which dish does {name} like?", f"What is {name}'s favourite dish?"):
        first, second = found_of(api, question, name, "Sarah")
        assert (first["user"], second["user"]) == (name, "Sarah")
        assert first["signals"]["parts"]["person"] > second["signals"]["parts"]["person"] == 0


@pytest.mark.parametrize("question", ["Will it rain on Sunday?"])
def test_a_word_that_opens_a_question_is_nobodys_name(api: APIClient, question: str) -> None:
    for name in ("Will", "May"):
        state(api, "The favourite dish is ramen.", user=name)

    memories = found_of(api, question, "Will", "May")
    assert {each["signals"]["parts"]["person"] for each in memories} == {0}


def test_a_month_is_nobodys_name(api: APIClient) -> None:
    state(api, "The favourite dish is ramen.", user="May")

    (memory,) = found_of(api, "Which dish did we pick in May?", "May", "Sarah")
    assert memory["signals"]["parts"]["person"] == 0


def test_what_is_nobodys_is_about_the_person_it_names(api: APIClient) -> None:
    state(api, "The favourite dish is ramen.", user="Rose")
    state(api, "Art works at a bakery.")
    state(api, "Rose works at a bakery.")

    first, *_ = found(api, "Where does Rose work?")
    assert first["content"] == "Rose works at a bakery."
