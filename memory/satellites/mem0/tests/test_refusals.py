"""The errors that mem0's own clients raise, and the rights of keys and teams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone
from mem0 import AsyncMemoryClient, MemoryClient
from mem0.client.types import DeleteAllMemoryOptions
from mem0.exceptions import (
    AuthenticationError,
    MemoryNotFoundError,
    RateLimitError,
    ValidationError,
)
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from memory.models import Memory
from memory.satellites.mem0.tests.conftest import Clients
from memory.understanding.tools import Tools
from memory.writing.pipeline import run_job
from teams.models import ApiKey
from teams.services.keys import revoke_key
from teams.tenancy import team_scope
from tests.support.cast import Cast, switch
from tests.support.mem0_clients import Mem0

TEXT = "Alice lives in Berlin."


def stored(mem0: Mem0, text: str = TEXT, **given: Any) -> str:
    """The id of a memory that is kept as it is worded."""
    (made,) = mem0.add(text, infer=False, **{"user_id": "alice", **given})["results"]
    return str(made["id"])


@pytest.mark.parametrize("kind", [MemoryClient, AsyncMemoryClient])
def test_a_wrong_key_makes_no_client(
    kind: type[Any], server: LiveServer, committed_db: None
) -> None:
    with pytest.raises(ValueError, match="not valid or was revoked"):
        kind(api_key="pal_wrong", host=f"{server.url}/mem0")


def test_a_revoked_key_is_an_authentication_error(mem0: Mem0, team: Cast) -> None:
    with team_scope(team_ids=[team.team.id], actor="test"):
        key = ApiKey.objects.get(team_id=team.team.id)
        revoke_key(team_id=team.team.id, key_id=key.pk, now=timezone.now())

    with pytest.raises(AuthenticationError) as refused:
        mem0.get_all()
    assert refused.value.error_code == "HTTP_401"


def test_a_read_only_key_reads_and_changes_nothing(team: Cast, mem0_of: Clients) -> None:
    one = stored(mem0_of(team))
    reader = mem0_of(team, is_read_only=True)

    assert reader.get(one)["memory"] == TEXT
    assert reader.search("Where?", filters={"user_id": "alice"})["results"]
    assert reader.get_all()["count"] == 1
    made = reader.create_memory_export(schema={"properties": {"memory": {}}})
    assert len(reader.get_memory_export(memory_export_id=made["id"])["memories"]) == 1
    changes: list[Callable[[], Any]] = [
        lambda: reader.add("Alice plays chess.", user_id="alice"),
        lambda: reader.update(one, text="Alice lives in Porto."),
        lambda: reader.delete(one),
        lambda: reader.delete_all(user_id="alice"),
        lambda: reader.batch_update([{"memory_id": one, "text": "Alice lives in Porto."}]),
        lambda: reader.batch_delete([{"memory_id": one}]),
        lambda: reader.delete_users(user_id="alice"),
    ]
    for change in changes:
        with pytest.raises(AuthenticationError, match="read-only"):
            change()
    assert reader.get_all()["count"] == 1


def test_nothing_of_another_team_is_found_or_changed(
    team: Cast, stranger: Cast, mem0_of: Clients
) -> None:
    ours, theirs = mem0_of(team), mem0_of(stranger)
    one = stored(ours, run_id="run-1")
    export = ours.create_memory_export(schema={"properties": {"memory": {}}})["id"]

    for ask in (
        lambda: theirs.get(one),
        lambda: theirs.history(one),
        lambda: theirs.update(one, text="Alice lives in Porto."),
        lambda: theirs.update(one, metadata={"a": "b"}),
        lambda: theirs.delete(one),
        lambda: theirs.batch_delete([{"memory_id": one}]),
        lambda: theirs.batch_update([{"memory_id": one, "metadata": {"a": "b"}}]),
        lambda: theirs.delete_users(user_id="alice"),
        lambda: theirs.get_memory_export(memory_export_id=export),
    ):
        with pytest.raises(MemoryNotFoundError):
            ask()
    theirs.delete_all(user_id="alice")
    assert theirs.users()["results"] == []
    for filters in ({}, {"user_id": "alice"}, {"memory_ids": [one]}, {"run_id": "*"}):
        assert theirs.get_all(filters=filters)["results"] == []
        assert theirs.search("Where does Alice live?", filters=filters)["results"] == []
    assert ours.get(one)["memory"] == TEXT


def test_no_more_is_deleted_than_was_meant(team: Cast, mem0_of: Clients) -> None:
    ours = mem0_of(team)
    stored(ours)

    for wrong in (
        lambda: ours.delete_users(user_id="*"),
        lambda: ours.delete_all(DeleteAllMemoryOptions(filters={"user_id": None, "app_id": "*"})),
    ):
        with pytest.raises(ValidationError):
            wrong()
    broken = ours.client.client.delete("/v1/memories/?filters={[]:1}")
    assert broken.status_code == 400

    assert [each["memory"] for each in ours.get_all()["results"]] == [TEXT]


def test_a_key_of_one_agent_sees_and_changes_what_that_agent_may(
    team: Cast, mem0_of: Clients
) -> None:
    with team_scope(team_ids=[team.team.id], actor="test"):
        private = Memory.objects.create(
            team_id=team.team.id,
            memory_type="agent_private",
            scope="team",
            content="Luke's own plan.",
            importance=8,
            extractor="test",
            actor="test",
            agent=team.luke,
        )
    everyone, kyra = mem0_of(team), mem0_of(team, agent=team.kyra)
    stored(everyone, run_id="run-1")

    assert everyone.get(str(private.pk))["agent_id"] == "luke"
    with pytest.raises(MemoryNotFoundError):
        kyra.get(str(private.pk))
    of_alice = {"user_id": "alice"}
    assert kyra.get_all()["results"] == []
    assert [each["memory"] for each in kyra.get_all(filters=of_alice)["results"]] == [TEXT]
    assert ("run", "run-1") in {(e["type"], e["name"]) for e in everyone.users()["results"]}
    assert {(e["type"], e["name"]) for e in kyra.users()["results"]} == {("user", "alice")}
    with pytest.raises(AuthenticationError, match="acts only as the agent 'kyra'"):
        kyra.add("Luke is late.", user_id="alice", agent_id="luke", infer=False)
    with pytest.raises(AuthenticationError, match="takes a key of the team"):
        kyra.delete_all(agent_id="*")
    kyra.delete_all(user_id="alice")
    assert kyra.get_all(filters=of_alice)["results"] == []
    assert everyone.get(str(private.pk))["memory"] == "Luke's own plan."
    assert kyra.add("I like tea.", user_id="alice")["status"] == "PENDING"


@pytest.mark.parametrize("unknown", ["5f0c5a0e-8d5c-4d4e-9b57-0d6b8a5f1c11", "mem_123", "no/id"])
def test_an_unknown_id_is_not_found(mem0: Mem0, unknown: str) -> None:
    for ask in (mem0.get, mem0.delete, mem0.history):
        with pytest.raises(MemoryNotFoundError) as refused:
            ask(unknown)
        assert refused.value.error_code == "HTTP_404"


def test_too_many_requests_say_when_to_come_back(
    team: Cast, mem0_of: Clients, settings: Settings
) -> None:
    settings.RATE_LIMIT_KEY = 2
    mem0 = mem0_of(team)
    mem0.get_all()

    with pytest.raises(RateLimitError) as refused:
        mem0.get_all()
    assert refused.value.debug_info["retry_after"] > 0
    assert "2 requests a minute" in refused.value.message


BAD: list[tuple[str, dict[str, Any]]] = [
    ("Send user_id", {}),
    ("Name one of user_id", {"user_id": "*", "infer": False}),
    ("Send user_id", {"agent_id": "kyra"}),
    ("Send user_id", {"run_id": "r1", "infer": False}),
    ("metadata.long: Metadata is kept as tags", {"metadata": {"long": "x" * 100}}),
    ("metadata.a=b: A key is", {"metadata": {"a=b": 1}}),
    ("metadata.a: A key is", {"metadata": {"a": "x\u2028y"}}),
    ("metadata.big: Metadata is kept as tags", {"metadata": {"big": 1e300}}),
    # It fits, but not once it is masked.
    ("metadata.note: Metadata is kept", {"metadata": {"note": f"{'y' * 73} password: x1"}}),
    ("metadata: A memory has at most 50", {"metadata": {str(n): n for n in range(51)}}),
    ("metadata: Expected a dictionary", {"metadata": "x"}),
    ("expiration_date: ", {"expiration_date": "soon"}),
    ("timestamp: Must not lie more", {"timestamp": 5_700_000_000}),
    ("timestamp: Must lie in the years 1900 to 2199", {"timestamp": 32_503_680_000}),
    ("timestamp: Must lie in the years 1900 to 2199", {"timestamp": "0001-01-01"}),
    ("timestamp: Must be the seconds", {"timestamp": 1_700_000_000_000}),
    ("nonsense: There is no such field", {"nonsense": True}),
    ("infer: ", {"infer": "no"}),
    ("filters: May name", {"filters": {"topic": "x"}}),
]


@pytest.mark.parametrize(("told", "given"), BAD)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    team: Cast, mem0_of: Clients, told: str, given: dict[str, Any]
) -> None:
    mem0 = mem0_of(team)
    base: dict[str, Any] = {"infer": False} if "metadata" in given else {}
    named = {} if "Name one" in told or "Send user" in told else {"user_id": "alice"}

    with pytest.raises(ValidationError, match=told):
        mem0.add(TEXT, **{**base, **named, **given})
    for messages in ([], [{"role": "poet", "content": "x"}], [{"role": "user", "content": [1]}]):
        with pytest.raises(ValidationError, match="messages"):
            mem0.add(messages, user_id="alice")
    assert mem0.users()["results"] == []


def test_half_of_several_messages_is_not_stored(mem0: Mem0) -> None:
    talk = [{"role": "user", "content": TEXT}, {"role": "user", "content": "…"}]

    with pytest.raises(ValidationError, match=r"\[1\]"):
        mem0.add(talk, infer=False, user_id="alice")
    assert mem0.get_all()["count"] == 0


def test_a_run_is_of_one_app(mem0: Mem0) -> None:
    mem0.add("Hello.", user_id="alice", run_id="run-1", app_id="shop")

    with pytest.raises(ValidationError, match="This run is of shop"):
        mem0.add("Hello again.", user_id="alice", run_id="run-1", app_id="club")


def test_a_team_without_memory_is_told_so(mem0: Mem0, team: Cast) -> None:
    with team_scope(team_ids=[team.team.id], actor="test"):
        switch(team, memory=False)

    for ask in (
        lambda: mem0.add("Hello.", user_id="alice"),
        lambda: mem0.search("Where?"),
        mem0.get_all,
        mem0.users,
    ):
        with pytest.raises(AuthenticationError) as refused:
            ask()
        assert refused.value.error_code == "HTTP_403"


def test_unknown_fields_are_named(mem0: Mem0) -> None:
    stored(mem0)

    for ask in (
        lambda: mem0.get_all(fields=["memory", "nickname"]),
        lambda: mem0.get_all(fields=["score"]),
        lambda: mem0.search("Where?", fields=["nickname", "memory"]),
    ):
        with pytest.raises(ValidationError, match=r'fields\[[01]\]: "\w+" is none of id, memory'):
            ask()
    alice = {"user_id": "alice"}
    (shown,) = mem0.search("Where?", filters=alice, fields=["memory", "score"])["results"]
    assert set(shown) == {"id", "memory", "score"}


def test_a_question_is_asked_as_of_a_sane_day(mem0: Mem0) -> None:
    stored(mem0)

    for wrong in ("0001-01-01", "9999-12-31", -60_000_000_000, 1_700_000_000_000):
        with pytest.raises(ValidationError, match="reference_date: Must"):
            mem0.search("Where was she last week?", reference_date=wrong)
    alice = {"user_id": "alice"}
    for day in ("1900-01-01", "2199-12-31", 0):
        asked: dict[str, Any] = {"filters": alice, "reference_date": day}
        assert mem0.search("Where was she last week?", **asked)["results"]


def test_a_change_of_a_profile_waits_for_a_yes(mem0: Mem0, team: Cast, tools: Tools) -> None:
    job = mem0.add("I live in Oslo.", user_id="alice")["event_id"]
    assert run_job(team_id=team.team.id, job_id=UUID(job), tools=tools)
    (city,) = mem0.get_all(filters={"user_id": "alice"})["results"]

    held = mem0.update(city["id"], text="User lives in Bergen.")
    assert held["status"] == "PENDING"
    assert UUID(held["consent_request"])
    assert mem0.get(city["id"])["memory"] == city["memory"]


def test_secrets_in_metadata_are_masked(mem0: Mem0) -> None:
    key = "sk-proj-Zx81mQpL0aT4vBn7RkWd2YhC"
    one = stored(mem0, metadata={"key": key})
    again = mem0.update(one, metadata={"other": key})

    assert key not in str(again["metadata"])
    assert key not in str(mem0.get(one))
