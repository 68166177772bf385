"""Talks with Kyra through LiteLLM, and prints as JSON what came."""

import json
import os

import litellm

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "What the weather is.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def ask(messages, **options):
    headers = {"X-Palimpsest-User": "sarah", "X-Palimpsest-Thread": "t"}
    given = {"model": "openai/kyra", "api_base": os.environ["URL"], "api_key": os.environ["KEY"]}
    return litellm.completion(
        messages=messages, extra_headers=headers, num_retries=0, **{**given, **options}
    )


def refusal(**options):
    try:
        ask([{"role": "user", "content": "Hello?"}], **options)
    except Exception as error:
        return [f"{type(error).__module__.split('.')[0]}.{type(error).__name__}", str(error)]


def user(text):
    return {"role": "user", "content": text}


talk = [user("Hello.")]
hello = ask(talk)
talk += [hello.choices[0].message.model_dump(exclude_none=True), user("Tell me a story.")]
pieces = list(ask(talk, stream=True))
story = "".join(each.choices[0].delta.content or "" for each in pieces)
talk += [{"role": "assistant", "content": story}, user("Will it rain in Oslo?")]
called = ask(talk, tools=[TOOL]).choices[0].message
(call,) = called.tool_calls
given = json.loads(call.function.arguments)
talk += [
    called.model_dump(exclude_none=True),
    {"role": "tool", "tool_call_id": call.id, "content": f"It rains in {given['city']}."},
]
answer = ask(talk, tools=[TOOL]).choices[0].message.content
print(
    json.dumps(
        {
            "hello": hello.choices[0].message.content,
            "story": story,
            "pieces": len(pieces),
            "call": [call.function.name, given],
            "answer": answer,
            "tokens": hello.usage.prompt_tokens,
            "wrong_key": refusal(api_key="pal_wrong"),
            "wrong_model": refusal(model="openai/kyra/enormous"),
            "wrong_field": refusal(n=2),
        }
    )
)
