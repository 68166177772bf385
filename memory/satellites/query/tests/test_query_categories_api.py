"""`POST /v1/memory/query`: categories, and who may read which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import Category
from tests.support.cast import Cast
from tests.support.query_api import Remember, allow, ask, refuse, remember, texts

__all__ = ["remember"]


# -- categories ------------------------------------------------------------------------------


def test_only_the_asked_categories_are_found(api: APIClient, remember: Remember) -> None:
    remember("The deployment plan of tasks.", category="tasks")
    remember("The deployment plan of goals.", category="goals")
    remember("The deployment plan of nothing.")

    assert texts(ask(api, categories=["tasks"])) == ["[tasks] The deployment plan of tasks."]
    assert len(texts(ask(api, categories=["tasks", "goals"]))) == 2
    assert len(texts(ask(api))) == len(texts(ask(api, categories=[]))) == 3


def test_a_category_of_context_all_comes_whole(
    api: APIClient, acme: Cast, remember: Remember
) -> None:
    Category.objects.create(team=acme.team, name="profile", context="all")
    Category.objects.create(team=acme.team, name="tasks", context="rag")
    remember(*(f"Likes colour {n}." for n in range(5)), category="profile")
    remember(*(f"The deployment plan {n}." for n in range(5)), category="tasks")
    remember("Zebras are striped.", category="tasks")

    answer = ask(api, categories=["tasks", "profile"], top_k=2, threshold=0.3)

    kinds = [each["category"] for each in answer["results"]]
    assert kinds == ["tasks"] * 2 + ["profile"] * 5
    assert {each["score"] is None for each in answer["results"][2:]} == {True}
    assert "Zebras" not in str(answer)


def test_a_whole_category_still_obeys_filters_and_its_length(
    api: APIClient, acme: Cast, remember: Remember
) -> None:
    Category.objects.create(team=acme.team, name="profile", context="all", length=2)
    remember("Less.", category="profile", importance=3)
    remember("More.", category="profile", importance=9)
    remember("Some.", category="profile", importance=6)
    remember("Most, of another.", category="profile", importance=10, end_user_id=acme.dmitri.pk)

    answer = ask(api, categories=["profile"], filters={"user": None})

    assert texts(answer) == ["[profile] More.", "[profile] Some."]


def test_a_searched_category_gives_no_more_than_its_length(
    api: APIClient, acme: Cast, remember: Remember
) -> None:
    Category.objects.create(team=acme.team, name="event", length=2)
    Category.objects.create(team=acme.team, name="tasks")
    remember(*(f"The deployment plan, deployment plan {n}." for n in range(9)), category="event")
    remember(*(f"A plan number {n}." for n in range(9)), category="tasks")

    answer = ask(api, categories=["event", "tasks"], top_k=6)

    kinds = [each["category"] for each in answer["results"]]
    assert kinds.count("event") == 2
    assert kinds.count("tasks") == 4


def test_an_unknown_category_is_refused_when_the_team_has_a_list(
    api: APIClient, acme: Cast
) -> None:
    assert ask(api, categories=["whatever"])["results"] == []
    Category.objects.create(team=acme.team, name="tasks")

    problem = refuse(api, 422, categories=["tasks", "whatever"])

    assert problem["errors"]["categories"] == ["There is no category 'whatever'; known are: tasks."]


# -- allowlists ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"categories": ["salary"]},
        {"categories": ["tasks", "salary"]},
        {"categories": ["salary"], "filters": {"category": "tasks"}},
        {"filters": {"category": "salary"}},
        {"filters": {"or": [{"category": ["tasks", "salary"]}, {"pinned": True}]}},
        {"filters": {"not": {"category": {"ne": "salary"}}}},
        {"categories": ["no-such-thing"]},
    ],
)
@pytest.mark.parametrize("bound", [True, False])
def test_a_category_outside_the_allowlist_is_forbidden(
    client_of: Callable[..., APIClient],
    acme: Cast,
    remember: Remember,
    fields: dict[str, Any],
    bound: bool,
) -> None:
    remember("The deployment plan costs a salary.", category="salary")
    allow(acme.kyra, "tasks", "goals")
    client = client_of(acme, acme.kyra if bound else None)

    problem = refuse(client, 403, **fields)

    assert set(problem["errors"]) <= {"categories", "filters"}
    assert "tasks, goals" in problem["detail"]


def test_an_agent_reads_what_its_allowlist_holds_and_what_is_in_no_category(
    api: APIClient, acme: Cast, remember: Remember
) -> None:
    remember("The deployment plan of tasks.", category="tasks")
    remember("The deployment plan of salaries.", category="salary")
    remember("The deployment plan of nothing.")
    allow(acme.kyra, "tasks")

    assert sorted(texts(ask(api))) == [
        "[semantic] The deployment plan of nothing.",
        "[tasks] The deployment plan of tasks.",
    ]
    assert len(texts(ask(api, filters={"not": {"category": "tasks"}}))) == 1
    assert texts(ask(api, filters={"category": {"contains": "alar"}})) == []
    assert len(texts(ask(api, agent="luke"))) == 3


def test_the_allowlist_holds_for_every_other_read(
    client_of: Callable[..., APIClient], acme: Cast, remember: Remember
) -> None:
    [salary] = remember("The salary plan.", category="salary")
    allow(acme.kyra, "tasks")
    kyra, team = client_of(acme, acme.kyra), client_of(acme)

    assert kyra.get(f"/v1/memories/{salary.pk}").status_code == 404
    assert kyra.get("/v1/memories?category=salary").json()["results"] == []
    for client in (kyra, team):
        found = client.get("/v1/memories/search?query=salary+plan&agent=kyra").json()
        assert found["results"] == []
        body = {"query": "salary plan", "agent": "kyra"}
        told = client.post("/v1/retrieve", body, format="json").json()
        assert told["memories"] == []
        assert "salary" not in told["formatted_prompt"]
    assert team.get(f"/v1/memories/{salary.pk}").status_code == 200


def test_a_new_allowlist_holds_at_once(
    client_of: Callable[..., APIClient], acme: Cast, remember: Remember
) -> None:
    remember("The deployment plan of tasks.", category="tasks")
    kyra = client_of(acme, acme.kyra)
    assert len(texts(ask(kyra))) == 1

    allow(acme.kyra, "goals")

    assert texts(ask(kyra)) == []
