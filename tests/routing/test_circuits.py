"""A model that keeps failing is left alone for a while."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from django.conf import settings as configured

from routing.clients.breaker import Breaker, Policy
from routing.clients.quick_redis import quick_redis
from routing.services.calling import (
    NoModelAnsweredError,
    RequestRefusedError,
    StreamCutError,
    call,
    open_stream,
)
from routing.services.router import Route
from tests.support.cast import Cast
from tests.support.chat_calls import ask, asked, once, route, server
from tests.support.chat_models import make_models, route_of
from tests.support.openai_server import Behaviour, FakeOpenAI, error

__all__ = ["once", "route", "server"]


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def test_a_model_that_keeps_failing_is_left_alone_until_a_probe_succeeds(
    acme: Cast, server: FakeOpenAI
) -> None:
    make_models(acme, server)
    route = route_of(acme)
    route = replace(route, choices=route.choices[:1])
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
