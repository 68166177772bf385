"""Chat with both clients; a local endpoint speaks for the language model."""

from __future__ import annotations

from collections.abc import Iterator

import palimpsest_client as p
import pytest
from palimpsest_client import Palimpsest
from palimpsest_client.params import ChatMessage
from pytest_django import Settings

from teams.tenancy import team_scope
from tests.clients.conftest import Either, Place
from tests.support.chat_models import make_models
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, tool_call

TALK = {"model": "kyra", "user": "sarah", "metadata": {"thread_id": "t"}}
STORY: list[ChatMessage] = [{"role": "user", "content": "Tell me a story."}]


@pytest.fixture(autouse=True)
def once(settings: Settings) -> None:
    """Every model is asked once, so that the scripts of its endpoint can be counted on."""
    settings.CHAT_RETRY_SECONDS = 0.0


@pytest.fixture
def model(place: Place) -> Iterator[FakeOpenAI]:
    """The endpoint that answers for the team's models."""
    with FakeOpenAI() as fake:
        with team_scope(team_ids=[place.cast.team.id], actor="test"):
            make_models(place.cast, fake)
        yield fake


def test_an_answer_comes_whole(ask: Either, model: FakeOpenAI) -> None:
    memory = ask(lambda c: c.memories.create(content="Sarah likes stories.", user="sarah"))
    model.will(answer("Once upon a time."))

    said = ask(lambda c: c.chat.complete(**TALK, messages=STORY, options={"temperature": 0.25}))

    assert said.text == "Once upon a time."
    assert said.choices[0].finish_reason == "stop"
    assert said.palimpsest["memories"] == [str(memory.id)]
    assert model.chats[0].body["temperature"] == 0.25


def test_an_answer_comes_word_by_word(ask: Either, model: FakeOpenAI) -> None:
    model.will(answer("Once upon a time."))

    pieces = ask(lambda c: c.chat.stream(**TALK, messages=STORY))

    assert len(pieces) > 2
    assert "".join(each.text for each in pieces) == "Once upon a time."
    assert pieces[-1].palimpsest["cost_usd"] is not None


def test_calls_of_tools_stream(ask: Either, model: FakeOpenAI) -> None:
    model.will(Behaviour(tool_calls=[tool_call("weather", {"city": "Oslo"})]))

    pieces = ask(lambda c: c.chat.stream(**TALK, messages=STORY))

    called = [each.choices[0].message.tool_calls for each in pieces if each.choices]
    assert any(each and each[0]["function"]["name"] == "weather" for each in called)


def test_a_model_that_breaks_off_raises(ask: Either, model: FakeOpenAI) -> None:
    model.will(Behaviour(content="one two three four", cut_after=3))

    with pytest.raises(p.StreamCut, match="broke off"):
        ask(lambda c: c.chat.stream(**TALK, messages=STORY))


def test_a_stream_that_is_left_stops_the_model(place: Place, model: FakeOpenAI) -> None:
    model.will(Behaviour(content="on and " * 500, pause=0.01))

    with Palimpsest(place.url, place.key()) as client:
        pieces = client.chat.stream(model="kyra", user="sarah", messages=STORY)
        assert next(pieces).model
        pieces.close()

    assert model.abandoned.wait(timeout=30)


def test_a_refusal_of_a_stream_is_an_exception(ask: Either, model: FakeOpenAI) -> None:
    with pytest.raises(p.BadRequest) as caught:
        ask(lambda c: c.chat.stream(**TALK, messages=[]))

    assert caught.value.field == "messages"


def test_without_a_model_nothing_is_tried_again(ask: Either) -> None:
    with pytest.raises(p.ServerError, match="503"):
        ask(lambda c: c.chat.complete(**TALK, messages=STORY))


def test_models_are_listed(ask: Either, model: FakeOpenAI) -> None:
    names = [each.id for each in ask(lambda c: c.chat.models()).data]

    assert "kyra" in names
    assert ask(lambda c: c.chat.model("kyra")).id == "kyra"
