"""A package for a task: its tiers, its bounds, what is kept, and what never comes."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import Memory
from tests.support.cast import Cast, Clients, switch
from tests.support.hostile import hostile_messages
from tests.support.memories_api import post, remember

PLAN = "The worker reads the port of the billing service twice."
DECISION = "The billing service keeps its port in one settings module."
TEAM_RULE = "The port of a service is never above 9000."
PREFERENCE = "Sarah prefers short commit messages."


@pytest.fixture
def task(api: APIClient) -> str:
    """An open task of Kyra's in a project, with two items."""
    assert post(api, "tasks", id="fix-17", agent="kyra", project="apollo").status_code == 201
    for item in (
        {"kind": "reasoning", "stage": "plan", "text": PLAN},
        {"kind": "tool_output", "tool": "grep", "output": {"hits": 2}},
    ):
        assert post(api, "tasks/fix-17/items", **item).status_code == 201
    return "fix-17"


@pytest.fixture
def known(api: APIClient) -> dict[str, str]:
    """Stores facts of the project, the user and the team; returns their ids by text."""
    return {
        DECISION: remember(api, DECISION, project="apollo", category="decision"),
        TEAM_RULE: remember(api, TEAM_RULE),
        PREFERENCE: remember(api, PREFERENCE, user="sarah", category="preferences"),
    }


def package(api: APIClient, task: str = "fix-17", **fields: object) -> Any:
    """The package of a task."""
    answer = post(api, "context/package", **{"task": task, "agent": "kyra", **fields})
    assert answer.status_code == 200, answer.content
    return answer.json()


def texts(answer: Any, tier: str = "") -> str:
    """The lines of a tier, or all."""
    return "\n".join(each["text"] for each in answer["items"] if tier in ("", each["tier"]))


def fill(api: APIClient, count: int, **fields: object) -> None:
    """Let a project or the team know so many things of the billing port, of rising importance."""
    body = [
        {"content": f"The billing port {each} belongs to machine {each * 7 + 13}.", "check": False}
        | {"importance": each % 10 + 1, **fields}
        for each in range(count)
    ]
    assert api.post("/v1/memories", body, format="json").status_code == 201


class TestWhatIsInIt:
    def test_three_tiers_as_text_and_items_with_their_tokens(
        self, api: APIClient, task: str, known: dict[str, str]
    ) -> None:
        answer = package(api, user="sarah", budget_tokens=2000)

        assert PLAN in texts(answer, "task")
        assert 'grep: {"hits": 2}' in texts(answer, "task")
        assert DECISION in texts(answer, "project")
        assert TEAM_RULE in texts(answer, "global")
        assert PREFERENCE in texts(answer, "global")
        assert (answer["task"], answer["project"]) == ("fix-17", "apollo")
        assert sum(answer["tokens"].values()) == answer["tokens_used"] <= 2000
        assert set(answer["tokens"]) == {"task", "project", "global", "notice"}
        assert answer["counts"] == {
            "task": {"told": 2, "offered": 2},
            "project": {"told": 1, "offered": 1},
            "global": {"told": 2, "offered": 2},
        }
        assert all(line in answer["text"] for line in texts(answer).splitlines())
        by_id = {each["id"]: each for each in answer["items"]}
        assert by_id[known[DECISION]]["tier"] == "project"
        assert answer["compression_ratio"] == 1.0

    def test_commits_of_a_project_are_told_where_they_concern_the_task(
        self, api: APIClient, task: str, known: dict[str, str]
    ) -> None:
        fill(api, 25, project="apollo")
        for number in range(5):
            payload = {"title": f"Rename chart colour {number}"}
            made = post(api, "memories", form="episode", payload=payload, project="apollo")
            assert made.status_code == 201, made.content
        remember(api, "Lunch is at noon.", project="apollo", category="decision")

        answer = texts(package(api, budget_tokens=8000))

        assert "chart colour" not in answer
        assert "Lunch is at noon." in answer

    def test_items_stand_by_importance_and_then_by_age(
        self, api: APIClient, task: str, known: dict[str, str]
    ) -> None:
        places = [(-each["importance"], each["at"]) for each in package(api)["items"]]

        assert places == sorted(places)

    def test_items_and_lines_stand_in_the_order_that_is_asked_for(
        self, api: APIClient, task: str, known: dict[str, str]
    ) -> None:
        answer = package(api, order_by="-at")

        times = [each["at"] for each in answer["items"]]
        assert times == sorted(times, reverse=True)
        of_task = [each["text"] for each in answer["items"] if each["tier"] == "task"]
        assert "\n".join(of_task) in answer["text"]

    def test_a_task_without_items_or_project_has_what_the_team_prefers(
        self, api: APIClient, known: dict[str, str]
    ) -> None:
        post(api, "tasks", id="bare", agent="kyra")

        answer = package(api, "bare", user="sarah")

        assert PREFERENCE in texts(answer)
        assert DECISION not in texts(answer)
        assert (answer["project"], answer["tokens"]["task"]) == (None, 0)

    def test_the_project_may_be_named_for_a_task_of_none(
        self, api: APIClient, known: dict[str, str]
    ) -> None:
        post(api, "tasks", id="bare", agent="kyra")

        assert DECISION in texts(package(api, "bare", project="apollo"), "project")

    def test_a_package_is_read_and_changes_no_task(self, api: APIClient, task: str) -> None:
        before = api.get("/v1/tasks/fix-17/items").content

        package(api)

        assert api.get("/v1/tasks/fix-17/items").content == before
        assert not Memory.objects.exists()

    def test_filters_narrow_memories_and_leave_the_task(
        self, api: APIClient, task: str, known: dict[str, str]
    ) -> None:
        answer = package(api, filters={"category": {"$eq": "decision"}})

        assert (DECISION in texts(answer), TEAM_RULE in texts(answer)) == (True, False)
        assert PLAN in texts(answer, "task")


class TestWhomItIsFor:
    def test_without_a_user_nothing_of_people_is_in_it_and_it_says_so(
        self, api: APIClient, task: str, known: dict[str, str]
    ) -> None:
        answer = package(api)

        assert TEAM_RULE in texts(answer)
        assert PREFERENCE not in answer["text"]
        assert [each for each in answer["warnings"] if "no user is named" in each]

    @pytest.mark.parametrize("operator", [{"$eq": "sarah"}, {"$in": ["sarah", "dmitri"]}])
    def test_a_filter_names_the_user(
        self, api: APIClient, task: str, known: dict[str, str], operator: dict[str, Any]
    ) -> None:
        remember(api, "Ada prefers long commit messages.", user="ada", category="preferences")

        answer = package(api, filters={"user": operator})

        assert PREFERENCE in texts(answer)
        assert "Ada" not in answer["text"]
        assert not [each for each in answer["warnings"] if "no user is named" in each]

    def test_a_filter_of_another_user_widens_no_named_one(
        self, api: APIClient, task: str, known: dict[str, str]
    ) -> None:
        answer = package(api, user="dmitri", filters={"user": {"$eq": "sarah"}})

        assert PREFERENCE not in answer["text"]


class TestBudget:
    @pytest.mark.parametrize("budget", [100, 300, 1000])
    def test_is_kept(self, api: APIClient, task: str, budget: int) -> None:
        fill(api, 40, project="apollo")
        fill(api, 40)

        answer = package(api, budget_tokens=budget)

        assert 0 < answer["tokens_used"] <= budget
        assert 0 < answer["compression_ratio"] < 1

    @pytest.mark.parametrize("budget", [160, 200, 250, 300, 400])
    def test_a_small_one_is_shared_out_as_well(
        self, api: APIClient, task: str, budget: int
    ) -> None:
        for number in range(20):
            text = f"Step {number} reads the billing port of worker {number}."
            post(api, f"tasks/{task}/items", kind="reasoning", text=text, importance=9)
            remember(api, f"Project host {number} has the billing port.", project="apollo")
            remember(api, f"Team rule {number} is about the billing port.", importance=3)

        tokens = package(api, budget_tokens=budget)["tokens"]

        assert sum(tokens.values()) <= budget
        shared = budget - tokens["notice"]
        line_and_heading = 32
        for tier, share in (("task", 0.4), ("project", 0.4), ("global", 0.2)):
            assert tokens[tier] > 0
            assert abs(tokens[tier] - share * shared) <= line_and_heading

    def test_is_shared_out_as_the_request_says(self, api: APIClient, task: str) -> None:
        fill(api, 60, project="apollo")
        fill(api, 60)

        one = package(api, budget_tokens=600, shares={"project": 1})
        other = package(api, budget_tokens=600, shares={"global": 1})

        assert one["tokens"]["project"] > 2 * one["tokens"]["global"]
        assert other["tokens"]["global"] > 2 * other["tokens"]["project"]

    def test_is_shared_out_as_the_agents_document_says(self, api: APIClient, task: str) -> None:
        fill(api, 60, project="apollo")
        fill(api, 60)
        policy = {"shares": {"global": 1}, "head_tail_preserve": 1}
        saved = api.put(
            "/v1/agents/kyra",
            {"name": "Kyra", "memory_config": {"context_policy": policy}},
            format="json",
        )
        assert saved.status_code == 200, saved.content
        assert saved.json()["memory_config"]["context_policy"] == policy

        answer = package(api, budget_tokens=600)

        assert answer["tokens"]["global"] > 2 * answer["tokens"]["project"]
        assert sum(each["is_kept"] for each in answer["items"]) == 2

    def test_what_a_tier_leaves_free_goes_to_the_others(self, api: APIClient, task: str) -> None:
        fill(api, 60, project="apollo")

        answer = package(api, budget_tokens=500)

        assert answer["tokens"]["project"] > 0.4 * 500

    @pytest.mark.parametrize("tier", ["task", "project"])
    def test_what_is_too_long_is_told_shorter(self, api: APIClient, task: str, tier: str) -> None:
        long = " ".join(f"Step {each} moves the billing port to host {each}." for each in range(60))
        if tier == "task":
            post(api, f"tasks/{task}/items", kind="reasoning", text=long)
        else:
            remember(api, long, project="apollo")

        whole, short = package(api, budget_tokens=5000), package(api, budget_tokens=700)

        assert {each["text_level"] for each in whole["items"]} == {"content"}
        assert whole["compression_ratio"] == 1
        (shortened,) = [each for each in short["items"] if each["text_level"] != "content"]
        assert shortened["tier"] == tier
        assert shortened["text"] in short["text"]
        assert short["tokens_used"] <= 700
        assert short["compression_ratio"] < 1

    def test_both_ends_are_kept_before_all_others(self, api: APIClient, task: str) -> None:
        fill(api, 60, project="apollo")

        answer = package(api, budget_tokens=400, head_tail_preserve=2)

        kept = [each["importance"] for each in answer["items"] if each["is_kept"]]
        assert kept == [10, 10, 1, 1]
        plain = package(api, budget_tokens=400, head_tail_preserve=0)
        assert not any(each["is_kept"] for each in plain["items"])


class TestRefusals:
    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"budget_tokens": 99}, "budget_tokens"),
            ({"budget_tokens": "many"}, "budget_tokens"),
            ({"shares": {"task": 0.7, "project": 0.4}}, "shares"),
            ({"shares": {"task": -0.1}}, "shares"),
            ({"shares": {"team": 0.1}}, "shares"),
            ({"head_tail_preserve": 101}, "head_tail_preserve"),
            ({"filters": {"importance": {"$near": 3}}}, "filters"),
            ({"filters": {"colour": "red"}}, "filters"),
            ({"project": "zeus"}, "project"),
            ({"task": "a b"}, "task"),
            ({"colour": "red"}, "colour"),
        ],
    )
    def test_what_is_wrong_is_named(
        self, api: APIClient, task: str, body: dict[str, object], field: str
    ) -> None:
        answer = post(api, "context/package", **{"task": task, "agent": "kyra", **body})

        assert answer.status_code == 422, answer.content
        assert field in str(answer.json()["errors"])

    @pytest.mark.parametrize(("end", "status"), [("complete", 409), ("fail", 409)])
    def test_a_task_that_ended(self, api: APIClient, task: str, end: str, status: int) -> None:
        post(api, f"tasks/{task}/{end}")

        assert post(api, "context/package", task=task, agent="kyra").status_code == status

    def test_an_unknown_task_or_agent(self, api: APIClient, task: str) -> None:
        assert post(api, "context/package", task="never", agent="kyra").status_code == 404
        assert post(api, "context/package", task=task, agent="nobody").status_code == 404

    def test_where_memory_is_switched_off(self, api: APIClient, acme: Cast, task: str) -> None:
        switch(acme, memory=False)

        assert post(api, "context/package", task=task, agent="kyra").status_code == 403

    @pytest.mark.parametrize(
        "policy",
        [
            {"shares": {"task": 0.7, "project": 0.4}},
            {"shares": {"task": "half"}},
            {"head_tail_preserve": -1},
            {"tail": 1},
        ],
    )
    def test_a_document_with_a_wrong_policy(
        self, api: APIClient, policy: dict[str, object]
    ) -> None:
        answer = api.put(
            "/v1/agents/kyra", {"memory_config": {"context_policy": policy}}, format="json"
        )

        assert answer.status_code == 422
        assert "context_policy" in str(answer.json()["errors"])


class TestWhatNeverComes:
    def test_of_another_project_person_agent_or_team(
        self, acme: Cast, globex: Cast, client_of: Clients
    ) -> None:
        team, theirs = client_of(acme), client_of(globex)
        secrets = {
            "zanzibar": {"project": "zeus"},
            "bramble": {"user": "dmitri"},
            "obsidian": {"agent": "luke", "memory_type": "agent_private"},
            "quokka": {"user": "dmitri", "category": "preferences"},
            "heron": {"user": "dmitri", "project": "apollo"},
        }
        for word, whose in secrets.items():
            remember(team, f"The billing port opens with the word {word}.", **whose)
        remember(theirs, "The billing port opens with the word saffron.", project="apollo")
        for agent, task in (("kyra", "fix-17"), ("luke", "fix-18")):
            post(team, "tasks", id=task, agent=agent, project="apollo")
            text = {"kyra": PLAN, "luke": "The billing port was seen by a walrus."}[agent]
            post(team, f"tasks/{task}/items", kind="reasoning", text=text)

        for user in ("sarah", "unheard-of", None):
            told = package(team, user=user, budget_tokens=4000)
            assert PLAN in told["text"]
            assert not [w for w in (*secrets, "saffron", "walrus") if w in str(told)]

    def test_a_task_of_another_agent_or_team_is_as_none(
        self, acme: Cast, globex: Cast, client_of: Clients, task: str
    ) -> None:
        luke, stranger = client_of(acme, acme.luke), client_of(globex)
        post(client_of(acme), "tasks", id="ours")

        for client, agent in ((luke, "luke"), (stranger, "kyra"), (client_of(acme), "luke")):
            theirs, nothing = (
                post(client, "context/package", task=each, agent=agent) for each in (task, "never")
            )
            assert (theirs.status_code, theirs.content) == (404, nothing.content)
        assert post(luke, "context/package", task=task, agent="kyra").status_code == 403
        assert post(luke, "context/package", task="ours", agent="luke").status_code == 404
        assert package(client_of(acme), "ours")["task"] == "ours"

    def test_no_item_opens_a_line_or_heading_of_its_own(self, api: APIClient, task: str) -> None:
        orders = hostile_messages()[::4]
        for order in orders[:95]:
            post(api, f"tasks/{task}/items", kind="reasoning", text=order)

        answer = package(api, budget_tokens=20_000)

        lines = answer["text"].splitlines()
        shown = [each["text"] for each in answer["items"]]
        assert len(shown) > 90
        assert [line for line in lines if line.startswith("[")] == shown
        assert [line for line in lines if line.startswith("#")] == ["## This Task"]
