"""Calling models over real HTTP: order, failures, streams, tools, usage, keys."""

from __future__ import annotations

import json
import logging
import traceback
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from routing.clients.chat_calls import ChatRequest
from routing.clients.endpoints import check_endpoint
from routing.domain.chat_answers import given_limits, tokens_of_request
from routing.models import Provider, RoutingDecision
from routing.services.calling import (
    NoModelAnsweredError,
    RequestRefusedError,
    call,
    open_stream,
)
from routing.services.router import NoModelConfiguredError, Route
from tests.support.cast import Cast
from tests.support.chat_calls import (
    PROMPT,
    TOOLS,
    ask,
    asked,
    once,
    outcome,
    route,
    server,
    text_of,
)
from tests.support.chat_models import make_model, make_models, make_provider, route_of
from tests.support.openai_server import Behaviour, FakeOpenAI, dropped, error, slow, tool_call

__all__ = ["once", "route", "server"]
SECRET = "sk-of-the-test-4711"


def test_the_chosen_model_answers_and_its_count_is_the_cost(
    route: Route, server: FakeOpenAI
) -> None:
    server.will(Behaviour(content="Green, as ever."))

    answer = call(route=route, request=ask(temperature=0.3, user="sarah"))

    assert text_of(answer) == "Green, as ever."
    (request,) = server.chats
    assert request.body == {
        "model": "swift",
        "messages": [{"role": "user", "content": PROMPT}],
        "stream": False,
        "temperature": 0.3,
        "user": "sarah",
        "max_tokens": 1000,
    }
    usage = answer.body["usage"]
    assert not answer.is_estimated
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (
        usage["prompt_tokens"],
        usage["completion_tokens"],
    )
    assert answer.usage.model == "swift"
    assert answer.usage.tier == "fast"
    expected = (usage["prompt_tokens"] * Decimal("0.001") + 3 * Decimal("0.004")) / 1000
    assert answer.cost_usd == expected
    kept = outcome(route)
    assert (kept.outcome, kept.answered_by, kept.attempts) == ("answered", "swift", [])
    assert kept.cost_usd == answer.cost_usd


@pytest.mark.parametrize("status", [429, 500, 503, 401, 404])
def test_the_next_model_answers_for_one_that_fails(
    route: Route, server: FakeOpenAI, status: int
) -> None:
    server.will(error(status), Behaviour(content="Here."))

    answer = call(route=route, request=ask())

    assert asked(server) == ["swift", "steady"]
    assert answer.choice.name == "steady"
    assert answer.cost_usd == answer.choice.cost(
        input_tokens=answer.usage.input_tokens, output_tokens=answer.usage.output_tokens
    )
    kept = outcome(route)
    assert kept.model == "swift"
    assert kept.answered_by == "steady"
    assert kept.attempts == [{"model": "swift", "provider": "local", "failure": f"HTTP {status}"}]


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (dropped(), "no connection"),
        (Behaviour(body="<html>busy</html>", content_type="text/html"), "nonsense"),
        (Behaviour(body='{"error": {"message": "no"}}'), "nonsense"),
        (Behaviour(body='{"choices": []}'), "nonsense"),
        (Behaviour(body='{"choices": [null, {"message": {"content": "A"}}]}'), "nonsense"),
        (Behaviour(body="{"), "nonsense"),
        (Behaviour(status=302, headers={"Location": "http://elsewhere.invalid/"}), "HTTP 302"),
    ],
)
def test_what_is_no_answer_goes_to_the_next_model(
    route: Route, server: FakeOpenAI, behaviour: Behaviour, said: str
) -> None:
    for way in (call, open_stream):
        server.will(behaviour)
        answer = way(route=route, request=ask())
        assert answer.choice.name == "steady"
        assert [each.failure for each in answer.attempts] == [said]


def test_a_silent_model_is_given_up_after_its_providers_time(
    acme: Cast, server: FakeOpenAI
) -> None:
    make_models(acme, server, timeout_seconds=0.2)
    server.will(slow(30))

    answer = call(route=route_of(acme), request=ask())

    assert [each.failure for each in answer.attempts] == ["timeout"]
    assert answer.choice.name == "steady"


def test_another_provider_of_the_tier_goes_before_another_tier(
    acme: Cast, server: FakeOpenAI
) -> None:
    make_models(acme, server)
    with FakeOpenAI() as other:
        second = make_provider(acme, other, name="other")
        make_model(second, "fast", name="quick", priority=200)
        server.will(error(500))

        answer = call(route=route_of(acme), request=ask())

        assert asked(other) == ["quick"]
    assert answer.choice.provider == "other"


def test_an_address_that_no_client_reads_is_passed_over(acme: Cast, server: FakeOpenAI) -> None:
    first = make_provider(acme, name="mistyped")
    make_model(first, "fast", name="quick", priority=1)
    make_models(acme, server)
    Provider.objects.filter(pk=first.pk).update(base_url="https://192.168.1.300:8000/v1")

    answer = call(route=route_of(acme), request=ask())

    assert answer.choice.provider == "local"
    url = "https://192.168.1.300:8000/v1"
    found = check_endpoint(base_url=url, api_key="", timeout=1.0, models=["quick"])
    assert not found.is_well
    assert "cannot be read" in found.words


def test_all_fail_and_the_answer_says_how(route: Route, server: FakeOpenAI) -> None:
    server.will(error(500), error(429), error(401, code="invalid_api_key"))

    with pytest.raises(NoModelAnsweredError) as caught:
        call(route=route, request=ask())

    assert caught.value.message == (
        "No model answered (swift: HTTP 500; steady: HTTP 429; mighty: HTTP 401 invalid_api_key)."
    )
    kept = outcome(route)
    assert (kept.outcome, kept.answered_by, kept.cost_usd) == ("failed", "", None)
    assert len(kept.attempts) == 3


def test_no_further_model_is_tried_when_time_is_up(
    route: Route, server: FakeOpenAI, settings: Any
) -> None:
    settings.CHAT_TRY_SECONDS = 0.0
    server.will(error(500))

    with pytest.raises(NoModelAnsweredError):
        call(route=route, request=ask())

    assert asked(server) == ["swift"]


@pytest.mark.parametrize("status", [400, 422])
def test_a_request_at_fault_is_refused_in_the_endpoints_words(
    route: Route, server: FakeOpenAI, status: int
) -> None:
    server.will(error(status, code="bad_tool", param="tools", message="tools[0] has no\nname"))

    with pytest.raises(RequestRefusedError) as caught:
        call(route=route, request=ask(tools=[{}]))

    assert caught.value.message == "swift refused the request: tools[0] has no name"
    assert caught.value.code == "bad_tool"
    assert asked(server) == ["swift"]
    assert outcome(route).outcome == "failed"


def test_a_content_filter_is_not_tried_elsewhere(route: Route, server: FakeOpenAI) -> None:
    server.will(error(400, code="content_filter"))

    with pytest.raises(RequestRefusedError) as caught:
        call(route=route, request=ask())

    assert caught.value.code == "content_filter"
    assert len(server.chats) == 1


def test_what_is_too_long_for_one_model_is_tried_with_the_next(
    route: Route, server: FakeOpenAI
) -> None:
    long = error(400, code="context_length_exceeded", message="Too long.")
    server.will(long, Behaviour(content="Fits."))
    assert text_of(call(route=route, request=ask())) == "Fits."

    server.will(long, long, long)
    with pytest.raises(RequestRefusedError) as caught:
        call(route=route, request=ask())
    assert caught.value.is_too_long


def test_tools_and_unknown_parameters_go_through_untouched(
    route: Route, server: FakeOpenAI
) -> None:
    calls = [tool_call("look", {"whose": "Sarah"}), tool_call("look", {}, call_id="call_2")]
    server.will(Behaviour(tool_calls=calls))
    history: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": PROMPT}], "x-note": {"deep": [1]}},
        {"role": "assistant", "content": None, "tool_calls": [tool_call("look", {})]},
        {"role": "tool", "tool_call_id": "call_1", "content": "green"},
    ]
    parameters = {
        "tools": TOOLS,
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "parallel_tool_calls": False,
        "top_k": 5,
        "metadata": {"thread": "t"},
        "reasoning_effort": "low",
    }

    answer = call(route=route, request=ChatRequest(history, parameters))

    sent = server.chats[0].body
    assert sent["messages"] == history
    assert {name: sent[name] for name in parameters} == parameters
    assert answer.body["choices"][0]["message"]["tool_calls"] == calls
    assert answer.body["choices"][0]["finish_reason"] == "tool_calls"


def test_a_limit_above_the_models_own_is_lowered(route: Route, server: FakeOpenAI) -> None:
    call(route=route, request=ask(max_tokens=50_000))
    call(route=route, request=ask(max_completion_tokens=20))
    call(route=route, request=ask(max_completion_tokens=20, max_tokens=900))
    call(route=route, request=ask(max_tokens=100.0))
    call(route=route, request=ask(max_completion_tokens=None))
    choices = tuple(replace(each, context_window=100) for each in route.choices)
    call(route=replace(route, choices=choices), request=ask())

    limits = [given_limits(each.body) for each in server.chats]
    assert limits == [
        {"max_tokens": 1_000},
        {"max_completion_tokens": 20},
        {"max_completion_tokens": 20, "max_tokens": 20},
        {"max_tokens": 100},
        {"max_tokens": 1_000},
        {"max_tokens": 100 - tokens_of_request(server.chats[-1].body["messages"], {})},
    ]
    assert "max_completion_tokens" not in server.chats[4].body


def test_a_model_with_other_names_is_served_and_remembered(
    route: Route, server: FakeOpenAI
) -> None:
    server.will(
        error(400, code="unsupported_parameter", param="max_tokens"),
        error(400, code="unsupported_value", param="temperature"),
    )

    for _ in range(2):
        call(route=route, request=ask(max_tokens=50, temperature=0.5))

    assert len(server.chats) == 4
    for request in server.chats[2:]:
        assert request.body["max_completion_tokens"] == 50
        assert not {"max_tokens", "temperature"} & set(request.body)


def test_a_value_that_is_refused_is_no_word_of_the_endpoints(
    route: Route, server: FakeOpenAI
) -> None:
    server.will(error(400, code="decimal_above_max_value", param="temperature", message="Too hot."))

    with pytest.raises(RequestRefusedError, match="Too hot"):
        call(route=route, request=ask(temperature=5))
    call(route=route, request=ask(temperature=0))

    assert [each.body["temperature"] for each in server.chats] == [5, 0]


def test_an_answer_without_a_count_is_estimated(route: Route, server: FakeOpenAI) -> None:
    server.will(Behaviour(content="word " * 70, counts=False))

    answer = call(route=route, request=ask(tools=TOOLS))

    assert answer.is_estimated
    assert answer.usage.output_tokens == 100
    assert answer.usage.input_tokens > len(json.dumps(TOOLS)) / 4
    assert outcome(route).cost_usd == answer.cost_usd > 0


def test_a_key_reaches_its_endpoint_and_nothing_else(
    acme: Cast,
    server: FakeOpenAI,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.PROVIDER_KEYS = {"PROVIDER_KEY_LOCAL": SECRET}
    make_models(acme, server, key_variable="PROVIDER_KEY_LOCAL")
    route = route_of(acme)
    caplog.set_level(logging.DEBUG, logger="routing")
    server.will(error(400, message=f"Bad request with key {SECRET}."))

    with pytest.raises(RequestRefusedError) as refused:
        call(route=route, request=ask())
    server.will(error(401, message=SECRET), error(500, message=SECRET), error(403, message=SECRET))
    with pytest.raises(NoModelAnsweredError) as failed:
        call(route=route, request=ask())

    assert {each.headers["authorization"] for each in server.chats} == {f"Bearer {SECRET}"}
    shown = "".join("".join(traceback.format_exception(each.value)) for each in (refused, failed))
    kept = json.dumps(list(RoutingDecision.objects.values()), default=str)
    for place in (shown, caplog.text, repr(route), kept):
        assert SECRET not in place
    assert PROMPT not in caplog.text + kept
    assert "Bad request with key [key]." in refused.value.message


def test_an_endpoint_without_a_key_gets_none_of_the_servers(
    acme: Cast, server: FakeOpenAI, settings: Any
) -> None:
    settings.OPENAI_API_KEY = SECRET
    make_models(acme, server)

    call(route=route_of(acme), request=ask())

    assert SECRET not in json.dumps(dict(server.chats[0].headers))


def test_a_provider_whose_key_is_missing_is_left_out_with_the_reason(
    acme: Cast, server: FakeOpenAI
) -> None:
    make_models(acme, server)
    keyless = make_provider(acme, server, name="keyless", key_variable="PROVIDER_KEY_GONE")
    make_model(keyless, "fast", name="quick", priority=1)
    route = route_of(acme)
    assert route.model.name == "quick"

    answer = call(route=route, request=ask())

    assert asked(server) == ["swift"]
    assert [each.failure for each in answer.attempts] == [
        "PROVIDER_KEY_GONE is not set on this server"
    ]


def test_without_any_model_configured_the_refusal_says_how(acme: Cast) -> None:
    route = route_of(acme)
    assert not route.is_configured

    with pytest.raises(NoModelConfiguredError, match="OPENAI_BASE_URL"):
        call(route=route, request=ask())
    with pytest.raises(NoModelConfiguredError, match="in the admin"):
        open_stream(route=route, request=ask())


def test_the_settings_stand_for_a_team_without_models(
    acme: Cast, server: FakeOpenAI, settings: Any
) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = server.base_url, SECRET

    answer = call(route=route_of(acme), request=ask())

    assert asked(server) == ["anthropic/claude-haiku-4.5"]
    assert server.chats[0].headers["authorization"] == f"Bearer {SECRET}"
    assert answer.choice.provider == "settings"
