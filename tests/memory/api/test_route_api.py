"""`POST /v1/route`: which model a query is worth, without calling it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from routing.domain.complexity import DIMENSIONS
from routing.models import RoutingDecision
from teams.models import EndUser
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.chat_models import make_models
from tests.support.openai_server import FakeOpenAI

URL = "/v1/route"


def ask(api: APIClient, **body: object) -> Any:
    return api.post(URL, {"query": "What time is it?", "agent": "kyra", **body}, format="json")


def test_a_route_says_tier_model_scores_reason_cost_and_budget(api: APIClient, acme: Cast) -> None:
    with FakeOpenAI() as server:
        make_models(acme, server)
        answer = ask(api, user="sarah")
        assert server.requests == []

    assert answer.status_code == 200
    body = answer.json()
    assert (body["tier"], body["model"], body["provider"]) == ("fast", "swift", "local")
    assert body["configured"] is True
    assert body["fallbacks"][0] == {"model": "steady", "provider": "local", "tier": "balanced"}
    assert list(body["scores"]) == list(DIMENSIONS)
    for part in body["scores"].values():
        assert 0 <= part["score"] <= 10
        assert part["reason"]
    weighted = sum(part["score"] * part["weight"] for part in body["scores"].values())
    assert body["score"] == pytest.approx(weighted, abs=0.001)
    assert body["scorer"] == "heuristics"
    assert "fast" in body["reason"]
    assert body["estimated_cost_usd"] > 0
    assert body["budget_left"]["left_usd"] == 5.0
    assert body["budget_left"]["tightest"] == "user_day"
    assert body["budget_left"]["team_month"]["left_usd"] == 100.0
    assert body["budget_left"]["agent_day"] is None
    kept = RoutingDecision.objects.get(pk=body["decision"])
    assert (kept.model, kept.end_user, kept.outcome) == ("swift", acme.sarah, "advised")


def test_history_is_texts_or_messages_and_makes_a_query_depend_on_it(api: APIClient) -> None:
    texts = ["Tell me about Oslo.", "Oslo is the capital of Norway."]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": texts[0]},
        {"role": "assistant", "content": texts[1]},
    ]

    alone = ask(api, query="And what about the second one?").json()
    told, said = (
        ask(api, query="And what about the second one?", history=history).json()
        for history in (texts, messages)
    )

    assert told["scores"] == said["scores"]
    assert told["estimated_cost_usd"] >= alone["estimated_cost_usd"]


def test_a_person_never_seen_has_a_whole_days_budget_and_is_not_created(api: APIClient) -> None:
    answer, of_nobody = ask(api, user="stranger"), ask(api)

    assert answer.status_code == 200
    budget = answer.json()["budget_left"]
    assert (budget["tightest"], budget["user_day"]["left_usd"]) == ("user_day", 5.0)
    assert of_nobody.json()["budget_left"]["user_day"] is None
    assert not EndUser.objects.filter(external_id="stranger").exists()
    assert RoutingDecision.objects.get(pk=answer.json()["decision"]).end_user_id is None


def test_without_a_model_configured_the_tier_is_told_all_the_same(api: APIClient) -> None:
    body = ask(api).json()

    assert body["configured"] is False
    assert body["model"] == "anthropic/claude-haiku-4.5"


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"agent": "nobody"}, 404, "agent"),
        ({"query": "x" * 8_001}, 422, "query"),
        ({"query": "  "}, 422, "query"),
        ({"query": None}, 422, "query"),
        ({"agent": None}, 422, "agent"),
        ({"history": "Hello"}, 422, "history"),
        ({"history": [5]}, 422, "history[0]"),
        ({"history": [{"role": "user"}]}, 422, "history[0].content"),
        ({"history": [{"role": "pope", "content": "x"}]}, 422, "history[0].role"),
        ({"history": [{"role": "user", "content": "x", "y": 1}]}, 422, "history[0].y"),
        ({"history": ["x" * 32_001]}, 422, "history[0].content"),
        ({"history": ["x"] * 501}, 422, "history"),
        ({"tier": "fast"}, 422, "tier"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_kept(
    api: APIClient, body: dict[str, object], status: int, field: str
) -> None:
    answer = ask(api, **body)

    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert field in answer.json()["errors"]
    assert not RoutingDecision.objects.exists()


def test_the_longest_query_is_routed(api: APIClient) -> None:
    assert ask(api, query="word " * 1_600).status_code == 200


def test_a_key_of_one_agent_routes_for_no_other(
    acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    bound = client_of(acme, acme.luke)

    assert ask(bound).status_code == 403
    assert ask(bound, agent="luke").status_code == 200


def test_disabled_models_are_said_to_be_the_reason(api: APIClient, acme: Cast) -> None:
    provider = make_models(acme)
    provider.is_enabled = False
    provider.save()

    answer = ask(api)

    assert answer.status_code == 503
    assert "enables one" in answer.json()["detail"]


def test_an_agents_document_that_cannot_be_used_is_named(api: APIClient, acme: Cast) -> None:
    acme.kyra.model_config = {"force_tier": "gigantic"}
    acme.kyra.save()

    answer = ask(api)

    assert answer.status_code == 422
    assert "force_tier" in answer.json()["detail"]


def test_another_team_is_routed_by_its_own_models(
    acme: Cast, globex: Cast, client_of: Callable[..., APIClient]
) -> None:
    make_models(acme)
    theirs = client_of(globex)

    body = ask(theirs).json()

    assert body["provider"] == "settings"
    assert not RoutingDecision.objects.exists()
    with team_scope(team_ids=[globex.team.id], actor="test"):
        assert RoutingDecision.objects.count() == 1


def test_the_same_request_under_a_key_is_decided_once(api: APIClient) -> None:
    body = {"query": "What time is it?", "agent": "kyra"}
    first, second = (
        api.post(URL, body, format="json", headers={"Idempotency-Key": "one"}) for _ in "ab"
    )

    assert first.content == second.content
    assert RoutingDecision.objects.count() == 1
