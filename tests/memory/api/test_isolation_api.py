"""Two teams, two agents, two people and a stranger: nobody is shown what is not theirs.

The rule as it is written down (seed 000): a memory is seen only in its own team; there an agent
sees what is shared or a user's profile, what is its own, and what belongs to no agent. A reader
who names an end user or a project sees that one's memories and those of none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from memory.models import Memory
from teams.models import Agent, Conversation, Message
from tests.support.cast import Cast, Clients

SECRET = "The vault opens with the word heliotrope."


@dataclass(frozen=True)
class Story:
    """Acme's Kyra talked with Sarah and keeps a secret; everybody has a client."""

    acme: Cast
    team: APIClient
    kyra: APIClient
    luke: APIClient
    stranger: APIClient
    conversation: str
    job: str
    private: str
    shared: str
    semantic: str


@pytest.fixture
def story(acme: Cast, globex: Cast, client_of: Clients) -> Story:
    """The cast in its places."""
    team, kyra = client_of(acme), client_of(acme, acme.kyra)
    luke, stranger = client_of(acme, acme.luke), client_of(globex)
    conversation = kyra.post(
        "/v1/conversations", {"agent": "kyra", "user": "sarah"}, format="json"
    ).json()["id"]
    kyra.post(
        f"/v1/conversations/{conversation}/messages",
        {"messages": [{"role": "user", "content": SECRET, "external_id": "m-1"}]},
        format="json",
    )
    job = kyra.post(f"/v1/conversations/{conversation}/extract", {}, format="json").json()["job"]

    def remember(kind: str, content: str) -> str:
        body = {"content": content, "memory_type": kind, "agent": "kyra", "check": False}
        memory_id: str = kyra.post("/v1/memories", body, format="json").json()["id"]
        return memory_id

    return Story(
        acme=acme,
        team=team,
        kyra=kyra,
        luke=luke,
        stranger=stranger,
        conversation=conversation,
        job=job,
        private=remember("agent_private", SECRET),
        shared=remember("shared", "The vault stands in the cellar."),
        semantic=remember("semantic", "The vault was painted green."),
    )


def ask(client: APIClient, method: str, path: str, body: object = None) -> Any:
    """The response to a request with a JSON body."""
    return client.generic(
        method, path, json.dumps(body) if body is not None else "", content_type="application/json"
    )


def requests_for(conversation: str, job: str, memory: str) -> list[tuple[str, str, object]]:
    """Every request that names a row by its id in the path."""
    message = {"messages": [{"role": "user", "content": "Hello."}]}
    return [
        ("GET", f"/v1/conversations/{conversation}", None),
        ("GET", f"/v1/conversations/{conversation}/messages", None),
        ("POST", f"/v1/conversations/{conversation}/messages", message),
        ("POST", f"/v1/conversations/{conversation}/extract", {"wait": True}),
        ("POST", f"/v1/conversations/{conversation}/extract", {"wait": False}),
        ("POST", f"/v1/conversations/{conversation}/close", None),
        ("GET", f"/v1/jobs/{job}", None),
        ("GET", f"/v1/memories/{memory}", None),
        ("DELETE", f"/v1/memories/{memory}", None),
        ("POST", f"/v1/memories/{memory}/pin", {"pinned": True}),
    ]


REQUESTS = range(len(requests_for("", "", "")))


@pytest.mark.parametrize("number", REQUESTS)
@pytest.mark.parametrize("who", ["stranger", "luke"])
def test_what_is_not_theirs_answers_as_what_does_not_exist(
    story: Story, who: str, number: int
) -> None:
    client: APIClient = getattr(story, who)
    nobody = str(uuid4())
    method, path, body = requests_for(story.conversation, story.job, story.private)[number]
    _, nowhere, _ = requests_for(nobody, nobody, nobody)[number]

    theirs, nothing = ask(client, method, path, body), ask(client, method, nowhere, body)

    assert theirs.status_code == nothing.status_code == 404
    assert theirs["Content-Type"] == nothing["Content-Type"] == "application/problem+json"
    assert theirs.content == nothing.content
    assert set(theirs.headers) == set(nothing.headers)


@pytest.mark.parametrize("number", REQUESTS)
def test_the_same_requests_are_answered_to_those_they_belong_to(story: Story, number: int) -> None:
    method, path, body = requests_for(story.conversation, story.job, story.private)[number]

    assert ask(story.kyra, method, path, body).status_code in (200, 201, 202)


def test_a_refused_request_changed_nothing(story: Story) -> None:
    for client in (story.stranger, story.luke):
        for method, path, body in requests_for(story.conversation, story.job, story.private):
            ask(client, method, path, body)

    memory = Memory.objects.get(pk=story.private)
    assert (memory.status, memory.is_pinned) == ("active", False)
    assert Message.objects.count() == 1
    assert Conversation.objects.get(pk=story.conversation).closed_at is None


# -- lists, searches and prompts -------------------------------------------------------------


def everything(client: APIClient, agent: str) -> str:
    """All that a caller can read without knowing an id, as one text."""
    reads = [
        ask(client, "GET", "/v1/memories?status=all&limit=500"),
        ask(client, "GET", "/v1/memories/search?query=vault%20heliotrope%20green&limit=500"),
        ask(client, "GET", "/v1/memories/search?query=vault&include_cold=true"),
        ask(client, "POST", "/v1/retrieve", {"agent": agent, "query": "vault heliotrope"}),
        ask(
            client,
            "POST",
            "/v1/retrieve",
            {"agent": agent, "query": "vault", "user": "sarah", "include_cold": True},
        ),
    ]
    assert [each.status_code for each in reads] == [200] * 5
    return "\n".join(each.content.decode() for each in reads)


def test_a_stranger_reads_nothing_of_the_team(story: Story) -> None:
    seen = everything(story.stranger, "kyra")

    assert "vault" not in seen
    for memory_id in (story.private, story.shared, story.semantic, story.conversation):
        assert memory_id not in seen


def test_the_other_agent_reads_what_is_shared_and_no_more(story: Story) -> None:
    seen = everything(story.luke, "luke")

    assert "cellar" in seen
    assert "heliotrope" not in seen
    assert "green" not in seen
    assert story.private not in seen


def test_the_agent_itself_reads_all_three(story: Story) -> None:
    seen = everything(story.kyra, "kyra")

    assert all(word in seen for word in ("cellar", "heliotrope", "green"))


def test_the_team_key_that_names_an_agent_sees_as_that_agent(story: Story) -> None:
    body = {"agent": "luke", "query": "vault heliotrope"}

    retrieved = ask(story.team, "POST", "/v1/retrieve", body).content.decode()
    searched = ask(
        story.team, "GET", "/v1/memories/search?query=vault%20heliotrope&agent=luke"
    ).content.decode()

    for seen in (retrieved, searched):
        assert "cellar" in seen
        assert "heliotrope" not in seen


def test_filters_do_not_reach_across(story: Story) -> None:
    for query in (
        f"conversation={story.conversation}",
        "agent=kyra",
        "user=sarah",
        "memory_type=agent_private",
        "subject=",
        "status=all",
    ):
        response = ask(story.stranger, "GET", f"/v1/memories?{query}")
        assert response.status_code in (200, 422)
        assert response.json().get("results", []) == []


def test_a_cursor_of_another_team_opens_nothing(story: Story) -> None:
    following = ask(story.team, "GET", "/v1/memories?limit=1").json()["next"]

    response = ask(story.stranger, "GET", following.split("testserver")[-1])

    assert response.status_code == 200
    assert response.json()["results"] == []


# -- writes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/conversations", {"agent": "luke", "user": "sarah"}),
        ("POST", "/v1/conversations", {"agent": "somebody-new", "user": "sarah"}),
        ("POST", "/v1/memories", {"content": "Tea.", "agent": "luke"}),
        ("POST", "/v1/memories", [{"content": "Tea."}, {"content": "Tea.", "agent": "luke"}]),
        ("POST", "/v1/memories", {"content": "Tea.", "agent": "luke", "check": False}),
        ("GET", "/v1/memories?agent=luke", None),
        ("GET", "/v1/memories/search?query=tea&agent=luke", None),
        ("POST", "/v1/retrieve", {"agent": "luke", "query": "tea"}),
        ("POST", "/v1/retrieve", {"agent": "nobody", "query": "tea"}),
    ],
)
def test_a_key_of_one_agent_acts_as_no_other(
    story: Story, method: str, path: str, body: object
) -> None:
    agents, memories = Agent.objects.count(), Memory.objects.count()

    response = ask(story.kyra, method, path, body)

    assert response.status_code == 403
    assert response["Content-Type"] == "application/problem+json"
    assert "agent" in response.json()["errors"]
    assert (Agent.objects.count(), Memory.objects.count()) == (agents, memories)


@pytest.mark.parametrize("who", ["stranger", "luke"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/memories", {"content": "Tea.", "conversation": "{conversation}"}),
        ("POST", "/v1/memories", {"content": "Tea.", "message_ids": ["{message}"]}),
        (
            "POST",
            "/v1/retrieve",
            {"query": "x", "agent": "{who}", "conversation": "{conversation}"},
        ),
    ],
)
def test_a_body_cannot_point_at_what_is_not_theirs(
    story: Story, who: str, method: str, path: str, body: dict[str, Any]
) -> None:
    message = Message.objects.get().pk
    agent = "luke" if who == "luke" else "kyra"
    text = (
        json.dumps(body)
        .replace("{conversation}", story.conversation)
        .replace("{message}", str(message))
        .replace("{who}", agent)
    )

    response = ask(getattr(story, who), method, path, json.loads(text))

    assert response.status_code == 404
    assert list(response.json()["errors"]) == [
        "message_ids" if "message_ids" in body else "conversation"
    ]


def test_the_same_names_in_two_teams_are_two_of_each(story: Story, globex: Cast) -> None:
    body = {"agent": "kyra", "user": "sarah", "thread_id": "t-1"}

    here, there = (
        ask(client, "POST", "/v1/conversations", body).json()["id"]
        for client in (story.team, story.stranger)
    )

    assert here != there
    assert ask(story.stranger, "GET", f"/v1/conversations/{here}").status_code == 404


def test_the_same_fact_in_two_teams_is_no_duplicate(story: Story) -> None:
    body = {"content": "The coffee machine is broken.", "external_id": "e-1"}

    first = ask(story.team, "POST", "/v1/memories", body)
    second = ask(story.stranger, "POST", "/v1/memories", body)

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] != second.json()["id"]


def test_an_external_id_does_not_open_another_agents_memory(story: Story) -> None:
    """A duplicate answers with the stored memory; not with one the caller may not see."""
    ask(
        story.kyra,
        "POST",
        "/v1/memories",
        {
            "content": "The spare key lies under the fern.",
            "memory_type": "agent_private",
            "agent": "kyra",
            "external_id": "note-1",
        },
    )

    for body in ({"content": "Tea.", "external_id": "note-1"},
                 {"content": "Tea.", "external_id": "note-1", "check": False}):  # fmt: skip
        response = ask(story.luke, "POST", "/v1/memories", body)

        assert "fern" not in response.content.decode()


def test_a_private_note_leaves_no_trace_on_what_is_shared(story: Story) -> None:
    """Kyra's note contradicts a fact everybody sees; the others must not learn that it exists."""
    fact = {"content": "The API limit is 100 requests per minute.", "memory_type": "shared"}
    note = {
        "content": "The API limit is 500 requests per minute.",
        "memory_type": "agent_private",
        "agent": "kyra",
    }
    shared = ask(story.luke, "POST", "/v1/memories", fact).json()["id"]
    before = ask(story.luke, "GET", f"/v1/memories/{shared}").json()

    private = ask(story.kyra, "POST", "/v1/memories", note).json()["id"]

    seen = ask(story.luke, "GET", f"/v1/memories/{shared}")
    assert private not in seen.content.decode()
    assert seen.json()["status"] == before["status"] == "active"


def test_a_private_note_does_not_retire_what_is_shared(story: Story) -> None:
    fact = {"content": "The API limit is 100 requests per minute.", "memory_type": "shared"}
    note = {
        "content": "The API limit is now 500 requests per minute.",
        "memory_type": "agent_private",
        "agent": "kyra",
    }
    shared = ask(story.luke, "POST", "/v1/memories", fact).json()["id"]

    ask(story.kyra, "POST", "/v1/memories", note)

    listed = ask(story.luke, "GET", "/v1/memories").json()["results"]
    assert shared in [each["id"] for each in listed]


def test_sharing_what_was_a_private_note_shares_it(story: Story) -> None:
    """Saying to everybody what one agent knew alone is no repetition for the others."""
    words = "The backup runs at midnight."
    for kind in ("agent_private", "shared"):
        ask(
            story.kyra,
            "POST",
            "/v1/memories",
            {"content": words, "memory_type": kind, "agent": "kyra"},
        )

    listed = ask(story.luke, "GET", "/v1/memories").json()["results"]
    assert words in [each["content"] for each in listed]
