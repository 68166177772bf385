"""Memories through mem0's own clients, against a server over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from mem0.client.types import AddMemoryOptions, DeleteAllMemoryOptions
from mem0.exceptions import MemoryNotFoundError, ValidationError

from memory.domain.audience import Viewer
from memory.models import Job, Memory
from memory.satellites.consent.deciding import approve_request
from memory.satellites.consent.models import ConsentRequest
from memory.understanding.tools import Tools
from memory.writing.pipeline import run_job
from teams.models import Conversation, Message
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.mem0_clients import Mem0


def stored(mem0: Mem0, text: str, **given: Any) -> str:
    """The id of a memory that is kept as it is worded."""
    answer = mem0.add(text, infer=False, **{"user_id": "alice", **given})
    assert answer["status"] == "SUCCEEDED"
    (made,) = answer["results"]
    return str(made["id"])


def listed(mem0: Mem0, **given: Any) -> list[str]:
    """The texts of the list."""
    return [each["memory"] for each in mem0.get_all(**given)["results"]]


def test_the_key_is_checked_and_names_the_team(mem0: Mem0, team: Cast) -> None:
    assert mem0.client.org_id == str(team.team.id)
    assert mem0.client.project_id == str(team.team.id)
    assert mem0.client.user_email is None


def test_what_is_added_without_inference_is_a_memory_in_its_own_words(mem0: Mem0) -> None:
    answer = mem0.add(
        [
            {"role": "user", "content": "Alice is allergic to peanuts."},
            {"role": "assistant", "content": "The bakery on Elm Street sells rye bread."},
        ],
        infer=False,
        user_id="alice",
        agent_id="kyra",
        app_id="kitchen",
        run_id="run-1",
        metadata={"topic": "food", "level": 3, "seen": None},
        expiration_date="2999-12-31",
        timestamp=1_700_000_000,
    )

    first, second = answer["results"]
    assert (first["event"], second["event"]) == ("ADD", "ADD")
    shown = mem0.get(first["id"])
    assert shown["memory"] == "Alice is allergic to peanuts."
    assert shown["user_id"] == "alice"
    assert shown["agent_id"] == "kyra"
    assert shown["app_id"] == "kitchen"
    assert shown["run_id"] == "run-1"
    assert shown["metadata"] == {"topic": "food", "level": 3, "seen": None}
    assert shown["expiration_date"] == "2999-12-31"
    assert datetime.fromisoformat(shown["created_at"]) == datetime.fromtimestamp(
        1_700_000_000, tz=UTC
    )
    assert sorted(listed(mem0, filters={"run_id": "run-1"})) == [
        "Alice is allergic to peanuts.",
        "The bakery on Elm Street sells rye bread.",
    ]


def test_the_typed_options_of_the_client_are_taken(mem0: Mem0) -> None:
    options = AddMemoryOptions(filters={"user_id": "alice"}, metadata={"a": "b"}, infer=False)
    (made,) = mem0.add("Alice plays the cello.", options)["results"]

    assert mem0.get(made["id"])["user_id"] == "alice"
    mem0.delete_all(DeleteAllMemoryOptions(filters={"user_id": "alice"}))
    with pytest.raises(MemoryNotFoundError):
        mem0.get(made["id"])


def test_what_is_added_twice_stands_once_and_gains_the_metadata(mem0: Mem0) -> None:
    one = stored(mem0, "Alice plays the cello.", metadata={"source": "form", "level": 1})
    answer = mem0.add(
        "Alice plays the cello.", infer=False, user_id="alice", metadata={"level": 2, "new": True}
    )

    (again,) = answer["results"]
    assert (again["id"], again["event"]) == (one, "NONE")
    assert mem0.get(one)["metadata"] == {"source": "form", "level": 2, "new": True}


def test_memories_are_extracted_from_messages_in_the_background(
    mem0: Mem0, team: Cast, tools: Tools
) -> None:
    talk = [
        {"role": "user", "content": "My name is Alice and I live in Lisbon."},
        {"role": "assistant", "content": "Nice to meet you, Alice."},
    ]
    answer = mem0.add(talk, user_id="alice", run_id="talk-1")

    assert answer["status"] == "PENDING"
    with team_scope(team_ids=[team.team.id], actor="test"):
        job = Job.objects.get(pk=answer["event_id"])
        conversation = Conversation.objects.get(pk=job.conversation_id)
        assert (conversation.thread_id, conversation.agent.slug) == ("talk-1", "mem0")
        said = Message.objects.filter(conversation=conversation).order_by("position")
        assert [(row.role, row.content) for row in said] == [
            (each["role"], each["content"]) for each in talk
        ]
    assert run_job(team_id=team.team.id, job_id=job.pk, tools=tools)

    found = mem0.search("Where does Alice live?", filters={"user_id": "alice"})["results"]
    assert "Lisbon" in found[0]["memory"]
    assert 0 < found[0]["score"] <= 1
    assert found[0]["run_id"] == "talk-1"


def test_what_is_extracted_has_the_metadata_and_the_expiry(
    mem0: Mem0, team: Cast, tools: Tools
) -> None:
    mem0.add("My name is Alice.", user_id="alice", run_id="talk-1")
    mem0.add(
        "I live in Lisbon.",
        user_id="alice",
        run_id="talk-1",
        metadata={"source": "form", "level": 3.0},
        expiration_date="2999-12-31",
    )
    mem0.add(
        "I am allergic to peanuts.", user_id="alice", run_id="talk-1", expiration_date="2020-01-31"
    )
    with team_scope(team_ids=[team.team.id], actor="test"):
        jobs = list(Job.objects.filter(team_id=team.team.id).order_by("id"))
    for job in jobs:
        assert run_job(team_id=team.team.id, job_id=job.pk, tools=tools)

    (city,) = mem0.get_all(filters={"metadata": {"level": 3, "source": "form"}})["results"]
    assert "Lisbon" in city["memory"]
    assert city["metadata"] == {"source": "form", "level": 3}
    assert city["expiration_date"] == "2999-12-31"
    assert not any("peanuts" in each for each in listed(mem0))
    every = mem0.get_all(show_expired=True)["results"]
    (allergy,) = [each for each in every if "peanuts" in each["memory"]]
    assert (allergy["metadata"], allergy["expiration_date"]) == ({}, "2020-01-31")
    assert [each["metadata"] for each in every if "name" in each["memory"]] == [{}]


def test_what_waits_for_a_yes_keeps_the_metadata_and_the_expiry(
    mem0: Mem0, team: Cast, tools: Tools
) -> None:
    for text, given in (
        ("I live in Oslo.", {}),
        ("I moved to Bergen.", {"metadata": {"a": "b"}, "expiration_date": "2999-12-31"}),
    ):
        job = mem0.add(text, user_id="alice", **given)["event_id"]
        assert run_job(team_id=team.team.id, job_id=UUID(job), tools=tools)
    with team_scope(team_ids=[team.team.id], actor="test"):
        request = ConsentRequest.objects.get(team_id=team.team.id, state="waiting")

    approve_request(
        viewer=Viewer(team_id=team.team.id, actor="test"),
        request_id=request.pk,
        tools=tools,
        now=datetime.now(tz=UTC),
    )

    (city,) = mem0.get_all(filters={"keywords": "Bergen"})["results"]
    assert (city["metadata"], city["expiration_date"]) == ({"a": "b"}, "2999-12-31")


def test_what_people_tagged_is_no_metadata_and_stays(mem0: Mem0, team: Cast) -> None:
    one = stored(mem0, "Alice plays the cello.", metadata={"level": 1})
    with team_scope(team_ids=[team.team.id], actor="test"):
        row = Memory.objects.get(pk=one)
        assert row.tags == ["mem0:level=1"]
        row.tags = ["level=3", "music", "mem0:level=1", "mem0:card=[masked]"]
        row.save(update_fields=["tags"])

    assert mem0.get(one)["metadata"] == {"level": 1, "card": "[masked]"}
    assert listed(mem0, filters={"metadata": {"level": 3}}) == []
    assert mem0.update(one, metadata={"level": 2})["metadata"] == {"level": 2}
    with team_scope(team_ids=[team.team.id], actor="test"):
        assert Memory.objects.get(pk=one).tags == ["level=3", "music", "mem0:level=2"]


def test_search_finds_the_best_first_among_what_the_filter_leaves(mem0: Mem0) -> None:
    stored(mem0, "Alice likes strong coffee in the morning.")
    stored(mem0, "Alice repairs old bicycles.")
    stored(mem0, "Bob likes coffee with milk.", user_id="bob")

    found = mem0.search("Who likes coffee?", filters={"user_id": "alice"}, top_k=5)["results"]
    assert [each["memory"] for each in found] == [
        "Alice likes strong coffee in the morning.",
        "Alice repairs old bicycles.",
    ]
    both = {"user_id": {"in": ["alice", "bob"]}}
    best = mem0.search("Who likes coffee?", filters=both, top_k=1, fields=["memory"], rerank=True)[
        "results"
    ]
    assert set(best[0]) == {"id", "memory", "score"}
    assert mem0.search("Who likes coffee?", filters={"user_id": "*"})["results"] == []
    high = mem0.search("Who likes coffee?", filters={"user_id": "alice"}, threshold=0.99)
    assert "Alice repairs old bicycles." not in [each["memory"] for each in high["results"]]


def test_a_list_has_pages_with_addresses(mem0: Mem0) -> None:
    texts = ["Alice owns a blue boat.", "Alice collects stamps.", "Alice speaks Finnish."]
    for text in texts:
        stored(mem0, text)

    first = mem0.get_all(filters={"user_id": "alice"}, page=1, page_size=2)
    second = mem0.get_all(filters={"user_id": "alice"}, page=2, page_size=2)

    assert first["count"] == second["count"] == 3
    assert [each["memory"] for each in first["results"] + second["results"]] == texts[::-1]
    assert "page=2" in first["next"]
    assert first["previous"] is None
    assert second["next"] is None
    assert second["previous"] is not None


def test_what_expired_is_shown_on_request_alone(mem0: Mem0) -> None:
    gone = stored(mem0, "The sale ends soon.", expiration_date="2020-01-31")
    today = datetime.now(tz=UTC).date().isoformat()
    stored(mem0, "The museum is open.", expiration_date=today)
    only = {"user_id": "alice"}

    assert listed(mem0, filters=only) == ["The museum is open."]
    assert len(listed(mem0, filters=only, show_expired=True)) == 2
    assert len(mem0.search("What ends?", filters=only)["results"]) == 1
    assert len(mem0.search("What ends?", filters=only, show_expired=True)["results"]) == 2
    mem0.update(gone, expiration_date=None)
    assert len(listed(mem0, filters=only)) == 2
    assert mem0.get(gone)["expiration_date"] is None


def test_an_update_is_a_new_version_that_every_id_leads_to(mem0: Mem0) -> None:
    old = stored(mem0, "Alice lives in Berlin.", metadata={"source": "form"})
    updated = mem0.update(old, text="Alice lives in Porto.")

    assert updated["memory"] == "Alice lives in Porto."
    assert updated["id"] != old
    assert mem0.get(old) == mem0.get(updated["id"])
    assert mem0.get(old)["metadata"] == {"source": "form"}
    assert listed(mem0, filters={"user_id": "alice"}) == ["Alice lives in Porto."]
    again = mem0.update(old, text="Alice lives in Faro.", metadata={"source": "phone"})
    assert (again["memory"], again["metadata"]) == ("Alice lives in Faro.", {"source": "phone"})

    steps = mem0.history(again["id"])
    assert [(each["event"], each["old_memory"], each["new_memory"]) for each in steps] == [
        ("ADD", None, "Alice lives in Berlin."),
        ("UPDATE", "Alice lives in Berlin.", "Alice lives in Porto."),
        ("UPDATE", "Alice lives in Porto.", "Alice lives in Faro."),
    ]


def test_metadata_and_expiry_change_without_a_new_version(mem0: Mem0) -> None:
    one = stored(mem0, "Alice lives in Berlin.", metadata={"source": "form", "old": 1})
    updated = mem0.update(one, metadata={"source": "phone"}, expiration_date="2999-01-01")

    assert updated["id"] == one
    assert updated["metadata"] == {"source": "phone"}
    assert updated["expiration_date"] == "2999-01-01"


def test_what_is_deleted_is_gone_and_its_history_says_so(mem0: Mem0, team: Cast) -> None:
    one = stored(mem0, "Alice lives in Berlin.")
    two = mem0.update(one, text="Alice lives in Porto.")["id"]
    mem0.delete(one)

    for each in (one, two):
        with pytest.raises(MemoryNotFoundError):
            mem0.get(each)
    assert listed(mem0, filters={"user_id": "alice"}) == []
    assert mem0.history(two)[-1]["event"] == "DELETE"
    with team_scope(team_ids=[team.team.id], actor="test"):
        assert Memory.objects.get(pk=two).status == "soft_deleted"
        assert Memory.objects.get(pk=one).status == "superseded"


def test_the_versions_before_it_are_deleted_on_request(mem0: Mem0, team: Cast) -> None:
    one = stored(mem0, "Alice lives in Berlin.")
    two = mem0.update(one, text="Alice lives in Porto.")["id"]
    mem0.delete(two, delete_linked=True)

    with team_scope(team_ids=[team.team.id], actor="test"):
        rows = Memory.objects.filter(pk__in=[one, two])
        assert set(rows.values_list("status", flat=True)) == {"soft_deleted"}


def test_all_of_an_entity_are_deleted(mem0: Mem0) -> None:
    stored(mem0, "Alice lives in Berlin.")
    stored(mem0, "Alice plays chess.", app_id="club")
    kept = stored(mem0, "Bob lives in Graz.", user_id="bob")
    mem0.delete_all(user_id="alice")

    assert listed(mem0) == ["Bob lives in Graz."]
    with pytest.raises(ValidationError, match="Name one of user_id"):
        mem0.delete_all()
    mem0.delete_all(user_id="*", agent_id="*", app_id="*", run_id="*")
    with pytest.raises(MemoryNotFoundError):
        mem0.get(kept)


def test_batches_change_all_or_none_of_unknown_ones(mem0: Mem0) -> None:
    one, two = stored(mem0, "Alice lives in Berlin."), stored(mem0, "Alice plays chess.")
    unknown = str(uuid4())

    with pytest.raises(MemoryNotFoundError):
        mem0.batch_update(
            [
                {"memory_id": one, "text": "Alice lives in Porto."},
                {"memory_id": unknown, "text": "x"},
            ]
        )
    assert mem0.get(one)["memory"] == "Alice lives in Berlin."
    mem0.batch_update(
        [
            {"memory_id": one, "text": "Alice lives in Porto."},
            {"memory_id": two, "metadata": {"level": "club"}},
        ]
    )
    assert mem0.get(one)["memory"] == "Alice lives in Porto."
    mem0.batch_update(
        [
            {"memory_id": one, "text": "Alice lives in Faro."},
            {"memory_id": one, "text": "Alice lives in Braga."},
        ]
    )
    assert mem0.get(one)["memory"] == "Alice lives in Braga."
    assert mem0.get(two)["metadata"] == {"level": "club"}
    with pytest.raises(MemoryNotFoundError):
        mem0.batch_delete([{"memory_id": one}, {"memory_id": unknown}])
    mem0.batch_delete([{"memory_id": one}, {"memory_id": two}])
    assert listed(mem0) == []


def test_entities_are_those_with_memories(mem0: Mem0) -> None:
    stored(mem0, "Alice lives in Berlin.", run_id="run-1")
    stored(mem0, "Alice plays chess.", app_id="club")
    stored(mem0, "Kyra writes short answers.", agent_id="kyra", user_id=None)
    answer = mem0.users()

    counts = {(each["type"], each["name"]): each["total_memories"] for each in answer["results"]}
    assert counts == {
        ("user", "alice"): 2,
        ("agent", "kyra"): 1,
        ("app", "club"): 1,
        ("run", "run-1"): 1,
    }
    mem0.delete_users(app_id="club")
    assert ("app", "club") not in {(each["type"], each["name"]) for each in mem0.users()["results"]}
    with pytest.raises(MemoryNotFoundError):
        mem0.delete_users(user_id="nobody")
    mem0.delete_users(user_id="alice")
    mem0.reset()
    assert mem0.users()["results"] == []


@pytest.mark.parametrize("name", ["bob/profile", "bob", "ops/bob/profile/x"])
def test_people_of_any_name_are_entities(mem0: Mem0, name: str) -> None:
    stored(mem0, "Bob keeps bees.", user_id=name)
    stored(mem0, "Alice keeps bees.")

    mem0.delete_users(user_id=name)

    assert listed(mem0) == ["Alice keeps bees."]


def test_an_export_tells_the_fields_that_its_schema_names(mem0: Mem0) -> None:
    stored(mem0, "Alice lives in Berlin.", metadata={"source": "form"})
    stored(mem0, "Bob lives in Graz.", user_id="bob")
    schema: Any = {"type": "object", "properties": {"memory": {}, "metadata": {}}}

    made = mem0.create_memory_export(schema=schema, filters={"user_id": "alice"})
    exported = mem0.get_memory_export(memory_export_id=made["id"])["memories"]
    assert [(each["memory"], each["metadata"]) for each in exported] == [
        ("Alice lives in Berlin.", {"source": "form"})
    ]
    assert set(exported[0]) == {"id", "memory", "metadata"}
    assert mem0.get_memory_export(memory_export_id=made["id"], user_id="bob")["memories"] == []
    other = {"filters": {"keywords": "Graz"}}
    assert mem0.get_memory_export(memory_export_id=made["id"], **other)["memories"] == []
    (whole,) = mem0.get_memory_export(user_id="bob")["memories"]
    assert whole["user_id"] == "bob"


def test_a_day_expires_at_its_end(mem0: Mem0, team: Cast) -> None:
    one = stored(mem0, "The museum is open.", expiration_date="2030-05-31")

    with team_scope(team_ids=[team.team.id], actor="test"):
        assert Memory.objects.get(pk=one).valid_to == datetime(2030, 5, 31, tzinfo=UTC) + timedelta(
            days=1
        )
