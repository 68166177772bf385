"""Structured completions against a real server on this machine."""

from __future__ import annotations

import json
import logging
import socket
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest
from pydantic import BaseModel

from routing.clients.protocol import ChatMessage, CompletionError, FailureKind
from routing.clients.structured_calls import StructuredCompletions, strict_schema
from tests.support.model_calls import retry_pauses
from tests.support.openai_server import (
    Behaviour,
    FakeOpenAI,
    answer,
    dropped,
    error,
    filtered,
    refusal,
    slow,
    truncated,
)

KEY = "key-of-the-test-4711"
SECRET_PROMPT = "Which colour is Sarah's door?"
PROMPT = [
    ChatMessage(role="system", content="Name a colour."),
    ChatMessage(role="user", content=SECRET_PROMPT),
]


class Shade(BaseModel):
    """A part of the answer."""

    default: str = "none"
    depth: int = 1


class Colour(BaseModel):
    """The answer."""

    name: str
    shades: list[Shade] = []
    favourite: Shade | None = None


GREEN = {"name": "green", "shades": [{"default": "moss", "depth": 3}], "favourite": None}


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def client(
    server: FakeOpenAI, *, max_retries: int = 0, timeout: float = 2.0
) -> StructuredCompletions:
    return StructuredCompletions(
        base_url=server.base_url,
        api_key=KEY,
        model="fake-model",
        timeout=timeout,
        max_retries=max_retries,
    )


def failure(completions: StructuredCompletions) -> CompletionError:
    with pytest.raises(CompletionError) as caught:
        completions.complete(schema=Colour, messages=PROMPT)
    return caught.value


def test_the_answer_arrives_in_the_asked_shape(server: FakeOpenAI) -> None:
    server.will(answer(GREEN))

    colour = client(server).complete(schema=Colour, messages=PROMPT, max_tokens=50)

    assert colour == Colour(name="green", shades=[Shade(default="moss", depth=3)])
    (request,) = server.chats
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "fake-model"
    assert request.body["temperature"] == 0.0
    assert request.body["max_tokens"] == 50
    assert request.body["messages"] == [
        {"role": "system", "content": "Name a colour."},
        {"role": "user", "content": SECRET_PROMPT},
    ]
    form = request.body["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["name"] == "Colour"
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"] == strict_schema(Colour)


def test_no_length_limit_is_sent_unless_one_is_given(server: FakeOpenAI) -> None:
    server.will(answer(GREEN))

    client(server).complete(schema=Colour, messages=PROMPT)

    assert not {"max_tokens", "max_completion_tokens"} & set(server.chats[0].body)


def test_a_strict_schema_is_closed_complete_and_without_defaults() -> None:
    schema = json.loads(json.dumps(strict_schema(Colour)))
    shade = schema["$defs"]["Shade"]

    for part in (schema, shade):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    assert shade["properties"]["default"] == {"title": "Default", "type": "string"}
    assert "default" not in shade["properties"]["depth"]
    assert "default" not in schema["properties"]["shades"]


@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_without_json_schema_is_told_the_schema_in_words_and_remembered(
    server: FakeOpenAI, status: int
) -> None:
    completions = client(server)
    server.will(error(status, message="unknown response_format"), answer(GREEN), answer(GREEN))

    first = completions.complete(schema=Colour, messages=PROMPT)
    second = completions.complete(schema=Colour, messages=PROMPT)

    assert first.name == second.name == "green"
    forms = [request.body["response_format"]["type"] for request in server.chats]
    assert forms == ["json_schema", "json_object", "json_object"]
    system = server.chats[1].body["messages"][0]
    assert system["role"] == "system"
    assert system["content"].startswith("Name a colour.")
    assert json.dumps(strict_schema(Colour)) in system["content"]


def test_a_prompt_without_a_system_message_can_be_told_the_schema() -> None:
    with FakeOpenAI(json_schema=False) as server:
        colour = client(server).complete(schema=Colour, messages=PROMPT[1:])

    assert colour == Colour(name="", favourite=None)
    assert [message["role"] for message in server.chats[1].body["messages"]] == ["system", "user"]


def test_a_400_for_another_reason_does_not_cost_the_schema(server: FakeOpenAI) -> None:
    completions = client(server)
    server.will(
        error(400, code="context_length_exceeded", param="messages"),
        error(400),
        error(400),
        answer(GREEN),
    )

    assert failure(completions).kind is FailureKind.MISCONFIGURED
    assert len(server.chats) == 1
    # Unexplained: json_object is tried, refused as well, and so not remembered.
    assert failure(completions).kind is FailureKind.MISCONFIGURED
    completions.complete(schema=Colour, messages=PROMPT)
    assert server.chats[-1].body["response_format"]["type"] == "json_schema"


def test_a_model_that_takes_no_temperature_and_another_name_for_the_limit_is_served(
    server: FakeOpenAI,
) -> None:
    completions = client(server)
    server.will(
        error(400, code="unsupported_parameter", param="max_tokens"),
        error(400, code="unsupported_value", param="temperature"),
        answer(GREEN),
        answer(GREEN),
    )

    completions.complete(schema=Colour, messages=PROMPT, max_tokens=50)
    completions.complete(schema=Colour, messages=PROMPT, max_tokens=50)

    assert len(server.chats) == 4
    for request in server.chats[2:]:
        assert request.body["max_completion_tokens"] == 50
        assert not {"max_tokens", "temperature"} & set(request.body)
        assert request.body["response_format"]["type"] == "json_schema"


def test_a_busy_endpoint_is_asked_again_when_it_said(
    server: FakeOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    server.will(error(429, retry_after=0.02), answer(GREEN))

    with caplog.at_level("INFO", logger="openai"):
        colour = client(server, max_retries=2).complete(schema=Colour, messages=PROMPT)

    # Without the header the client would wait 0.375 s at least.
    assert retry_pauses(caplog) == [0.02]
    assert colour.name == "green"
    assert len(server.chats) == 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_endpoint_that_stays_down_is_unavailable(server: FakeOpenAI, status: int) -> None:
    server.will(*[error(status, retry_after=0.01)] * 3)

    assert failure(client(server, max_retries=2)).kind is FailureKind.UNAVAILABLE
    assert len(server.chats) == 3


def test_an_endpoint_that_comes_back_is_waited_for(server: FakeOpenAI) -> None:
    server.will(error(500, retry_after=0.01), error(503, retry_after=0.01), answer(GREEN))

    assert client(server, max_retries=2).complete(schema=Colour, messages=PROMPT).name == "green"


def test_silence_is_unavailable(server: FakeOpenAI) -> None:
    server.will(slow(0.25))

    raised = failure(client(server, timeout=0.05))

    assert raised.kind is FailureKind.UNAVAILABLE
    assert "timeout" in str(raised)


def test_a_dropped_connection_is_unavailable(server: FakeOpenAI) -> None:
    server.will(dropped())

    assert failure(client(server)).kind is FailureKind.UNAVAILABLE


def test_nobody_listening_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        completions = StructuredCompletions(
            base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            api_key=KEY,
            model="fake-model",
            timeout=1.0,
            max_retries=0,
        )
        assert failure(completions).kind is FailureKind.UNAVAILABLE


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ('{"name": "gre', "Invalid JSON"),
        ('{"shades": []}', "name: Field required"),
        ('{"name": "green", "shades": [{"depth": "deep"}]}', "shades.0.depth"),
        ("[1]", "the answer: Input should be an object"),
    ],
)
def test_an_unusable_answer_is_asked_for_again_with_the_reason(
    server: FakeOpenAI, bad: str, told: str
) -> None:
    server.will(answer(bad), answer(GREEN))

    assert client(server).complete(schema=Colour, messages=PROMPT).name == "green"

    again = server.chats[1].body["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert again[2]["content"] == bad
    assert told in again[3]["content"]


def test_a_truncated_answer_is_asked_for_again_and_shorter(server: FakeOpenAI) -> None:
    server.will(truncated('{"name": "gre'), answer(GREEN))

    assert client(server).complete(schema=Colour, messages=PROMPT).name == "green"

    again = server.chats[1].body["messages"]
    assert [message["role"] for message in again] == ["system", "user"]
    assert again[1]["content"].startswith(SECRET_PROMPT)
    assert "cut off" in again[1]["content"]


@pytest.mark.parametrize(
    "bad",
    [
        answer("no JSON here"),
        answer(""),
        truncated(json.dumps(GREEN)),
        Behaviour(body="<html>Welcome</html>", content_type="text/html"),
        Behaviour(body="{oops"),
        Behaviour(body='{"error": {"message": "provider down", "code": 502}}'),
        Behaviour(body='{"choices": [{"index": 0, "message": null}]}'),
    ],
)
def test_two_unusable_answers_are_malformed(server: FakeOpenAI, bad: Behaviour) -> None:
    server.will(bad, bad)

    assert failure(client(server)).kind is FailureKind.MALFORMED
    assert len(server.chats) == 2


@pytest.mark.parametrize("no", [refusal(), filtered(), error(400, code="content_filter")])
def test_a_refusal_is_not_argued_with(server: FakeOpenAI, no: Behaviour) -> None:
    server.will(no)

    assert failure(client(server)).kind is FailureKind.REFUSED
    assert len(server.chats) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 413])
def test_what_only_settings_can_cure_is_misconfigured(server: FakeOpenAI, status: int) -> None:
    server.will(error(status, code="some_code"))

    raised = failure(client(server, max_retries=2))

    assert raised.kind is FailureKind.MISCONFIGURED
    assert str(raised) == f"fake-model: HTTP {status} some_code"
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("base_url", "api_key", "model"),
    [
        ("", "", "fake-model"),
        ("http://127.0.0.1:1/v1", KEY, ""),
        ("127.0.0.1:1/v1", KEY, "fake-model"),
        ("http://", KEY, "fake-model"),
        ("http://host:port/v1", KEY, "fake-model"),
        ("http://127.0.0.1:1/v1", "schlüssel", "fake-model"),
    ],
)
def test_wrong_settings_are_named_when_used(base_url: str, api_key: str, model: str) -> None:
    completions = StructuredCompletions(
        base_url=base_url, api_key=api_key, model=model, max_retries=0
    )

    assert failure(completions).kind is FailureKind.MISCONFIGURED


def test_a_local_endpoint_needs_no_key(server: FakeOpenAI) -> None:
    completions = StructuredCompletions(base_url=server.base_url, api_key="", model="fake-model")
    server.will(answer(GREEN))

    assert completions.complete(schema=Colour, messages=PROMPT).name == "green"


@pytest.mark.parametrize(
    "wrapped",
    [
        f"```json\n{json.dumps(GREEN)}\n```",
        f"```\n{json.dumps(GREEN)}```",
        f"<think>Green? {{}}</think>\n\n{json.dumps(GREEN)}",
    ],
)
def test_reasoning_and_fences_around_the_answer_are_forgiven(
    server: FakeOpenAI, wrapped: str
) -> None:
    server.will(answer(wrapped))

    assert client(server).complete(schema=Colour, messages=PROMPT).name == "green"
    assert len(server.chats) == 1


def test_tokens_are_logged_and_contents_are_not(
    server: FakeOpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.will(
        answer(GREEN),
        answer('{"name": "greenish-secret", "unknown": '),
        answer('{"name": ["greenish-secret"]}'),
        error(401, code=f"bad {KEY}", message=f"Bad key {KEY} for {SECRET_PROMPT}"),
    )
    completions = client(server)

    completions.complete(schema=Colour, messages=PROMPT)
    failures = [failure(completions), failure(completions)]

    usage = [record.getMessage() for record in caplog.records if "prompt_tokens" in record.msg]
    assert len(usage) == 3
    assert usage[0].startswith("model=fake-model schema=Colour prompt_tokens=")
    written = caplog.text + "".join(
        "".join(traceback.format_exception(raised)) for raised in failures
    )
    for secret in (KEY, SECRET_PROMPT, "greenish-secret", "moss"):
        assert secret not in written


def test_one_client_serves_many_threads() -> None:
    names = [f"colour {number}" for number in range(24)]

    with FakeOpenAI() as server, ThreadPoolExecutor(8) as pool:
        completions = client(server)
        server.will(*(answer({"name": name}) for name in names))
        asked = [pool.submit(completions.complete, schema=Colour, messages=PROMPT) for _ in names]
        answers = sorted(future.result().name for future in asked)

    assert answers == sorted(names)


def test_threads_that_meet_a_new_dialect_together_all_get_their_answer() -> None:
    with FakeOpenAI(json_schema=False) as server, ThreadPoolExecutor(8) as pool:
        completions = client(server)
        asked = [
            pool.submit(completions.complete, schema=Colour, messages=PROMPT) for _ in range(16)
        ]
        answers = [future.result() for future in asked]
        completions.complete(schema=Colour, messages=PROMPT)

    assert len(answers) == 16
    assert server.chats[-1].body["response_format"]["type"] == "json_object"


def test_the_fake_server_speaks_to_the_plain_client(server: FakeOpenAI) -> None:
    plain = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)

    vectors = [
        item.embedding
        for item in plain.embeddings.create(
            model="fake-model", input=["a red door", "the red door", "tax law"], dimensions=64
        ).data
    ]
    near, far = (
        sum(left * right for left, right in zip(vectors[0], other, strict=True))
        for other in vectors[1:]
    )
    said = plain.chat.completions.create(
        model="fake-model", messages=[{"role": "user", "content": "Hi."}]
    )

    assert [model.id for model in plain.models.list()] == ["fake-model"]
    assert [len(vector) for vector in vectors] == [64] * 3
    assert sum(part * part for part in vectors[0]) == pytest.approx(1.0)
    assert near > far
    assert said.choices[0].message.content == "OK"
