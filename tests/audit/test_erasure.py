"""A person is erased: nothing of theirs can be read any more, and nothing else is lost."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import connections, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from audit.models import Erasure, MemoryLog
from audit.services.verification import verify_team
from memory.domain.audience import Viewer
from memory.models import Compaction, Job, Memory, SearchEntry
from memory.selectors.history.states import state_at
from memory.selectors.memories import MemoryFilters
from memory.writing.jobs import due_jobs
from teams.models import Conversation, EndUser, Message
from teams.services.idempotency import Answer, ClaimedRequest, claim_request, finish_request
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast
from tests.support.erasure import (
    ERASED,
    NEEDLE,
    erase,
    found_in_redis,
    found_in_tables,
    post,
    rows_of,
    seal,
)


def test_nothing_that_was_said_can_be_read_anywhere(town: Cast, story: APIClient) -> None:
    before = found_in_tables(NEEDLE)
    assert {
        "teams_message",
        "teams_enduser",
        "teams_conversation",
        "teams_checkpoint",
        "teams_idempotentrequest",
        "memory_memory",
        "memory_memorytag",
        "memory_memoryartifact",
        "memory_searchentry",
        "memory_messageentry",
        "memory_externalname",
        "memory_contradiction",
        "memory_compaction",
        "memory_job",
        "memory_graphthread",
        "memory_graphcheckpoint",
        "memory_channelvalue",
        "memory_pendingwrite",
        "memory_storeitem",
        "audit_memorylog",
        "audit_operationalevent",
        "django_admin_log",
    } <= before.keys()
    assert found_in_redis(NEEDLE)

    erase(town, "sarah")

    assert found_in_tables(NEEDLE) == {}
    assert found_in_redis(NEEDLE) == []


def test_what_waits_to_be_written_is_not_written_any_more(town: Cast, story: APIClient) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        jobs = Job.objects.filter(conversation__end_user=town.sarah)
        assert jobs.update(waiting=[{"content": NEEDLE}], left_out=1, tags=[NEEDLE])

    erase(town, "sarah")

    assert found_in_tables(NEEDLE) == {}
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert due_jobs(team_id=town.team.id, now=timezone.now()) == []


def test_no_digest_of_a_text_is_left_that_could_be_tried_out(town: Cast, story: APIClient) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        rows = list(Memory.objects.filter(end_user=town.sarah))
        keys = [bytes(row.dedupe_key).hex() for row in rows if row.dedupe_key]
        salts = [
            salt.tobytes().hex() if isinstance(salt, memoryview) else bytes(salt).hex()
            for (salt,) in _salts(town)
        ]
    plain = [hashlib.sha256(row.content.encode()).hexdigest() for row in rows]
    assert keys
    assert "memory_memory" in found_in_tables(*keys)
    assert "memory_memory" in found_in_tables(*salts)

    erase(town, "sarah")

    assert found_in_tables(*plain, *keys, *salts) == {}


def _salts(town: Cast) -> list[tuple[Any, ...]]:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT salt FROM memory_memory WHERE end_user_id = %s", [town.sarah.pk])
        return list(cursor.fetchall())


def test_other_peoples_rows_stay_to_the_letter(town: Cast, story: APIClient) -> None:
    others = {
        "memory_memory": f"team_id = '{town.team.id}' AND end_user_id IS DISTINCT FROM"
        f" '{town.sarah.pk}'",
        "audit_memorylog": f"team_id = '{town.team.id}' AND state->>'end_user_id' IS DISTINCT FROM"
        f" '{town.sarah.pk}'",
        "teams_conversation": f"team_id = '{town.team.id}' AND end_user_id <> '{town.sarah.pk}'",
        "teams_message": f"team_id = '{town.team.id}' AND content LIKE '%Dmitri%'",
        "memory_searchentry": f"team_id = '{town.team.id}' AND end_user_id IS DISTINCT FROM"
        f" '{town.sarah.pk}'",
    }
    before = {table: rows_of(table, where) for table, where in others.items()}
    assert all(before.values())

    erase(town, "sarah")

    assert {table: rows_of(table, where) for table, where in others.items()} == before


def test_order_and_counts_stay(town: Cast, story: APIClient) -> None:
    def skeleton() -> tuple[list[Any], ...]:
        with team_scope(team_ids=[town.team.id], actor="test"):
            return (
                list(Message.objects.order_by("id").values_list("id", "position", "role")),
                list(Conversation.objects.order_by("id").values_list("id", "last_position")),
                list(Memory.objects.order_by("id").values_list("id", "version", "created_at")),
                list(
                    MemoryLog.objects.exclude(event="erased")
                    .order_by("seq")
                    .values_list("seq", "memory_id", "event", "actor", "at")
                ),
                list(Compaction.objects.order_by("id").values_list("from_position", "to_position")),
            )

    before = skeleton()

    erase(town, "sarah")

    assert skeleton() == before


def test_every_memory_is_shown_as_erased_and_its_log_says_when(
    town: Cast, story: APIClient
) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        ids = list(Memory.objects.filter(end_user=town.sarah).values_list("id", flat=True))

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        erasure = Erasure.objects.get()
        assert erasure.counts["memories"] == len(ids)
        for memory in Memory.objects.filter(pk__in=ids):
            assert (memory.content, memory.status) == (ERASED, "soft_deleted")
            assert (memory.subject, memory.tags, memory.external_id) == ("", [], None)
            *earlier, last = MemoryLog.objects.filter(memory_id=memory.pk).order_by("seq")
            assert (last.event, last.actor) == ("erased", "command:test")
            assert earlier
            for row in [*earlier, last]:
                assert datetime.fromisoformat(row.state["erased_at"]) == erasure.at
                assert row.state["subject"] == ""
    shown = story.get(f"/v1/memories/{ids[0]}").json()
    assert shown["content"] == ERASED


def test_searches_find_nothing_of_it(town: Cast, story: APIClient) -> None:
    erase(town, "sarah")

    answer = story.get("/v1/memories/search", {"query": NEEDLE, "include_cold": "true"})
    assert NEEDLE not in answer.content.decode()
    assert ERASED not in answer.content.decode()
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert not SearchEntry.objects.filter(end_user=town.sarah).exists()
    prompt = post(story, "prompt", agent="kyra", user="sarah", query="Where does Sarah live?")
    assert NEEDLE not in prompt["prompt"]
    assert ERASED not in prompt["prompt"]


def test_the_seals_still_stand_and_say_how_much_is_erased(town: Cast, story: APIClient) -> None:
    seal(town)
    before = verify_team(team_id=town.team.id)
    assert (before.findings, before.erased) == ([], 0)
    with team_scope(team_ids=[town.team.id], actor="test"):
        of_sarah = MemoryLog.objects.filter(state__end_user_id=str(town.sarah.pk)).count()

    erase(town, "sarah")

    unsealed = verify_team(team_id=town.team.id)
    seal(town)
    after = verify_team(team_id=town.team.id)
    for found in (unsealed, after):
        assert found.findings == []
        assert found.erasures == 1
        with team_scope(team_ids=[town.team.id], actor="test"):
            erased = MemoryLog.objects.filter(event="erased").count()
        assert found.erased == of_sarah + erased
    assert unsealed.unsealed > 0
    assert after.unsealed == 0


def test_a_row_that_is_changed_after_its_erasure_is_still_found(
    town: Cast, story: APIClient
) -> None:
    seal(town)
    erase(town, "sarah")
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT min(seq) FROM audit_memorylog WHERE team_id = %s AND state ? 'erased_at'",
            [town.team.id],
        )
        (seq,) = cursor.fetchone()
        cursor.execute("ALTER TABLE audit_memorylog DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE audit_memorylog SET state = state || '{\"importance\": 1}' WHERE seq = %s",
            [seq],
        )
        cursor.execute("ALTER TABLE audit_memorylog ENABLE TRIGGER USER")

    (finding,) = verify_team(team_id=town.team.id).findings

    assert (finding.kind, finding.where) == ("row_changed", f"log entry {seq}")


def test_what_was_answered_under_a_key_is_not_repeated(town: Cast, story: APIClient) -> None:
    erase(town, "sarah")

    again = story.post(
        "/v1/prompt",
        {"agent": "kyra", "user": "sarah", "query": f"Where is {NEEDLE}?"},
        format="json",
        headers={"Idempotency-Key": "asked"},
    )

    assert again.status_code == 409
    assert NEEDLE not in again.content.decode()


def test_a_request_under_way_keeps_no_answer(town: Cast) -> None:
    claimed = claim_request(
        team_id=town.team.id, agent_id=None, key="k", digest=b"d" * 32, now=timezone.now()
    )
    assert isinstance(claimed, ClaimedRequest)
    erase(town, "sarah")

    finish_request(claimed=claimed, answer=Answer(200, "application/json", f"About {NEEDLE}."))

    assert "teams_idempotentrequest" not in found_in_tables(NEEDLE)


def test_the_past_shows_it_as_erased(town: Cast, story: APIClient) -> None:
    viewer = Viewer(team_id=town.team.id, actor="test")
    before = timezone.now()
    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        rows = state_at(viewer=viewer, at=before, filters=MemoryFilters()).memories
        texts = {row.end_user_id: row.content for row in rows}
        told = {(row.content, row.subject) for row in rows if row.end_user_id == town.sarah.pk}

    assert told == {(ERASED, "")}
    assert texts[town.dmitri.pk] != ERASED


def test_what_was_erased_cannot_be_brought_back(town: Cast, story: APIClient) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        memories = list(Memory.objects.filter(end_user=town.sarah).values_list("id", flat=True))
    erase(town, "sarah")

    answers = [story.post(f"/v1/memories/{each}/restore", {}, format="json") for each in memories]

    assert {each.status_code for each in answers} == {409}
    assert all("was erased and cannot be restored" in each.json()["detail"] for each in answers)
    with team_scope(team_ids=[town.team.id], actor="test"):
        stored = Memory.objects.filter(id__in=memories).values_list("status", "content")
        assert set(stored) == {("soft_deleted", ERASED)}


def test_what_comes_later_is_of_somebody_new(town: Cast, story: APIClient) -> None:
    erase(town, "sarah")

    post(story, "memories", content="Sarah is back.", user="sarah")
    talk = post(story, "conversations", agent="kyra", user="sarah", thread_id="again")["id"]
    post(story, f"conversations/{talk}/messages", messages=[{"role": "user", "content": "Hi."}])

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert EndUser.objects.get(external_id="sarah").pk != town.sarah.pk
    assert verify_team(team_id=town.team.id).findings == []


def test_the_same_name_in_another_team_is_somebody_else(town: Cast, story: APIClient) -> None:
    other = make_cast(f"other-{uuid4().hex}")
    with team_scope(team_ids=[other.team.id], actor="test"):
        factories.MemoryFactory.create(team=other.team, end_user=other.sarah, content="Of another.")

    erase(town, "sarah")

    with team_scope(team_ids=[other.team.id], actor="test"):
        assert Memory.objects.get().content == "Of another."


def test_a_conversation_of_an_erased_person_takes_no_more_messages(
    town: Cast, story: APIClient
) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        talk = Conversation.objects.filter(end_user=town.sarah).values_list("id", flat=True)[0]
    erase(town, "sarah")

    answer = story.post(
        f"/v1/conversations/{talk}/messages",
        {"messages": [{"role": "user", "content": "Late."}]},
        format="json",
    )

    assert answer.status_code == 404
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert set(
            Message.objects.filter(conversation_id=talk).values_list("content", flat=True)
        ) == {ERASED}
