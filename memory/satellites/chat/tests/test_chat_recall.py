"""Words said long ago in a thread, or a moment ago in another, reach the model."""

from __future__ import annotations

from typing import Any

from memory.writing.indexing.message_index import finish_indexing
from tests.support.chat import Ask, Town, assistant, user
from tests.support.openai_server import FakeOpenAI

SAID = "The manual says that bolt B wants 35 Nm."
QUESTION = "What torque does the manual want for bolt B?"


def test_in_its_own_thread_what_the_model_no_longer_reads_is_recalled(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    talk: list[Any] = [user("Can you look up the torque for bolt B?"), assistant(SAID)]
    for number in range(12):
        talk.append(user(f"Please tell me about module {number}. " + "It is a long story. " * 200))
        talk.append(assistant(f"I looked at module {number} and it is fine."))
    ask(*talk, "Thank you.")
    finish_indexing()

    ask(QUESTION)

    prompt, *sent = model.chats[-1].body["messages"]
    assert SAID not in [each["content"] for each in sent]
    assert SAID in prompt["content"]


def test_in_its_own_thread_what_the_model_reads_anyhow_is_not_told_twice(
    town: Town, model: FakeOpenAI, ask: Ask
) -> None:
    talk: list[Any] = [user("Can you look up the torque for bolt B?"), assistant(SAID)]
    for number in range(12):
        talk += [user(f"Look at module {number}."), assistant(f"Module {number} is fine.")]
    ask(*talk, "Thank you.")
    finish_indexing()

    ask(QUESTION)

    prompt, *sent = model.chats[-1].body["messages"]
    assert SAID in [each["content"] for each in sent]
    assert SAID not in prompt["content"]


def test_how_something_is_done_is_no_part_of_talk(town: Town, model: FakeOpenAI, ask: Ask) -> None:
    fact, steps = "The deploy of Monday was quick.", "deploy: test → build → prod"
    town.remember(fact)
    town.remember(steps, memory_type="procedural")

    ask("How was the deploy of Monday?")

    prompt, *_ = model.chats[-1].body["messages"]
    assert fact in prompt["content"]
    assert steps not in prompt["content"]
