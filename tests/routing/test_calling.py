"""Calling models over real HTTP: order, failures, streams, tools, usage, keys."""

from __future__ import annotations

import json
import logging
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings as configured
from pytest_django import Settings

from routing.clients.breaker import Breaker
from routing.clients.quick_redis import quick_redis
from routing.domain.circuits import Policy
from routing.models import RoutingDecision
from routing.services.calling import (
    Answer,
    ChatRequest,
    NoModelAnsweredError,
    NoModelConfiguredError,
    RequestRefusedError,
    StreamCutError,
    call,
    open_stream,
)
from routing.services.router import Route
from tests.conftest import Cast
from tests.openai_server import (
    Behaviour,
    FakeOpenAI,
    dropped,
    error,
    slow,
    tool_call,
    truncated,
)
from tests.routing.models import make_model, make_models, make_provider, route_of

SECRET = "sk-of-the-test-4711"
PROMPT = "Which colour is Sarah's door?"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Looks at a door.",
            "parameters": {"type": "object", "properties": {"whose": {"type": "string"}}},
            "x-vendor": [1, None],
        },
    }
]


def ask(**parameters: Any) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": PROMPT}], parameters=parameters)


@pytest.fixture(autouse=True)
def once(settings: Settings) -> None:
    """Every model is asked once; how one is tried again is told in test_trying_again.py."""
    settings.CHAT_RETRY_SECONDS = 0.0


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def route(acme: Cast, server: FakeOpenAI) -> Route:
    """Swift first, then steady and mighty, all of them at the server."""
    make_models(acme, server)
    return route_of(acme)


def asked(server: FakeOpenAI) -> list[str]:
    """The models that were asked, in order."""
    return [request.body["model"] for request in server.chats]


def outcome(route: Route) -> RoutingDecision:
    return RoutingDecision.objects.get(pk=route.decision_id)


def text_of(answer: Answer) -> str:
    content: str = answer.body["choices"][0]["message"]["content"]
    return content


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

    assert server.chats[0].body["max_tokens"] == 1_000
    assert server.chats[1].body["max_completion_tokens"] == 20


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


# -- streams ---------------------------------------------------------------------------------


def test_a_stream_comes_word_by_word_with_the_endpoints_count(
    route: Route, server: FakeOpenAI
) -> None:
    server.will(Behaviour(content="Green, as ever."))

    with open_stream(route=route, request=ask(seed=3)) as stream:
        chunks = list(stream)

    assert server.chats[0].body["stream"] is True
    assert server.chats[0].body["stream_options"] == {"include_usage": True}
    assert server.chats[0].body["seed"] == 3
    words = [chunk["choices"][0]["delta"].get("content") for chunk in chunks]
    assert words == ["", "Green, ", "as ", "ever.", None]
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert stream.message == {"role": "assistant", "content": "Green, as ever."}
    assert stream.finish_reason == "stop"
    assert not stream.is_estimated
    assert stream.usage.output_tokens == 3
    kept = outcome(route)
    assert (kept.outcome, kept.cost_usd) == ("answered", stream.cost_usd)


def test_the_count_is_shown_to_whom_asked_for_it(route: Route, server: FakeOpenAI) -> None:
    with open_stream(
        route=route, request=ask(stream_options={"include_usage": True, "x": 1})
    ) as stream:
        last = list(stream)[-1]

    assert server.chats[0].body["stream_options"] == {"include_usage": True, "x": 1}
    assert last["choices"] == []
    assert last["usage"]["prompt_tokens"] > 0


def test_an_endpoint_that_cannot_count_streams_is_estimated_and_remembered(acme: Cast) -> None:
    with FakeOpenAI(stream_usage=False) as server:
        make_models(acme, server)
        for _ in range(2):
            server.will(Behaviour(), Behaviour(content="word " * 70))
            with open_stream(route=route_of(acme), request=ask()) as stream:
                for _chunk in stream:
                    pass
            server._script.clear()
            assert stream.is_estimated
            assert stream.usage.input_tokens >= len(PROMPT) / 4
        assert [("stream_options" in each.body) for each in server.chats] == [True, False, False]


def test_tool_calls_of_a_stream_are_put_together(route: Route, server: FakeOpenAI) -> None:
    calls = [tool_call("look", {"whose": "Sarah"}), tool_call("knock", {}, call_id="call_2")]
    server.will(Behaviour(tool_calls=calls, counts=False))

    with open_stream(route=route, request=ask(tools=TOOLS)) as stream:
        parts = [
            part for chunk in stream for part in chunk["choices"][0]["delta"].get("tool_calls", [])
        ]

    assert len(parts) == 4
    assert stream.message["tool_calls"] == calls
    assert stream.finish_reason == "tool_calls"
    assert stream.usage.output_tokens > 20


@pytest.mark.parametrize("behaviour", [error(429), error(500), dropped(), Behaviour(cut_after=0)])
def test_a_stream_that_never_began_goes_to_the_next_model(
    route: Route, server: FakeOpenAI, behaviour: Behaviour
) -> None:
    server.will(behaviour, Behaviour(content="Here."))

    with open_stream(route=route, request=ask()) as stream:
        for _chunk in stream:
            pass

    assert asked(server) == ["swift", "steady"]
    assert stream.message["content"] == "Here."
    assert outcome(route).answered_by == "steady"


def test_an_error_in_place_of_the_first_chunk_goes_to_the_next_model(
    route: Route, server: FakeOpenAI
) -> None:
    broken = 'data: {"error": {"message": "overloaded"}}\n\n'
    server.will(Behaviour(body=broken, content_type="text/event-stream"))

    with open_stream(route=route, request=ask()) as stream:
        assert stream.choice.name == "steady"


@pytest.mark.parametrize("silent", [False, True])
def test_a_stream_that_breaks_off_keeps_what_came_and_what_it_cost(
    acme: Cast, server: FakeOpenAI, silent: bool
) -> None:
    make_models(acme, server, timeout_seconds=0.3)
    route = route_of(acme)
    server.will(
        Behaviour(content="Green as ever.", cut_after=None if silent else 3)
        if not silent
        else Behaviour(
            body='data: {"choices": [{"index": 0, "delta": {"content": "Green as "}}]}\n\n',
            content_type="text/event-stream",
        )
    )

    with open_stream(route=route, request=ask()) as stream, pytest.raises(StreamCutError):
        for _chunk in stream:
            pass

    assert stream.message["content"] == "Green as "
    assert stream.finish_reason is None
    assert stream.is_estimated
    assert asked(server) == ["swift"]
    kept = outcome(route)
    assert (kept.outcome, kept.answered_by) == ("cut", "swift")
    assert kept.cost_usd == stream.cost_usd > 0


def test_a_reader_that_goes_away_stops_the_model(route: Route, server: FakeOpenAI) -> None:
    server.will(Behaviour(content="word " * 500, pause=0.01))

    with open_stream(route=route, request=ask()) as stream:
        for _chunk, _ in zip(stream, range(3), strict=False):
            pass

    assert server.abandoned.wait(60)
    assert stream.message["content"].startswith("word ")
    kept = outcome(route)
    assert kept.outcome == "cut"
    assert kept.cost_usd == stream.cost_usd > 0


def test_a_stream_that_is_closed_twice_or_after_its_end_keeps_its_outcome(
    route: Route, server: FakeOpenAI
) -> None:
    with open_stream(route=route, request=ask()) as stream:
        for _chunk in stream:
            pass
        stream.close()
    stream.close()

    assert outcome(route).outcome == "answered"


def test_a_truncated_answer_is_an_answer(route: Route, server: FakeOpenAI) -> None:
    server.will(truncated("Green as"))

    with open_stream(route=route, request=ask()) as stream:
        for _chunk in stream:
            pass

    assert stream.finish_reason == "length"
    assert outcome(route).outcome == "answered"


# -- circuits --------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def test_a_model_that_keeps_failing_is_left_alone_until_a_probe_succeeds(
    acme: Cast, server: FakeOpenAI
) -> None:
    make_models(acme, server)
    route = replace(route_of(acme), fallbacks=())
    clock = Clock()
    policy = Policy(failures=2, open_seconds=30)
    circuits = Breaker(shared=quick_redis(), policy=policy, clock=clock)
    server.will(error(500), error(500))
    for _ in range(3):
        with pytest.raises(NoModelAnsweredError) as caught:
            call(route=route, request=ask(), breaker=circuits)
    assert len(server.chats) == 2
    assert "left alone after failures" in caught.value.message
    assert caught.value.retry_after_seconds == configured.BREAKER_OPEN_SECONDS

    clock.now += 31
    server.will(error(500))
    for _ in range(2):
        with pytest.raises(NoModelAnsweredError):
            call(route=route, request=ask(), breaker=circuits)
    assert len(server.chats) == 3

    clock.now += 31
    for _ in range(2):
        call(route=route, request=ask(), breaker=circuits)
    assert len(server.chats) == 5


def test_a_refused_request_does_not_count_against_the_model(
    route: Route, server: FakeOpenAI
) -> None:
    for _ in range(5):
        server.will(error(400, code="bad", message="No."))
        with pytest.raises(RequestRefusedError):
            call(route=route, request=ask())

    assert asked(server) == ["swift"] * 5


def test_a_stream_that_breaks_off_counts_as_a_failure(acme: Cast, server: FakeOpenAI) -> None:
    make_models(acme, server)
    route = route_of(acme)
    circuits = Breaker(shared=quick_redis(), policy=Policy(failures=1))
    server.will(Behaviour(content="Green as ever.", cut_after=2))
    with (
        open_stream(route=route, request=ask(), breaker=circuits) as stream,
        pytest.raises(StreamCutError),
    ):
        list(stream)

    answer = call(route=route, request=ask(), breaker=circuits)

    assert answer.choice.name == "steady"
