"""Whom a question is about is known of memories that came in by the API, whichever way."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import SearchEntry
from memory.understanding.tools import Tools
from teams.models import EndUser
from tests import factories
from tests.support.cast import Cast
from tests.support.query_api import ask, texts
from tests.support.writing import store

TOLD = {
    "nina": ["I am allergic to walnuts.", "I live in Ghent.", "I play the oboe in an orchestra."],
    "otto": ["I am allergic to shellfish.", "I live in Graz.", "I play the tuba in a brass band."],
}
STATED = {
    "nina": ["The allergy is to walnuts.", "Home is in Ghent.", "Plays the oboe."],
    "otto": ["Otto has a shellfish allergy.", "Otto's home is in Graz.", "Tuba player since 2019."],
}
QUESTIONS = [
    ("What allergy does Otto have?", "shellfish", "walnuts"),
    ("What allergy does Nina have?", "walnuts", "shellfish"),
    ("Where does Otto live?", "Graz", "Ghent"),
    ("Where does Nina live?", "Ghent", "Graz"),
]


def post(client: APIClient, path: str, body: Any) -> Any:  # Any: JSON
    """The answer to a good request."""
    answer = client.post(f"/v1/{path}", body, format="json")
    assert answer.status_code < 300, answer.content
    return answer.json()


def talk(client: APIClient, user: str, said: list[str]) -> None:
    """A conversation of Kyra with the user, extracted."""
    made = post(client, "conversations", {"agent": "kyra", "user": user})
    messages = [{"role": "user", "content": each} for each in said]
    post(client, f"conversations/{made['id']}/messages", {"messages": messages})
    post(client, f"conversations/{made['id']}/extract", {"wait": True})


@pytest.mark.parametrize(("question", "hers", "others"), QUESTIONS)
def test_a_question_about_one_finds_that_ones(
    api: APIClient, question: str, hers: str, others: str
) -> None:
    for user, contents in STATED.items():
        body = [{"content": each, "user": user, "check": False} for each in contents]
        post(api, "memories", body)

    found = texts(ask(api, question, filters={"user": {"in": list(STATED)}}))
    places = [[word in text for text in found].index(True) for word in (hers, others)]
    assert places[0] < places[1], found
    assert answers(api, question) == [[], [], []]
    for found in answers(api, question, user="otto" if "Otto" in question else "nina"):
        assert hers in found[0]
        assert others not in " ".join(found)


@pytest.mark.parametrize(
    "filters",
    [
        {"user": {"in": ["otto", "paul"]}},
        {"or": [{"user": {"in": ["otto", "paul"]}}, {"importance": {"gte": 1}}]},
        {"not": {"user": {"in": ["paul", "quentin"]}}},
    ],
    ids=str,
)
def test_a_filter_that_names_several_tells_of_nobody_else(
    api: APIClient, filters: dict[str, Any]
) -> None:
    for user, contents in STATED.items():
        post(api, "memories", [{"content": each, "user": user} for each in contents])
        talk(api, user, TOLD[user])

    found = ask(
        api, "Which allergy is it?", filters=filters, include_raw=True, **{"return": "full"}
    )

    named = {"otto"} if "not" not in filters else set()
    assert {each["user"] for each in found["results"]} == named
    assert found["messages"] == []


def test_a_guest_among_several_that_a_filter_names_hears_no_talk_of_the_team(
    acme: Cast, tools: Tools, api: APIClient
) -> None:
    talk = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    store(acme, tools, "The margin of tea is a third.", conversation_id=talk.pk)
    named = {"or": [{"user": {"in": ["sarah", "dmitri"]}}, {"user": None}]}

    told = []
    for role in ("guest", "member"):
        for person in (acme.sarah, acme.dmitri):
            EndUser.objects.filter(pk=person.pk).update(role=role)
            told.append(texts(ask(api, "Which margin?", filters=named)))

    assert told == [[], [], [], ["[semantic] The margin of tea is a third."]]


@pytest.mark.parametrize(("question", "hers", "others"), QUESTIONS)
def test_what_somebody_told_is_found_for_them_alone(
    api: APIClient, question: str, hers: str, others: str
) -> None:
    for user, said in TOLD.items():
        talk(api, user, said)

    for found in answers(api, question, user="otto" if "Otto" in question else "nina"):
        assert hers in found[0]
        assert others not in " ".join(found)


def answers(api: APIClient, question: str, **named: str) -> list[list[str]]:
    """The texts that a query, a search and a retrieval find, best first."""
    asked: dict[str, Any] = {"query": question, "agent": "kyra", "include_raw": False, **named}
    searched = api.get("/v1/memories/search", asked).json()["results"]
    retrieved = post(api, "retrieve", asked)["memories"]
    return [
        texts(ask(api, question, **named)),
        [each["content"] for each in searched],
        [each["content"] for each in sorted(retrieved, key=lambda each: -each["score"])],
    ]


def people_of(content: str) -> list[str]:
    return SearchEntry.objects.get(memory__content=content).people


def test_a_new_version_is_about_whom_the_old_one_was(api: APIClient) -> None:
    made = post(api, "memories", {"content": "Otto has a shellfish allergy.", "user": "otto"})

    corrected = "The allergy is to nuts, Mia says."
    post(api, f"memories/{made['id']}/correct", {"corrected_content": corrected})

    assert people_of(corrected) == ["otto"]


def test_a_memory_of_a_conversation_is_about_its_user(api: APIClient) -> None:
    made = post(api, "conversations", {"agent": "kyra", "user": "otto"})

    post(api, "memories", {"content": "Likes tea.", "conversation": made["id"]})

    assert people_of("Likes tea.") == ["otto"]
