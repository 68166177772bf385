"""Changes of a thread's memories, and the head of its prompts that tells each of them once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from rest_framework.test import APIClient

from audit.services.erasure import erase_user
from memory.models import Memory
from memory.understanding.tools import Tools
from teams.models import Conversation, ToldRevision
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast

HEAD = "Memory updates since rev"


def start(api: APIClient, thread: str = "t", user: str = "sarah", agent: str = "kyra") -> str:
    body = {"agent": agent, "user": user, "thread_id": thread}
    return str(api.post("/v1/conversations", body, format="json").json()["id"])


def state(api: APIClient, conversation: str, content: str, **more: object) -> str:
    body = {"content": content, "conversation": conversation, "user": "sarah", "check": False}
    answer = api.post("/v1/memories", {**body, **more}, format="json")
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def prompt(api: APIClient, conversation: str, **more: object) -> Any:
    body = {"agent": "kyra", "query": "Where does Sarah live?", "conversation": conversation}
    answer = api.post("/v1/prompt", {**body, **more}, format="json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def changes(api: APIClient, thread: str, query: str = "") -> Any:
    return api.get(f"/v1/threads/{thread}/changes?{query}")


def revision_of(conversation: str) -> int:
    return Conversation.objects.get(pk=conversation).revision


@pytest.fixture
def talk(api: APIClient) -> str:
    """A conversation of Kyra with Sarah in which she was asked before anything was remembered."""
    conversation = start(api)
    assert prompt(api, conversation)["updates"] is None
    return conversation


def test_a_threads_first_prompt_tells_what_stands_and_no_news(api: APIClient) -> None:
    conversation = start(api)
    state(api, conversation, "Sarah lives in Berlin.", category="profile")

    first = prompt(api, conversation)
    state(api, conversation, "Sarah has a dog.", category="profile")
    second = prompt(api, conversation)

    assert first["updates"] is None
    assert HEAD not in first["prompt"]
    assert "Sarah lives in Berlin." in first["prompt"]
    assert second["updates"]["text"].splitlines()[1:] == ["- +created: [profile] Sarah has a dog."]


def test_a_prompt_begins_with_what_changed_and_the_next_does_not(api: APIClient, talk: str) -> None:
    memory = state(api, talk, "Sarah lives in Berlin.", category="profile", importance=8)

    first = prompt(api, talk)
    second = prompt(api, talk)

    assert first["prompt"].startswith(
        f"{HEAD} 0:\n- +created: [profile] Sarah lives in Berlin.\n\n"
    )
    assert first["updates"]["changes"] == [{"kind": "+created", "memory": memory, "importance": 8}]
    assert (first["updates"]["since"], first["updates"]["revision"]) == (0, revision_of(talk))
    assert HEAD not in second["prompt"]
    assert second["updates"] is None


def test_without_a_change_or_a_conversation_there_is_no_head(api: APIClient, talk: str) -> None:
    asked = {"agent": "kyra", "query": "Where does Sarah live?"}

    assert prompt(api, talk)["updates"] is None
    state(api, talk, "Sarah lives in Berlin.")
    alone = api.post("/v1/prompt", asked, format="json").json()

    assert HEAD not in alone["prompt"]
    assert alone["updates"] is None


def test_each_kind_of_change_is_told(api: APIClient, talk: str) -> None:
    moved, gone, back, kept = (
        state(api, talk, f"Sarah has a {thing}.", importance=importance)
        for thing, importance in (("car", 9), ("boat", 8), ("bike", 7), ("house", 6))
    )
    api.delete(f"/v1/memories/{back}")
    prompt(api, talk)
    correction = {"corrected_content": "Sarah has a red car."}
    api.post(f"/v1/memories/{moved}/correct", correction, format="json")
    api.delete(f"/v1/memories/{gone}")
    Memory.objects.filter(pk=back).update(status="active", tier="warm")
    api.post(f"/v1/memories/{kept}/pin", {"pinned": True}, format="json")

    told = prompt(api, talk)["prompt"].split("\n\n")[0].splitlines()

    assert told[1:] == [
        "- ↑updated: [semantic] Sarah has a red car.",
        "- −deleted: [semantic] Sarah has a boat.",
        "- ↺restored: [semantic] Sarah has a bike.",
    ]


def test_a_merge_is_told_as_one(api: APIClient, talk: str) -> None:
    for limit in (100, 500):
        state(api, talk, f"The API limit is {limit} requests per minute.", check=True)
    (open_one,) = api.get("/v1/contradictions").json()["results"]
    prompt(api, talk)
    settled = {"resolution": "merged", "merged_content": "The API limit is 100, then 500."}
    answer = api.post(f"/v1/contradictions/{open_one['id']}/resolve", settled, format="json")
    assert answer.status_code == 200, answer.content

    lines = prompt(api, talk)["updates"]["text"].splitlines()

    assert lines[1:] == ["- ↔merged: [semantic] The API limit is 100, then 500."]


def test_a_memory_that_is_superseded_from_another_conversation_moves_both(
    api: APIClient, talk: str
) -> None:
    other = start(api, thread="other")
    prompt(api, other)
    state(api, talk, "Sarah lives in Berlin.", subject="user.home")
    prompt(api, talk)
    before, before_other = revision_of(talk), revision_of(other)

    moved = api.post(
        "/v1/memories",
        {
            "content": "Sarah moved: she now lives in Paris instead of Berlin.",
            "conversation": other,
            "user": "sarah",
            "subject": "user.home",
        },
        format="json",
    ).json()

    assert moved["outcome"] == "versioned"
    assert revision_of(talk) > before
    assert revision_of(other) > before_other
    assert "↑updated: [semantic] Sarah moved: she now" in prompt(api, talk)["prompt"]
    assert "↑updated: [semantic] Sarah moved: she now" in prompt(api, other)["prompt"]


def test_what_another_agent_keeps_for_itself_is_not_told(
    api: APIClient, talk: str, acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    factories.MemoryFactory.create(
        team=acme.team,
        agent=acme.luke,
        conversation_id=talk,
        memory_type="agent_private",
        content="Luke's own note.",
    )

    assert prompt(api, talk)["updates"] is None
    seen = changes(client_of(acme, acme.kyra), talk).json()
    assert seen["changes"] == []
    assert seen["next_since"] == seen["revision"] == 1
    assert len(changes(api, talk).json()["changes"]) == 1


def test_the_head_has_its_part_in_the_budget(api: APIClient, talk: str) -> None:
    for number in range(30):
        state(api, talk, f"Sarah told about plan number {number} for the garden at length.")

    built = prompt(api, talk, token_budget=400)

    stats, updates = built["stats"], built["updates"]
    assert stats["token_budget"] == 400
    assert stats["tokens_used"] <= 400
    assert stats["tokens_used"] == sum(layer["tokens"] for layer in built["layers"])
    again = prompt(api, talk, token_budget=400)
    assert built["layers"][0]["tokens"] == updates["tokens"] + again["layers"][0]["tokens"]
    assert len(updates["changes"]) == 3
    assert updates["tokens"] <= 62


def test_a_refused_prompt_tells_nothing(api: APIClient, talk: str) -> None:
    state(api, talk, "Sarah lives in Berlin.")
    refused = {"agent": "kyra", "query": "Where?", "conversation": talk, "weights": {"x": 1}}

    assert api.post("/v1/prompt", refused, format="json").status_code == 422

    assert ToldRevision.objects.get().revision == 0
    assert HEAD in prompt(api, talk)["prompt"]


def test_changes_are_listed_in_order_and_page_by_page(api: APIClient, talk: str) -> None:
    ids = [state(api, talk, f"Sarah has plan number {number}.") for number in range(5)]
    since, found = 0, []
    while True:
        page = changes(api, "t", f"since={since}&limit=2&user=sarah&agent=kyra").json()
        found += page["changes"]
        since = page["next_since"]
        if not page["has_more"]:
            break

    created = [each for each in found if each["event"] == "created"]
    assert [each["memory"] for each in created] == ids
    assert [each["revision"] for each in found] == list(range(1, len(found) + 1))
    assert since == page["revision"] == revision_of(talk)
    assert changes(api, talk, f"since={since}").json()["changes"] == []
    header = changes(api, talk, "since=0").json()["header"]
    assert header.startswith(f"{HEAD} 0:\n- +created")
    assert HEAD in prompt(api, talk)["prompt"]


def test_who_names_the_thread_names_its_person_and_no_other(
    api: APIClient, talk: str, acme: Cast, client_of: Callable[..., APIClient]
) -> None:
    hers = state(api, talk, "Sarah lives in Berlin.")
    state(api, talk, "Dmitri lives in Paris.", user="dmitri")

    for client in (api, client_of(acme, acme.kyra)):
        found = changes(client, talk).json()
        assert [each["memory"] for each in found["changes"]] == [hers]
        assert "Paris" not in found["header"]


def test_a_thread_is_found_by_its_names(
    api: APIClient, acme: Cast, globex: Cast, client_of: Callable[..., APIClient]
) -> None:
    talk = start(api)
    assert changes(api, "t").json()["conversation"] == talk
    other = start(api, user="dmitri")
    third = start(api, agent="luke")

    unclear = changes(api, "t")
    assert unclear.status_code == 422
    assert "user" in unclear.json()["errors"]
    assert changes(api, "t", "user=dmitri").json()["conversation"] == other
    assert changes(api, "t", "user=sarah").status_code == 422
    assert changes(api, "t", "user=sarah&agent=luke").json()["conversation"] == third
    assert changes(client_of(acme, acme.luke), "t").json()["conversation"] == third
    for url, status in [("nothing", 404), (str(uuid4()), 404), (f"{talk}", 200)]:
        assert changes(api, url).status_code == status
    assert changes(api, talk, "user=dmitri").status_code == 404
    assert changes(client_of(acme, acme.luke), talk).status_code == 404
    assert changes(client_of(globex), talk).status_code == 404
    for query in ("since=-1", "since=x", "limit=0", "limit=501"):
        assert changes(api, talk, query).status_code == 422


def test_prompts_at_the_same_time_tell_each_change_once(
    committed_db: None, client_of: Callable[..., APIClient], tools: Tools
) -> None:
    cast = make_cast(f"race-{uuid4().hex[:12]}")
    api = client_of(cast)
    talk = start(api)
    prompt(api, talk)
    clients = [client_of(cast) for _ in range(4)]

    def ask(client: APIClient) -> list[str]:
        try:
            found = []
            for _ in range(3):
                updates = prompt(client, talk)["updates"]
                found += [each["memory"] for each in updates["changes"]] if updates else []
            return found
        finally:
            connections.close_all()

    def write() -> list[str]:
        try:
            return [state(api, talk, f"Sarah has plan {number}.") for number in range(4)]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(5) as pool:
        written = pool.submit(write)
        told = [each for found in pool.map(ask, clients) for each in found]
    told += [each["memory"] for each in (prompt(api, talk)["updates"] or {}).get("changes", [])]

    with team_scope(team_ids=[cast.team.id], actor="test"):
        assert len(told) == len(set(told))
        assert set(told) <= set(written.result())
        assert told
        assert ToldRevision.objects.get().revision == revision_of(talk)


def test_of_an_erased_person_nothing_is_told(api: APIClient, talk: str, acme: Cast) -> None:
    gone = state(api, talk, "Sarah lives in Berlin.")
    assert prompt(api, talk)["updates"]
    state(api, talk, "Sarah has a dog.")
    api.delete(f"/v1/memories/{gone}")
    before = revision_of(talk)

    erase_user(team_id=acme.team.id, external_id="sarah", actor="test")

    assert revision_of(talk) > before
    assert prompt(api, talk)["updates"] is None


def test_news_wait_where_what_is_never_cut_leaves_them_no_room(api: APIClient, talk: str) -> None:
    for number in range(8):
        text = f"Sarah must always be told of rule {number}, whatever else there is to say to her."
        state(api, talk, text, is_pinned=True)

    full = prompt(api, talk, token_budget=100)
    roomy = prompt(api, talk, token_budget=2000)

    assert full["updates"] is None
    assert HEAD not in full["prompt"]
    over, waiting = full["warnings"]
    assert "over the budget of 100" in over
    assert "news" in waiting
    assert full["stats"]["tokens_used"] == sum(layer["tokens"] for layer in full["layers"])
    assert roomy["prompt"].startswith(HEAD)
    assert prompt(api, talk, token_budget=2000)["updates"] is None
