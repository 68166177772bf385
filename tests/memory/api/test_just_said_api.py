"""An acknowledged message is in the very next read, whether or not it is indexed by then.

These tests run inside a transaction that never ends, so that nothing is indexed in the background.
"""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import MessageEntry
from memory.tasks import index_messages
from tests.support.cast import Cast, Clients

SAID = "Biscuit, our office dog, chewed the blue slipper."
QUESTION = "What did Biscuit chew?"


def say(client: APIClient, *contents: str, user: str = "sarah", role: str = "user") -> str:
    """A new conversation of Kyra with these messages; its id."""
    opened = {"agent": "kyra", "user": user}
    conversation: str = client.post("/v1/conversations", opened, format="json").json()["id"]
    add(client, conversation, *contents, role=role)
    return conversation


def add(client: APIClient, conversation: str, *contents: str, role: str = "user") -> None:
    """More messages of the conversation."""
    sent = {"messages": [{"role": role, "content": each} for each in contents]}
    path = f"/v1/conversations/{conversation}/messages"
    assert client.post(path, sent, format="json").status_code == 201


def found(client: APIClient, path: str = "retrieve", query: str = QUESTION, **fields: Any) -> Any:
    """The messages that Kyra is told."""
    body = {"query": query, "agent": "kyra", "user": "sarah", **fields}
    if path == "search":
        response = client.get("/v1/memories/search", body)
        told = [each for each in response.json()["results"] if each["level"] == "raw"]
    else:
        response = client.post(f"/v1/{path}", body, format="json")
        told = response.json()["messages"]
    assert response.status_code == 200, response.content
    return [each["content"] for each in told]


@pytest.mark.parametrize("path", ["retrieve", "prompt", "search"])
@pytest.mark.parametrize("fields", [{}, {"include_raw": True}], ids=["by itself", "asked for"])
def test_a_message_is_in_the_very_next_read(
    api: APIClient, path: str, fields: dict[str, Any]
) -> None:
    say(api, "The invoice was paid in March.", SAID)

    assert MessageEntry.objects.filter(is_waiting=True).count() == 2
    assert found(api, path, **fields)[0] == SAID


@pytest.mark.parametrize("place", [0, 120, 299])
def test_it_is_found_wherever_it_stands_in_a_long_post(api: APIClient, place: int) -> None:
    talk = [f"The invoice number {number} was paid in March." for number in range(299)]
    say(api, *talk[:place], SAID, *talk[place:])

    assert found(api)[0] == SAID


def test_it_is_found_by_its_meaning_alone(api: APIClient) -> None:
    say(api, "My puppy ruined a shoe.", "The invoice was paid in March.")

    assert found(api, query="Which dog damaged the slippers?")[0] == "My puppy ruined a shoe."


def test_an_answer_that_was_kept_before_is_not_given_again(api: APIClient) -> None:
    say(api, "We talked about the weather.")
    index_messages()
    assert SAID not in found(api, include_raw=True)

    say(api, SAID)

    assert SAID in found(api, include_raw=True)


def test_what_is_indexed_and_what_waits_stand_in_one_answer_once(api: APIClient) -> None:
    say(api, "Biscuit did chew the red slipper.")
    index_messages()
    say(api, SAID)
    both = {SAID, "Biscuit did chew the red slipper."}

    before = found(api)
    index_messages()
    after = found(api)

    assert len(before) == len(after) == 2
    assert set(before) == set(after) == both


def test_it_ranks_as_it_does_once_it_is_indexed(api: APIClient) -> None:
    say(api, "Biscuit likes carrots.", SAID, "Somebody chewed a pen.", role="assistant")

    before = found(api, include_raw=True)
    index_messages()

    assert SAID in before
    assert found(api, include_raw=True) == before


def test_who_may_not_hear_it_does_not(acme: Cast, api: APIClient, client_of: Clients) -> None:
    say(api, SAID)

    assert found(api, user="dmitri") == []
    luke = client_of(acme, acme.luke)
    assert found(luke, agent="luke") == []
    assert found(api, include_raw=False) == []


def test_in_its_own_conversation_it_is_not_told_back_at_once(api: APIClient) -> None:
    conversation = say(api, SAID)

    assert found(api, conversation=conversation) == []
    add(api, conversation, *(f"We looked at page {number} of the budget." for number in range(10)))
    assert found(api, conversation=conversation) == [SAID]


@pytest.mark.parametrize("is_indexed", [False, True])
@pytest.mark.parametrize("path", ["retrieve", "prompt", "search", "memory/query"])
def test_what_is_not_extracted_is_told_to_its_agent_and_person_alone(
    api: APIClient, acme: Cast, client_of: Clients, path: str, is_indexed: bool
) -> None:
    kyra, luke = client_of(acme, acme.kyra), client_of(acme, acme.luke)
    kyra.patch("/v1/users/sarah", {"role": "member"}, format="json")
    say(kyra, SAID)
    if is_indexed:
        index_messages()
    body = {"query": QUESTION, "agent": "kyra"}

    def answer(client: APIClient, **fields: str) -> str:
        if path == "search":
            return str(client.get("/v1/memories/search", {**body, **fields}).content.decode())
        return str(client.post(f"/v1/{path}", {**body, **fields}, format="json").content.decode())

    assert "slipper" in answer(kyra, user="sarah")
    for told in (
        answer(kyra),
        answer(api),
        answer(kyra, user="dmitri"),
        answer(luke, agent="luke", user="sarah"),
        answer(luke, agent="luke"),
    ):
        assert "results" in told or "messages" in told
        assert "slipper" not in told
