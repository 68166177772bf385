"""Talks with Kyra through LangChain's ChatOpenAI, and prints as JSON what came."""

import json
import os

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"It rains in {city}."


def kyra(**options):
    given = {"model": "kyra", "base_url": os.environ["URL"], "api_key": os.environ["KEY"]}
    headers = {"X-Palimpsest-User": "sarah", "X-Palimpsest-Thread": "t"}
    return ChatOpenAI(default_headers=headers, max_retries=0, **{**given, **options})


def refusal(**options):
    try:
        kyra(**options).invoke("Hello?")
    except Exception as error:
        return [f"{type(error).__module__.split('.')[0]}.{type(error).__name__}", str(error)]


talk = [HumanMessage("Hello.")]
talk.append(kyra().invoke(talk))
talk.append(HumanMessage("Tell me a story."))
pieces = list(kyra().stream(talk))
story = pieces[0]
for piece in pieces[1:]:
    story += piece
talk += [story, HumanMessage("Will it rain in Oslo?")]
called = kyra().bind_tools([weather]).invoke(talk)
(call,) = called.tool_calls
talk += [called, ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"])]
talk.append(kyra().bind_tools([weather]).invoke(talk))
print(
    json.dumps(
        {
            "hello": talk[1].content,
            "story": story.content,
            "pieces": len(pieces),
            "call": [call["name"], call["args"]],
            "answer": talk[-1].content,
            "tokens": talk[1].usage_metadata["input_tokens"],
            "wrong_key": refusal(api_key="pal_wrong"),
            "wrong_model": refusal(model="kyra/enormous"),
            "wrong_field": refusal(n=2),
        }
    )
)
