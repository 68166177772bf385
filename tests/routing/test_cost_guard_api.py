"""Returns the reservations made when all of them act at the same moment."""

from __future__ import annotations

import json
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from config.problems import problem_for
from routing.clients.spend_counters import spend_counters
from routing.services.cost_guard import BudgetExceededError
from tests.support.budgets import Till, limit_agent
from tests.support.cast import Cast, Clients, make_cast


@pytest.fixture
def till(committed_db: None) -> Till:
    """A team that has spent nothing yet, with the budgets of the settings."""
    return Till(make_cast(f"budget-{uuid4().hex}"), spend_counters(), now=timezone.now())


@pytest.fixture
def client(till: Till, client_of: Clients) -> APIClient:
    """A client with a key of the team."""
    return client_of(till.cast)


def test_what_is_left_is_told_for_an_agent_and_a_person(till: Till, client: APIClient) -> None:
    till.spend("1.5")
    till.reserve("0.25")
    answer = client.get("/v1/budget", {"agent": "kyra", "user": "sarah"}).json()

    day, month = answer.pop("user_day"), answer.pop("team_month")
    assert answer == {
        "left_usd": 3.25,
        "tightest": "user_day",
        "advice": "go",
        "agent_day": None,
        "agent_month": None,
    }
    resets = [day.pop("resets_at"), month.pop("resets_at")]
    assert resets[0][10:] == "T00:00:00Z"
    assert resets[1][7:] == "-01T00:00:00Z"
    assert day == {"limit_usd": 5.0, "spent_usd": 1.5, "held_usd": 0.25, "left_usd": 3.25}
    assert month == {"limit_usd": 100.0, "spent_usd": 1.5, "held_usd": 0.25, "left_usd": 98.25}


def test_an_agents_own_budget_is_told(till: Till, client: APIClient) -> None:
    limit_agent(till.cast.luke, day=2, month=1)
    answer = client.get("/v1/budget", {"agent": "luke"}).json()

    assert answer["user_day"] is None
    assert (answer["agent_day"]["left_usd"], answer["agent_month"]["left_usd"]) == (2, 1)
    assert answer["tightest"] == "agent_month"


def test_a_key_of_one_agent_need_not_name_it(till: Till, client_of: Clients) -> None:
    luke = client_of(till.cast, till.cast.luke)
    own = luke.get("/v1/budget")
    other = luke.get("/v1/budget", {"agent": "kyra"})

    assert (own.status_code, other.status_code) == (200, 403)
    assert own.json()["left_usd"] == 100


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({}, 422, "Name an agent"),
        ({"agent": "nobody"}, 404, "no agent 'nobody'"),
        ({"agent": "kyra", "user": "\x00"}, 422, "user"),
        ({"agent": ""}, 422, "agent"),
        ({"agent": "kyra", "usr": "sarah"}, 422, "no such field"),
    ],
)
def test_a_bad_question_is_answered_with_what_is_wrong(
    query: dict[str, str], status: int, words: str, client: APIClient
) -> None:
    answer = client.get("/v1/budget", query)

    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert words in answer.json()["detail"]


def test_for_a_person_nobody_knows_nothing_was_spent(till: Till, client: APIClient) -> None:
    till.spend("4.75")
    answer = client.get("/v1/budget", {"agent": "kyra", "user": "stranger"}).json()

    assert answer["user_day"]["left_usd"] == 5
    assert answer["team_month"]["left_usd"] == 95.25


def test_another_teams_spend_is_not_seen(till: Till, client_of: Clients) -> None:
    till.spend("4")
    other: Cast = make_cast(f"budget-{uuid4().hex}")
    answer = client_of(other).get("/v1/budget", {"agent": "kyra", "user": "sarah"}).json()

    assert answer["left_usd"] == 5


def test_a_refusal_says_which_cap_what_remains_and_what_would_fit(till: Till) -> None:
    till.spend("4.4")
    with pytest.raises(BudgetExceededError) as refused:
        till.reserve("0.75", alternatives={"fast": Decimal("0.5")})
    answer = problem_for(refused.value)

    assert answer is not None
    assert (answer.status_code, answer["Content-Type"]) == (402, "application/problem+json")
    body = json.loads(answer.content)
    assert body.pop("resets_at")[10:] == "T00:00:00Z"
    assert "may cost 0.75 USD, and the person's day has 0.6 of 5 USD left" in body.pop("detail")
    assert body == {
        "type": "about:blank",
        "title": "Budget exceeded",
        "status": 402,
        "cap": "user_day",
        "limit": 5.0,
        "remaining": 0.6,
        "estimated": 0.75,
        "suggested_tier": "fast",
    }
