"""Shorter versions of long memories: written after them, by rules or a model, and logged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.core.management import call_command

from audit.models import MemoryLog
from memory.domain.levels import RULES, Levels, levels_of
from memory.models import Memory, MemoryLevels
from memory.understanding.asked_model import AskedModel
from memory.understanding.model_writers import ModelLevels
from memory.understanding.tools import Tools
from memory.writing.indexing.vectors import write_levels
from routing.clients.structured_calls import StructuredCompletions
from teams.tenancy import team_scope
from tests.support.cast import Cast, Clients
from tests.support.erasure import erase
from tests.support.openai_server import FakeOpenAI, answer

STORY = (
    "The team decided to use PostgreSQL as the primary database because of its strong support"
    " for JSON operations. Everybody knows it from earlier projects, and nobody wanted to run"
    " two databases. Redis stays the cache, and Kafka was not chosen because it costs too much."
)
OWN = {
    "summary": "The team decided to use PostgreSQL because of its JSON support.",
    "compressed": "PostgreSQL JSON support",
    "index_term": "PostgreSQL",
}


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def by_model(tools: Tools, server: FakeOpenAI) -> Tools:
    completions = StructuredCompletions(
        base_url=server.base_url, api_key="", model="fake-model", max_retries=0
    )
    return replace(tools, levels=ModelLevels(AskedModel(completions=completions)))


def state(client_of: Clients, acme: Cast, content: str = STORY) -> str:
    """A memory about Sarah that is stated through the API; returns its id."""
    body = {"content": content, "agent": "kyra", "user": "sarah", "importance": 6}
    response = client_of(acme).post("/v1/memories", body, format="json")
    assert response.status_code == 201, response.json()
    return str(response.json()["id"])


def write(acme: Cast, tools: Tools, *, is_rebuilt: bool = False) -> int:
    return write_levels(team_id=acme.team.pk, tools=tools, is_rebuilt=is_rebuilt)


def row(acme: Cast) -> MemoryLevels:
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        return MemoryLevels.objects.get(team_id=acme.team.pk)


def test_a_long_memory_waits_and_gets_levels_with_a_row_in_the_log(
    acme: Cast, client_of: Clients, tools: Tools
) -> None:
    memory_id = state(client_of, acme)
    assert row(acme).writer == ""

    assert write(acme, tools) == 1
    assert write(acme, tools) == 0

    expected = levels_of(STORY)
    stored = row(acme)
    assert Levels(stored.summary, stored.compressed, stored.index_term) == expected
    assert (stored.writer, stored.embedding_model) == (RULES, tools.embedder.name)
    assert stored.embedding is not None
    with team_scope(team_ids=[acme.team.pk], actor="test"):
        rows = MemoryLog.objects.filter(memory_id=memory_id).order_by("seq")
        assert [each.event for each in rows] == ["created", "compressed"]
        last = rows.last()
    assert last is not None
    assert last.detail == {"levels": {"writer": RULES}}
    told = client_of(acme).get(f"/v1/memories/{memory_id}").json()
    assert told["levels"]["summary"] == expected.summary
    assert told["content"] == STORY


def test_a_short_memory_stores_none_and_is_told_by_the_rules(
    acme: Cast, client_of: Clients, tools: Tools
) -> None:
    memory_id = state(client_of, acme, "Sarah does not eat any nuts.")

    assert write(acme, tools) == 0
    told = client_of(acme).get(f"/v1/memories/{memory_id}").json()
    assert told["levels"] == {
        "summary": "Sarah does not eat any nuts.",
        "compressed": "Sarah does not eat any nuts.",
        "index_term": "Sarah does not eat any nuts",
        "told_at_most": "content",
    }


def test_a_model_writes_them_and_what_it_invents_is_refused(
    acme: Cast, client_of: Clients, tools: Tools, server: FakeOpenAI
) -> None:
    state(client_of, acme)
    server.will(answer({**OWN, "summary": "The team decided to use MongoDB."}), answer(OWN))

    assert write(acme, by_model(tools, server)) == 1

    assert row(acme).summary == OWN["summary"]
    assert row(acme).writer == "openai:fake-model"
    assert "MongoDB" in str(server.requests[-1].body)


def test_the_rules_stand_in_for_a_model_and_it_is_asked_again_later(
    acme: Cast, client_of: Clients, tools: Tools, server: FakeOpenAI
) -> None:
    state(client_of, acme)
    invented = answer({**OWN, "index_term": "MongoDB"})
    server.will(invented, invented, answer(OWN))
    asked = by_model(tools, server)

    write(acme, asked)
    assert row(acme).writer == RULES

    assert write(acme, asked, is_rebuilt=True) == 1
    assert row(acme).writer == "openai:fake-model"
    assert write(acme, asked, is_rebuilt=True) == 0


def test_what_does_not_fit_whole_is_told_shorter_and_the_answer_says_so(
    acme: Cast, client_of: Clients, tools: Tools
) -> None:
    long = f"{STORY} {'The backups of the database are written at night. ' * 4}".strip()
    state(client_of, acme, long)
    write(acme, tools)
    asked = {"agent": "kyra", "user": "sarah", "query": "Which primary database?"}
    full = {**asked, "return": "full"}

    whole = client_of(acme).post("/v1/retrieve", {**full, "token_budget": 500}, format="json")
    short = client_of(acme).post("/v1/retrieve", {**full, "token_budget": 100}, format="json")
    brief = client_of(acme).post("/v1/retrieve", {**asked, "token_budget": 100}, format="json")

    assert [each["text_level"] for each in whole.json()["memories"]] == ["content"]
    assert [each["text_level"] for each in short.json()["memories"]] == ["summary"]
    assert [each["content"] for each in short.json()["memories"]] == [long]
    assert levels_of(long).summary in short.json()["formatted_prompt"]
    assert [each["content"] for each in brief.json()["memories"]] == [levels_of(long).summary]


def test_the_command_writes_what_is_missing(
    acme: Cast, client_of: Clients, capsys: pytest.CaptureFixture[str]
) -> None:
    state(client_of, acme)

    call_command("compress", status=True)
    call_command("compress", team=acme.team.slug)
    call_command("compress")

    said = capsys.readouterr().out
    assert "1 memories wait" in said
    assert "1 memories have levels by rules:3." in said
    assert "The levels of all long memories are by rules:3." in said


def test_an_erased_person_leaves_no_levels(acme: Cast, client_of: Clients, tools: Tools) -> None:
    state(client_of, acme)
    write(acme, tools)

    erase(acme, "sarah")

    with team_scope(team_ids=[acme.team.pk], actor="test"):
        assert Memory.objects.filter(end_user=acme.sarah).exists()
        assert not MemoryLevels.objects.filter(team_id=acme.team.pk).exists()


def test_another_team_sees_none(acme: Cast, client_of: Clients, tools: Tools) -> None:
    state(client_of, acme)
    write(acme, tools)

    with team_scope(team_ids=[], actor="test"):
        assert not MemoryLevels.objects.exists()
