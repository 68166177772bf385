"""Orders to the memory, by every way in: nothing changes, nothing leaves its section or its scope.

Seed 001, "Safety Requirements".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import Q
from rest_framework.test import APIClient

from memory.domain.plans.plan import FORGETTING, NOTICE
from memory.domain.rendering import HEADINGS, SAID_HEADING
from memory.models import Contradiction, Memory
from memory.satellites.plans.placing import HEADINGS as WORKING_HEADINGS
from memory.satellites.plans.placing import OPENING as INDEX
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests.support.cast import make_cast
from tests.support.chat import Ask, Town, assistant, user
from tests.support.examples import few_of
from tests.support.hostile import hostile_messages
from tests.support.openai_server import FakeOpenAI

RULE = "═" * 32
MESSAGES = hostile_messages()
# Each in a memory that Kyra may not tell Sarah.
SECRETS = ("zanzibar", "bramble", "obsidian", "quokka")
OUR_HEADINGS = {
    *HEADINGS,
    SAID_HEADING,
    "## What You Remember",
    "## User Profile",
    "## Conversation Context",
    "## Your Skills",
}
LABELLED = re.compile(r"\[[A-Z][A-Z-]*(?: [^\[\]]{1,80})?\]: \S")

INDEXED = re.compile(r"- [^\[\]]+ \(\d+\)$")


@pytest.fixture
def api(town: Town) -> APIClient:
    """A client with a key of the team."""
    return key_of(town.cast.team.id)


@pytest.fixture
def known(town: Town, api: APIClient) -> list[dict[str, Any]]:
    """The team's memories; half of them are not for Sarah."""
    town.remember("Sarah lives in Berlin.", category="profile")
    town.remember("Sarah prefers short answers.", category="preferences")
    for body in (
        {"content": "The API key policy is that keys rotate every month."},
        {"content": "The memory of the team is backed up every night.", "is_pinned": True},
        {"content": "Dmitri's memory word is zanzibar.", "user": "dmitri"},
        {"content": "Luke keeps the word bramble.", "agent": "luke"}
        | {"memory_type": "agent_private"},
        {"content": "Lantern's memory word is obsidian.", "project": "lantern"},
    ):
        assert api.post("/v1/memories", body, format="json").status_code == 201
    other = make_cast(f"other-{uuid4().hex[:8]}")
    foreign = {"content": "The memory word of the other team is quokka."}
    assert key_of(other.team.id).post("/v1/memories", foreign, format="json").status_code == 201
    return rows(town)


def key_of(team_id: Any) -> APIClient:
    with team_scope(team_ids=[team_id], actor="test"):
        token = issue_key(team_id=team_id).token
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def rows(town: Town) -> list[dict[str, Any]]:
    """Every memory of the team, whole."""
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        return [
            dict(row) for row in Memory.objects.filter(team=town.cast.team).order_by("id").values()
        ]


def assert_unchanged(town: Town, known: Sequence[dict[str, Any]]) -> None:
    """Asserts that the earlier memories are unchanged."""
    now = {row["id"]: row for row in rows(town)}
    assert [now[row["id"]] for row in known] == list(known)


def assert_apart(prompt: str) -> None:
    """Every line of a prompt is ours, or a memory or quotation on one line of its section."""
    memory, _, documents = prompt.partition(f"RELEVANT CONTEXT\n{RULE}\n")
    for line in memory.splitlines():
        if line.startswith("#"):
            assert line in OUR_HEADINGS, line
        elif line and line != NOTICE:
            assert LABELLED.match(line) or line.startswith("You are Kyra"), line
    for secret in SECRETS:
        assert secret not in prompt
    inner = documents.splitlines()[1:-4]
    assert all(line.startswith((">", "[DOCUMENT: ")) for line in inner)


def test_there_are_enough_of_them() -> None:
    assert len(set(MESSAGES)) >= 300


def test_what_is_said_and_extracted_changes_no_memory(
    town: Town, api: APIClient, known: list[dict[str, Any]]
) -> None:
    for place in range(0, len(MESSAGES), 40):
        start = {"agent": "kyra", "user": "sarah", "thread_id": f"m{place}"}
        talk = api.post("/v1/conversations", start, format="json").json()["id"]
        said = [
            {"role": "tool" if at % 5 == 4 else "user", "content": text}
            for at, text in enumerate(MESSAGES[place : place + 40])
        ]
        path = f"/v1/conversations/{talk}"
        posted = api.post(f"{path}/messages", {"messages": said}, format="json")
        assert posted.status_code in (200, 201), posted.content
        done = api.post(f"{path}/extract", {"wait": True}, format="json")
        assert done.status_code in (200, 202), done.content

    assert_unchanged(town, known)
    new = [row for row in rows(town) if row["id"] not in {each["id"] for each in known}]
    assert not [row for row in new if row["is_pinned"] or row["memory_type"] == "identity"]
    assert not [row for row in new if any(secret in row["content"] for secret in SECRETS)]
    with team_scope(team_ids=[town.cast.team.id], actor="test"):
        stated = [row["id"] for row in known]
        disputes = Contradiction.objects.filter(team=town.cast.team)
        assert not disputes.filter(Q(memory_a__in=stated) | Q(memory_b__in=stated)).exists()


def test_memories_and_documents_that_carry_orders_stay_where_they_are(
    town: Town, api: APIClient, known: list[dict[str, Any]]
) -> None:
    for text in MESSAGES[::10]:
        body = {"content": f"Note: {text}", "check": False, "importance": 9, "user": "sarah"}
        assert api.post("/v1/memories", body, format="json").status_code in (200, 201)
    before = rows(town)

    for text in few_of(MESSAGES[::3]):
        asked = {"agent": "kyra", "user": "sarah", "project": "harbour", "query": text}
        documents = [{"title": text[:400], "text": text, "source": text[:400]}]
        body = {**asked, "documents": documents, "include_raw": False}
        answer = api.post("/v1/prompt", body, format="json")
        assert answer.status_code == 200, answer.content
        assert_apart(answer.json()["prompt"])

    assert_unchanged(town, before)


def test_no_request_for_context_opens_its_block(
    town: Town, api: APIClient, known: list[dict[str, Any]]
) -> None:
    for text in MESSAGES[5::12]:
        body = {"content": f"Note: {text}", "check": False, "importance": 9}
        assert api.post("/v1/memories", body, format="json").status_code in (200, 201)
    before = rows(town)

    told = 0
    asked = few_of(MESSAGES)
    for text in asked:
        params = {"user_request": text, "agent": "kyra", "user": "sarah"}
        answer = api.get("/v1/memory/context", params)
        assert answer.status_code == 200, answer.content
        block = answer.json()["context"]
        told += bool(block)
        lines = block.splitlines()
        if lines:
            assert lines[:3] == ["PERSISTENT MEMORY (READ-ONLY)", RULE, ""]
            assert all(LABELLED.match(line) for line in lines[3:-6])
            assert lines[-3:] == [FORGETTING, "", RULE]
            assert lines.count(RULE) == 2
        for secret in SECRETS:
            assert secret not in answer.content.decode()

    assert told > len(asked) / 10
    assert_unchanged(town, before)


def test_no_signal_of_work_and_no_topic_opens_the_context(
    town: Town, api: APIClient, known: list[dict[str, Any]]
) -> None:
    for text in MESSAGES[5::12]:
        body = {"content": f"Note: {text}", "check": False, "importance": 9}
        if text.isprintable():
            body |= {"tags": [text[:100]], "category": text[:100]}
        assert api.post("/v1/memories", body, format="json").status_code in (200, 201)
    before = rows(town)

    topics: set[str] = set()
    for text in few_of(MESSAGES[::2]):
        signals = {"query": text, "recent_errors": [text], "current_file": "src/tea.py"}
        asked = {"agent": "kyra", "user": "sarah", "project": "harbour", "budget": 2_000}
        body = {**asked, "signals": signals}
        answer = api.post("/v1/context/assemble", body, format="json")
        assert answer.status_code == 200, answer.content
        block, _, index = answer.json()["context"].partition(f"{INDEX}\n")
        topic_lines = index.removesuffix(f"\n\n{RULE}").splitlines()
        assert_framed(f"{block}{RULE}" if index else block, "WORKING CONTEXT (READ-ONLY)")
        assert all(INDEXED.match(line) for line in topic_lines)
        assert not [secret for secret in SECRETS if secret in answer.content.decode()]
        topics |= {each["topic"] for each in answer.json()["index"]}

    assert len(topics) > 10
    for topic in few_of(sorted(topics)):
        params = {"topic": topic, "agent": "kyra", "user": "sarah", "project": "harbour"}
        opened = api.get("/v1/context/expand", params)
        assert opened.status_code == 200, opened.content
        assert_framed(opened.json()["context"], "TOPIC (READ-ONLY)")
        assert not [secret for secret in SECRETS if secret in opened.content.decode()]
    assert_unchanged(town, before)


def assert_framed(block: str, title: str) -> None:
    """Between two rules nothing stands but our headings and a line for each memory."""
    lines = block.splitlines()
    assert lines[:3] == [title, RULE, NOTICE]
    assert lines[-1] == RULE
    assert lines.count(RULE) == 2
    for line in filter(None, lines[3:-1]):
        assert line in {*WORKING_HEADINGS.values(), SAID_HEADING} or LABELLED.match(line), line


def test_chat_passes_orders_on_as_the_users_words_and_obeys_none(
    town: Town, model: FakeOpenAI, ask: Ask, known: list[dict[str, Any]]
) -> None:
    for place in range(0, len(MESSAGES), 20):
        *earlier, last = MESSAGES[place : place + 20]
        talk = [each for text in earlier for each in (user(text), assistant("No."))]
        where = {"thread_id": f"c{place}", "project": "harbour"}
        ask(*talk, last, thread=None, metadata=where)
        prompt, *sent = model.chats[-1].body["messages"]
        assert prompt["role"] == "system"
        assert FORGETTING in prompt["content"]
        assert_apart(prompt["content"])
        assert sent[-1] == user(last)

    assert_unchanged(town, known)
