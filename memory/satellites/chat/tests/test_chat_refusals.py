"""Refusals that both a person and a client of the protocol can read."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import openai
import pytest

from routing.models import RoutingDecision
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.chat import Ask, Town
from tests.support.openai_server import FakeOpenAI, error

Message = dict[str, Any]


def hello(client: openai.OpenAI, **options: Any) -> Any:
    """A plain question."""
    messages: Any = options.pop("messages", [{"role": "user", "content": "Hi."}])
    return client.chat.completions.create(**{"model": "kyra", "messages": messages, **options})


def refused(client: openai.OpenAI, **options: Any) -> openai.APIStatusError:
    """The refusal of a question."""
    with pytest.raises(openai.APIStatusError) as caught:
        hello(client, **options)
    return caught.value


def test_without_any_model_it_says_how_to_configure_one(bare: Town) -> None:
    client = bare.client(max_retries=2)
    refusal = refused(client)

    assert refusal.status_code == 503
    assert refusal.response.headers["Content-Type"] == "application/problem+json"
    assert "OPENAI_BASE_URL" in refusal.response.json()["detail"]
    assert refusal.code == "no_model_configured"
    # A client that tries again by itself is told that it would not help.
    assert refusal.response.headers["X-Should-Retry"] == "false"
    assert "kyra" in {each.id for each in client.models.list()}


def test_that_no_model_is_configured_is_no_error_of_the_server(
    bare: Town, caplog: pytest.LogCaptureFixture
) -> None:
    refused(bare.client())

    assert [each for each in caplog.records if each.levelname in ("ERROR", "CRITICAL")] == []
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"user": "sarah", "extra_headers": {"X-Palimpsest-User": "dmitri"}}, "user"),
        ({"user": "sarah", "metadata": {"user": "dmitri"}}, "user"),
        (
            {"metadata": {"thread_id": "a"}, "extra_headers": {"X-Palimpsest-Thread": "b"}},
            "metadata.thread_id",
        ),
        (
            {"metadata": {"project": "a"}, "extra_headers": {"X-Palimpsest-Project": "b"}},
            "metadata.project",
        ),
    ],
)
def test_two_names_for_one_thing_are_refused_and_nothing_is_stored(
    town: Town, client: openai.OpenAI, model: FakeOpenAI, given: dict[str, Any], param: str
) -> None:
    refusal = refused(client, **given)

    assert (refusal.status_code, refusal.param) == (422, param)
    assert "Leave one of them out" in refusal.message
    assert town.said() == []
    assert model.chats == []


def test_the_same_name_in_both_places_is_one_name(town: Town, client: openai.OpenAI) -> None:
    hello(client, user="sarah", extra_headers={"X-Palimpsest-User": "sarah"})

    assert [each.end_user_id for each in town.conversations()] == [town.cast.sarah.pk]


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"n": 2}, "n"),
        ({"messages": []}, "messages"),
        ({"messages": ["Hi."]}, "messages[0]"),
        ({"messages": [{"role": "nobody", "content": "Hi."}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages[0].content[0].text",
        ),
        ({"messages": [{"role": "user", "content": ["Hi."]}]}, "messages[0].content[0]"),
        ({"model": ""}, "model"),
        ({"model": "/fast"}, "model"),
        ({"model": "ky ra"}, "model"),
        ({"user": "x" * 201}, "user"),
        ({"metadata": {"thread_id": "a\nb"}}, "metadata.thread_id"),
        ({"metadata": {"thread_id": "x" * 201}}, "metadata.thread_id"),
        ({"metadata": ["t"]}, "metadata"),
        ({"extra_body": {"stream": "yes"}}, "stream"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_stored(
    town: Town, client: openai.OpenAI, model: FakeOpenAI, given: dict[str, Any], param: str
) -> None:
    refusal = refused(client, **given)

    assert (refusal.status_code, refusal.param) == (422, param)
    assert refusal.response.json()["errors"].keys() == {param}
    assert town.said() == []
    assert model.chats == []


def test_a_number_that_no_json_has_is_refused(
    town: Town, client: openai.OpenAI, model: FakeOpenAI
) -> None:
    body = b'{"model": "kyra", "messages": [{"role": "user", "content": "Hi"}], "top_p": 1e999}'
    headers = {"Content-Type": "application/json"}
    with pytest.raises(openai.UnprocessableEntityError, match="Numbers must be finite"):
        client.post("/chat/completions", cast_to=object, content=body, options={"headers": headers})

    assert town.said() == []
    assert model.chats == []


def test_half_a_surrogate_pair_is_refused(town: Town, client: openai.OpenAI) -> None:
    body = b'{"model": "kyra", "messages": [{"role": "user", "content": "\\ud800"}]}'
    headers = {"Content-Type": "application/json"}
    with pytest.raises(openai.UnprocessableEntityError, match="surrogate"):
        client.post("/chat/completions", cast_to=object, content=body, options={"headers": headers})

    assert town.said() == []


def test_an_unknown_tier_is_told_with_the_known_ones(client: openai.OpenAI) -> None:
    refusal = refused(client, model="kyra/strongest")

    assert (refusal.status_code, refusal.code) == (404, "model_not_found")
    assert "auto, fast, balanced, powerful" in refusal.message


def test_a_wrong_key_is_401(town: Town) -> None:
    client = openai.OpenAI(base_url=f"{town.url}/v1", api_key="wrong", max_retries=0)

    assert isinstance(refused(client), openai.AuthenticationError)


def test_a_key_of_one_agent_speaks_for_no_other(town: Town) -> None:
    refusal = refused(town.client(agent=town.cast.luke))

    assert (refusal.status_code, refusal.type) == (403, "permission_error")
    assert refusal.param == "model"


def test_an_empty_budget_is_402_with_what_is_left(
    town: Town, client: openai.OpenAI, model: FakeOpenAI
) -> None:
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        Team.objects.filter(pk=town.cast.team.pk).update(daily_user_budget_usd=Decimal("0.000001"))
    refusal = refused(client)

    assert (refusal.status_code, refusal.code) == (402, "budget_exceeded")
    body = refusal.response.json()
    assert (body["cap"], body["remaining"]) == ("user_day", 0.000001)
    assert body["resets_at"]
    assert model.chats == []
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        decision = RoutingDecision.objects.get(team=town.cast.team)
    assert decision.outcome == "failed"
    assert decision.attempts[0]["failure"] == "not paid for by the person's day"


def test_a_request_that_the_model_refuses_is_told_in_its_words(
    client: openai.OpenAI, model: FakeOpenAI
) -> None:
    model.will(error(400, code="invalid_tool", message="Tool names must not be empty."))
    refusal = refused(client)

    assert (refusal.status_code, refusal.code) == (422, "invalid_tool")
    assert "Tool names must not be empty." in refusal.message


def test_a_refused_request_under_a_key_may_be_sent_again(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    model.will(*[error(500)] * 3)
    headers = {"Idempotency-Key": "k"}
    with pytest.raises(openai.InternalServerError):
        ask("Hi.", extra_headers=headers)

    assert ask("Hi.", extra_headers=headers).choices[0].message.content == "OK"
    assert town.said("t") == [("user", "Hi."), ("assistant", "OK")]
