"""The session of the OpenAI Agents SDK, with its own Runner and items of every kind."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import palimpsest_client as p
import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool
from agents.memory import Session, SessionSettings
from openai import AsyncOpenAI
from palimpsest_client import AsyncPalimpsest
from palimpsest_client.agents import RECORD, PalimpsestSession

from tests.clients.conftest import Place
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, tool_call

_T = TypeVar("_T")
QUIET = RunConfig(tracing_disabled=True)
HELLO = {"role": "user", "content": "I moved to Oslo."}
# Any, in this module: items are JSON of many kinds.
ITEMS: list[Any] = [
    HELLO,
    {"role": "user", "content": " \n"},
    {"role": "user", "content": "A \x00 and half a \ud83d"},
    {"role": "user", "content": "x" + " " * 70_000 + "y"},
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": "Be kind."},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "What is that?"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        ],
    },
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA=="},
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city":  "Oslo"}',
        "status": "completed",
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "rain " * 20_000},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Rain.", "annotations": [], "logprobs": []}],
    },
    {"type": "item_reference", "id": "msg_0"},
]


class Desk:
    """A team's sessions; each call is made by a client of its own."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.key = place.key()

    def run(
        self, act: Callable[[PalimpsestSession], Awaitable[_T]], *, user: str = "sarah", **more: Any
    ) -> _T:
        """Returns the result of `act` with a new session that shares no state with earlier ones."""

        async def connected() -> _T:
            async with AsyncPalimpsest(self.place.url, self.key, retries=0) as client:
                session = PalimpsestSession("t", client=client, agent="kyra", user=user, **more)
                return await act(session)

        return asyncio.run(connected())

    def items(self, limit: int | None = None, **more: Any) -> list[Any]:
        """Returns the items of the session."""
        return self.run(lambda session: session.get_items(limit), **more)

    def log(self) -> list[tuple[str, str]]:
        """Roles and words of the messages, without the records."""
        with p.Palimpsest(self.place.url, self.key) as client:
            (talk,) = client.conversations.list(thread_id="t")
            rows = list(client.conversations.messages(talk.id))
        return [(row.role, row.content) for row in rows if not row.name.startswith(RECORD)]


@pytest.fixture
def desk(place: Place) -> Desk:
    """A team without sessions."""
    return Desk(place)


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    """The language model of the agent."""
    with FakeOpenAI() as fake:
        yield fake


@function_tool
def weather(city: str) -> str:
    """Returns the weather in a city."""
    return f"It rains in {city}."


def test_an_agent_goes_on_where_another_process_left_off(desk: Desk, model: FakeOpenAI) -> None:
    def asking(question: str) -> Callable[[PalimpsestSession], Awaitable[Any]]:
        async def run(session: PalimpsestSession) -> Any:
            assert isinstance(session, Session)
            async with AsyncOpenAI(base_url=model.base_url, api_key="any") as client:
                kyra = Agent(
                    name="kyra",
                    model=OpenAIChatCompletionsModel("fake-model", client),
                    tools=[weather],
                )
                return await Runner.run(kyra, question, session=session, run_config=QUIET)

        return run

    model.will(Behaviour(tool_calls=[tool_call("weather", {"city": "Oslo"})]), answer("Rain."))
    first = desk.run(asking("Will it rain in Oslo?"))
    model.will(answer("Yes, take one."))
    second = desk.run(asking("Do I need an umbrella?"))

    assert first.final_output == "Rain."
    assert desk.items() == second.to_input_list()
    sent = model.chats[-1].body["messages"]
    assert [each["role"] for each in sent] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent[1]["tool_calls"][0]["function"]["name"] == "weather"
    assert desk.log() == [
        ("user", "Will it rain in Oslo?"),
        ("assistant", '[calls weather {"city": "Oslo"}]'),
        ("tool", "It rains in Oslo."),
        ("assistant", "Rain."),
        ("user", "Do I need an umbrella?"),
        ("assistant", "Yes, take one."),
    ]


def test_items_of_every_kind_come_back_as_they_were(desk: Desk) -> None:
    desk.run(lambda session: session.add_items(ITEMS))

    assert desk.items() == ITEMS
    assert desk.items(3) == ITEMS[-3:]
    assert desk.items(0) == []
    assert desk.items(session_settings=SessionSettings(limit=2)) == ITEMS[-2:]
    assert desk.items(99) == ITEMS


def test_more_items_than_a_request_takes_are_stored_in_their_order(desk: Desk) -> None:
    many: list[Any] = [{"type": "reasoning", "id": str(n), "summary": []} for n in range(501)]

    desk.run(lambda session: session.add_items(many))

    assert desk.items() == many


def test_a_session_holds_what_a_list_would(desk: Desk) -> None:
    chosen = random.Random(7)

    async def both(session: PalimpsestSession) -> None:
        held: list[Any] = []
        for _ in range(24):
            match chosen.choice(["add", "add", "pop", "clear" if chosen.random() < 0.3 else "pop"]):
                case "add":
                    items = chosen.sample(ITEMS, 2)
                    await session.add_items(items)
                    held += items
                case "pop":
                    assert await session.pop_item() == (held.pop() if held else None)
                case _:
                    await session.clear_session()
                    held = []
            assert await session.get_items() == held

    desk.run(both)


def test_what_is_taken_away_stays_among_the_messages(desk: Desk) -> None:
    said = {"role": "assistant", "content": "How nice."}
    desk.run(lambda session: session.add_items([HELLO, said]))  # type: ignore[list-item]
    before = desk.log()

    assert desk.run(lambda session: session.pop_item()) == said
    desk.run(lambda session: session.clear_session())

    assert desk.items() == []
    assert desk.run(lambda session: session.pop_item()) is None
    assert desk.log() == before


def test_messages_of_other_clients_are_items_too(desk: Desk) -> None:
    desk.run(lambda session: session.add_items(ITEMS[:1]))
    said: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "tool", "content": "12 degrees", "name": "weather"},
        {"role": "assistant", "content": "How nice."},
    ]
    with p.Palimpsest(desk.place.url, desk.key) as client:
        (talk,) = client.conversations.list(thread_id="t")
        client.conversations.add_messages(talk.id, messages=said)

    assert desk.items() == [HELLO, {"role": "assistant", "content": "How nice."}]


def test_sessions_are_of_a_person_and_need_a_key(desk: Desk) -> None:
    desk.run(lambda session: session.add_items(ITEMS[:1]))

    assert desk.items(user="dmitri") == []
    desk.key = "pal_wrong"
    with pytest.raises(p.Unauthorized):
        desk.items()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (RECORD, "Be brief."),
        (RECORD, "|Be brief."),
        (RECORD, "|{}"),
        (RECORD, "|7"),
        (RECORD, "|" + "[" * 9_000),
        (f"{RECORD}, continued", "|Be brief."),
    ],
    ids=["words", "words after the sign", "no record", "a number", "too deep", "continued"],
)
def test_what_another_client_writes_under_the_name_of_records_is_none(
    desk: Desk, name: str, content: str
) -> None:
    call, said = ITEMS[8], ITEMS[0]
    desk.run(lambda session: session.add_items([said, call]))
    with p.Palimpsest(desk.place.url, desk.key) as client:
        (talk,) = client.conversations.list(thread_id="t")
        client.conversations.add_messages(
            talk.id, messages=[{"role": "system", "name": name, "content": content}]
        )

    assert desk.items() == [said, call]
    assert desk.run(lambda session: session.pop_item()) == call
    desk.run(lambda session: session.add_items([call]))
    assert desk.items() == [said, call]
    desk.run(lambda session: session.clear_session())
    assert desk.items() == []
