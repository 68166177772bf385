"""A chatbot in the terminal that remembers, also in its next session."""

from __future__ import annotations

import argparse
import os
import sys
from uuid import uuid4

from openai import APIError, OpenAI


def main() -> None:
    """Talk until the input ends; `--thread` goes on with an earlier conversation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--user", default=os.environ.get("USER", "you"), help="who talks")
    parser.add_argument("--agent", default="kyra", help="who answers")
    parser.add_argument("--thread", default=uuid4().hex, help="which conversation to go on with")
    given = parser.parse_args()
    address = os.environ.get("PALIMPSEST_URL", "http://127.0.0.1:8000")
    client = OpenAI(base_url=f"{address}/v1", api_key=os.environ["PALIMPSEST_API_KEY"])
    print(f"You are {given.user}. An empty line ends the talk.")
    while line := _read("> "):
        try:
            _answer(client, line, agent=given.agent, user=given.user, thread=given.thread)
        except APIError as error:
            print(f"\n{error.message}", file=sys.stderr)
    print(f"To go on: --thread {given.thread}")


def _answer(client: OpenAI, line: str, *, agent: str, user: str, thread: str) -> None:
    # The new message alone: the server puts what was said before in front of it.
    stream = client.chat.completions.create(
        model=agent,
        user=user,
        messages=[{"role": "user", "content": line}],
        metadata={"thread_id": thread},
        stream=True,
    )
    remembered: list[str] = []
    for chunk in stream:
        remembered = (chunk.model_extra or {}).get("palimpsest", {}).get("memories", remembered)
        if chunk.choices:
            print(chunk.choices[0].delta.content or "", end="", flush=True)
    print(f"\n  ({len(remembered)} memories were in mind)")


def _read(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError:
        return ""


if __name__ == "__main__":
    main()
