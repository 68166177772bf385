"""The chat endpoint as the model of the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

from tests.support.chat import Town
from tests.support.openai_server import Behaviour, FakeOpenAI, answer, tool_call


@function_tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"It rains in {city}."


def test_an_agent_of_the_sdk_remembers_and_calls_its_tools(town: Town, model: FakeOpenAI) -> None:
    town.remember("Sarah lives in Oslo.")
    model.will(
        Behaviour(tool_calls=[tool_call("weather", {"city": "Oslo"})]),
        answer("Take an umbrella."),
        answer("You are welcome."),
    )
    given = town.client()

    async def talk() -> list[str]:
        headers = {"X-Palimpsest-User": "sarah", "X-Palimpsest-Thread": "t"}
        async with AsyncOpenAI(
            base_url=given.base_url, api_key=given.api_key, default_headers=headers, max_retries=0
        ) as client:
            kyra = Agent(
                name="kyra", model=OpenAIChatCompletionsModel("kyra", client), tools=[weather]
            )
            quiet = RunConfig(tracing_disabled=True)
            first = await Runner.run(kyra, "Will it rain where Sarah lives?", run_config=quiet)
            more: Any = [*first.to_input_list(), {"role": "user", "content": "Thank you."}]
            streamed = Runner.run_streamed(kyra, more, run_config=quiet)
            async for _ in streamed.stream_events():
                pass
            return [first.final_output, streamed.final_output]

    assert asyncio.run(talk()) == ["Take an umbrella.", "You are welcome."]
    assert "Sarah lives in Oslo." in model.chats[0].text
    assert town.said("t") == [
        ("user", "Will it rain where Sarah lives?"),
        ("assistant", '[calls weather {"city": "Oslo"}]'),
        ("tool", "It rains in Oslo."),
        ("assistant", "Take an umbrella."),
        ("user", "Thank you."),
        ("assistant", "You are welcome."),
    ]
