"""A temporary failure is retried once with the same model before another model is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytest_django import Settings

from routing.clients.chat_calls import ChatRequest
from routing.models import RoutingDecision
from routing.services.calling import NoModelAnsweredError, call, open_stream
from routing.services.router import Route
from tests.support.cast import Cast
from tests.support.chat_models import make_models, route_of
from tests.support.openai_server import Behaviour, FakeOpenAI, dropped, error, slow

ASKED = ChatRequest(messages=[{"role": "user", "content": "Which door?"}], parameters={})
HERE = Behaviour(content="The blue one.")


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def route(acme: Cast, server: FakeOpenAI, settings: Settings) -> Route:
    """Swift first, then steady and mighty."""
    settings.CHAT_RETRY_SECONDS = 0.01
    make_models(acme, server)
    return route_of(acme)


def models(server: FakeOpenAI) -> list[str]:
    return [request.body["model"] for request in server.chats]


@pytest.mark.parametrize(
    "moment", [error(429), error(503), error(500), dropped()], ids=["429", "503", "500", "dropped"]
)
def test_the_same_model_answers_the_second_time(
    route: Route, server: FakeOpenAI, moment: Behaviour
) -> None:
    server.will(moment, HERE)

    answer = call(route=route, request=ASKED)

    assert models(server) == ["swift", "swift"]
    assert answer.choice.name == "swift"
    assert [each.model for each in answer.attempts] == ["swift"]


def test_a_stream_is_begun_again(route: Route, server: FakeOpenAI) -> None:
    server.will(error(503), HERE)

    with open_stream(route=route, request=ASKED) as stream:
        words = "".join(
            chunk["choices"][0]["delta"].get("content") or ""
            for chunk in stream
            if chunk["choices"]
        )

    assert words == "The blue one."
    assert models(server) == ["swift", "swift"]


def test_it_is_tried_again_once_and_then_the_next_one_answers(
    route: Route, server: FakeOpenAI
) -> None:
    server.will(error(503), error(503), HERE)

    answer = call(route=route, request=ASKED)

    assert models(server) == ["swift", "swift", "steady"]
    assert [each.failure for each in answer.attempts] == ["HTTP 503", "HTTP 503"]


@pytest.mark.parametrize(
    "lasting",
    [
        error(401),
        error(404, code="model_not_found"),
        error(429, code="insufficient_quota"),
        replace(error(429), headers={"Retry-After": "30"}),
        replace(error(503), headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
    ],
    ids=["key", "unknown model", "quota", "in half a minute", "at a date"],
)
def test_what_does_not_pass_in_a_moment_is_not_tried_again(
    route: Route, server: FakeOpenAI, lasting: Behaviour
) -> None:
    server.will(lasting, HERE)

    call(route=route, request=ASKED)

    assert models(server) == ["swift", "steady"]


def test_a_model_that_was_waited_for_in_vain_is_not_waited_for_again(
    acme: Cast, server: FakeOpenAI, settings: Settings
) -> None:
    settings.CHAT_RETRY_SECONDS = 0.01
    make_models(acme, server, timeout_seconds=0.3)
    server.will(slow(30), HERE)

    call(route=route_of(acme), request=ASKED)

    assert models(server) == ["swift", "steady"]


def test_no_second_try_goes_beyond_the_time_for_tries(
    route: Route, server: FakeOpenAI, settings: Settings
) -> None:
    settings.CHAT_TRY_SECONDS = 0.0
    server.will(error(503))

    with pytest.raises(NoModelAnsweredError):
        call(route=route, request=ASKED)

    assert models(server) == ["swift"]


def test_both_tries_stand_in_the_decision(route: Route, server: FakeOpenAI) -> None:
    server.will(error(503), HERE)
    call(route=route, request=ASKED)

    kept = RoutingDecision.objects.get(pk=route.decision_id)
    assert (kept.outcome, kept.answered_by) == ("answered", "swift")
    assert kept.attempts == [{"model": "swift", "provider": "local", "failure": "HTTP 503"}]
