"""Answers that come bit by bit: counted, given up, broken off."""

from __future__ import annotations

import pytest

from routing.services.calling import (
    StreamCutError,
    open_stream,
)
from routing.services.router import Route
from tests.support.cast import Cast
from tests.support.chat_calls import PROMPT, TOOLS, ask, asked, once, outcome, route, server
from tests.support.chat_models import make_models, route_of
from tests.support.openai_server import Behaviour, FakeOpenAI, dropped, error, tool_call, truncated

__all__ = ["once", "route", "server"]


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
