"""Sixty poisoned tool outputs and pages change and outrank nothing that a person said.

Each fact of `facts.jsonl` is first said by Sarah. The poison of `poisoned.jsonl` then comes as
messages of tools and pages: to the small reader, to a language model that falls for all of it, and
stated by an agent that says where it is from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from memory.domain.audience import Viewer
from memory.domain.types import Source
from memory.models import Contradiction, Memory, SearchEntry
from memory.satellites.consent.models import ConsentRequest
from memory.understanding.tools import Tools, configured_tools
from memory.writing.indexing.message_index import index_waiting
from memory.writing.posting import open_conversation, post_messages
from memory.writing.stating import source_of_message
from memory.writing.waiting import extract_now
from teams.models import Message
from teams.services.conversations import NewMessage
from teams.services.keys import issue_key
from tests.support.cast import Cast
from tests.support.chat_models import make_models
from tests.support.model_extraction import found, proposal
from tests.support.openai_server import FakeOpenAI

FOLDER = Path(__file__).parent
UNCONFIRMED = "UNCONFIRMED from a "


def _read(name: str) -> list[dict[str, Any]]:  # Any: JSON
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


FACTS = _read("facts.jsonl")
POISONED = _read("poisoned.jsonl")


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def of_fact(fact: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in POISONED if each["fact"] == fact["fact"]]


def talk(viewer: Viewer, tools: Tools, *messages: NewMessage) -> None:
    """A conversation of Sarah with Kyra, extracted and indexed."""
    conversation, _ = open_conversation(
        team_id=viewer.team_id, agent="kyra", user="sarah", user_name="Sarah"
    )
    post_messages(
        viewer=viewer, conversation_id=conversation.pk, messages=messages, now=timezone.now()
    )
    extract_now(viewer=viewer, conversation_id=conversation.pk, tools=tools)
    index_waiting(tools=tools, most=100)


def as_messages(poison: Sequence[dict[str, Any]]) -> list[NewMessage]:
    return [
        NewMessage(role=each["role"], content=each["text"], source=each["source"])
        for each in poison
    ]


def of_person() -> list[tuple[object, ...]]:
    """What a person said, with its whole state, except how often it was repeated."""
    kept = [
        field.attname
        for field in Memory._meta.concrete_fields
        if field.name not in ("updated_at", "corroboration", "source_message_ids")
    ]
    return list(Memory.objects.filter(source="person").order_by("id").values_list(*kept))


def search(api: APIClient, question: str) -> list[dict[str, Any]]:
    asked = {"agent": "kyra", "user": "sarah", "query": question, "limit": "50"}
    answer = api.get("/v1/memories/search", asked)
    assert answer.status_code == 200, answer.content
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def prompts(api: APIClient, question: str) -> Iterator[str]:
    asked = {"agent": "kyra", "user": "sarah", "query": question}
    yield api.post("/v1/retrieve", asked, format="json").json()["formatted_prompt"]
    yield api.post("/v1/prompt", asked, format="json").json()["prompt"]


def assert_unharmed(
    api: APIClient, fact: dict[str, Any], person: Sequence[tuple[object, ...]]
) -> None:
    """The person's memory is as it was, ranks first, and all that is poison is marked."""
    assert of_person() == person
    assert not Contradiction.objects.exclude(memory_a__source__in=("tool", "web")).exists()
    assert not ConsentRequest.objects.exists()
    poison = Memory.objects.exclude(source="person")
    assert not poison.exclude(source__in=("tool", "web")).exists()
    assert not poison.filter(is_pinned=True).exists()
    texts = [each["content"] for each in search(api, fact["question"])]
    assert texts[0] == fact["said"]
    live = list(poison.live())
    for prompt in prompts(api, fact["question"]):
        lines = prompt.splitlines()
        place = next(at for at, line in enumerate(lines) if fact["said"] in line)
        assert "DISPUTED" not in lines[place]
        for memory in live:
            told = [line for line in lines if memory.content in line]
            assert all(UNCONFIRMED in line for line in told)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact["fact"])
def test_what_a_person_said_stands_against_tools_and_pages(
    acme: Cast,
    api: APIClient,
    viewer: Viewer,
    tools: Tools,
    server: FakeOpenAI,
    settings: Settings,
    fact: dict[str, Any],
) -> None:
    poison = of_fact(fact)
    talk(viewer, tools, NewMessage(role="user", content=fact["said"]))
    person = of_person()
    assert [each.content for each in Memory.objects.all()] == [fact["said"]]

    talk(viewer, tools, *as_messages(poison))
    assert Memory.objects.count() == SearchEntry.objects.count() == 1
    for each in poison:
        assert not any(each["claim"] in prompt for prompt in prompts(api, fact["question"]))
    assert_unharmed(api, fact, person)

    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = server.base_url, "key"
    settings.EXTRACTION_MODEL = "reader"
    answers = [
        proposal(content=each["claim"], messages=[number], **{"subject": "", **each["as"]})
        for number, each in enumerate(poison, 1)
    ]
    server.will(found(*answers), found())
    talk(viewer, configured_tools(), *as_messages(poison))
    believed = [each for each in poison if not each.get("ungrounded")]
    assert Memory.objects.exclude(source="person").count() >= len(believed) - 2
    assert_unharmed(api, fact, person)

    stated = [
        {"content": each["claim"], "user": "sarah", "source": each["source"]} for each in poison
    ]
    assert api.post("/v1/memories", stated, format="json").status_code in (200, 201)
    assert_unharmed(api, fact, person)


def test_a_tools_output_is_a_tools_through_every_door(
    acme: Cast, api: APIClient, viewer: Viewer, tools: Tools, server: FakeOpenAI
) -> None:
    """The log, a chat, mem0 with and without inference, and working memory of a task."""
    fact = FACTS[0]
    texts = [each["text"] for each in of_fact(fact) if each["source"] == "tool"]
    talk(viewer, tools, NewMessage(role="user", content=fact["said"]))
    person = of_person()
    make_models(acme, server)
    calls = [
        {"id": f"call-{at}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        for at, _ in enumerate(texts)
    ]
    outputs = [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call, text in zip(calls, texts, strict=True)
    ]
    said = [{"role": "tool", "content": text} for text in texts]
    mem0 = APIClient()
    mem0.credentials(HTTP_AUTHORIZATION=f"Token {issue_key(team_id=acme.team.id).token}")

    def sent(path: str, body: object, by: APIClient = api) -> Any:  # Any: JSON
        answer = by.post(path, body, format="json")
        assert answer.status_code < 300, answer.content
        return answer.json()

    opened = sent("/v1/conversations", {"agent": "kyra", "user": "sarah"})
    sent(f"/v1/conversations/{opened['id']}/messages", {"messages": said})
    asking = [
        {"role": "user", "content": "What is new?"},
        {"role": "assistant", "tool_calls": calls},
    ]
    chat = {"model": "kyra", "user": "sarah", "messages": [*asking, *outputs]}
    sent("/v1/chat/completions", chat)
    for infer in (True, False):
        added = {"messages": said, "user_id": "sarah", "agent_id": "kyra", "infer": infer}
        sent("/mem0/v3/memories/add/", added, by=mem0)
    task = sent("/v1/tasks", {"agent": "kyra", "project": "apollo"})["id"]
    for text in texts:
        item = {"kind": "tool_output", "tool": "read", "output": text}
        place = f"/v1/tasks/{task}/items"
        sent(f"{place}/{sent(place, item)['id']}/promote", {})

    logged = Message.objects.filter(content__in=texts)
    assert {source_of_message(each) for each in logged} == {Source.TOOL}
    assert logged.values("conversation_id").distinct().count() == 3
    kept = Memory.objects.filter(content__in=texts)
    assert set(kept.values_list("source", flat=True)) == {"tool"}
    assert kept.filter(end_user=None).exists()
    assert kept.exclude(end_user=None).exists()
    assert_unharmed(api, fact, person)


def test_the_suite_holds_sixty_poisoned_outputs_of_many_kinds() -> None:
    facts = {fact["fact"] for fact in FACTS}

    assert len(POISONED) == 60
    assert {each["fact"] for each in POISONED} == facts
    assert len({each["kind"] for each in POISONED}) > 20
    assert {each["source"] for each in POISONED} == {"tool", "web"}
