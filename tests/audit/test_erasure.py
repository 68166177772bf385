"""A person is erased: nothing of theirs can be read any more, and nothing else is lost."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, ProgrammingError, connections, transaction
from django.utils import timezone
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from audit.models import Erasure, MemoryLog
from audit.services.erasure import clear_caches_of_erased, erase_user, plan_erasure
from audit.services.events import Event, record_events
from audit.services.seals import closed_up_to, seal_team
from audit.services.verification import verify_team
from memory.clients.tools import Tools
from memory.domain.viewer import Viewer
from memory.models import Compaction, Contradiction, Job, Memory, MemoryRelation, SearchEntry
from memory.selectors.memories import MemoryFilters
from memory.selectors.states import state_at
from memory.services.job_runs import run_job
from teams.errors import NotFoundError
from teams.ids import new_id
from teams.models import Conversation, EndUser, Message
from teams.services.idempotency import Answer, ClaimedRequest, claim_request, finish_request
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast

# In everything that is held of Sarah and in nothing else.
NEEDLE = "zanzibarion"
ERASED = "[erased]"
Clients = Callable[..., APIClient]


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team."""
    return make_cast(f"town-{uuid4().hex}")


def post(api: APIClient, path: str, key: str = "", **body: object) -> Any:
    """The answer to a JSON body."""
    headers = {"Idempotency-Key": key} if key else {}
    response = api.post(f"/v1/{path}", body, format="json", headers=headers)
    assert response.status_code in (200, 201), response.content
    return response.json()


def erase(town: Cast, external_id: str) -> None:
    """Erase a person as an operator does."""
    erase_user(team_id=town.team.id, external_id=external_id, actor="command:test")


def seal(town: Cast) -> None:
    """Seal the team's log."""
    last_seq = closed_up_to(seconds=10)
    assert last_seq is not None
    seal_team(team_id=town.team.id, last_seq=last_seq, now=timezone.now())


def found_in_tables(*words: str) -> dict[str, int]:
    """Every table in which a row, written out, holds one of the words; the owner sees them all."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT format('%I', c.relname) FROM pg_class c WHERE c.relkind IN ('r', 'p')"
            " AND c.relnamespace = 'public'::regnamespace"
        )
        tables = [name for (name,) in cursor.fetchall()]
        found = {}
        for table in tables:
            cursor.execute(
                f"SELECT count(*) FROM {table} t WHERE t::text ILIKE ANY (%s)",
                [[f"%{word}%" for word in words]],
            )
            (count,) = cursor.fetchone()
            if count:
                found[table] = count
    return found


def found_in_redis(word: str) -> list[str]:
    """The keys of Redis that hold the word, in their name or their value."""
    client = get_redis_connection("default")
    found = []
    for key in client.scan_iter("*"):
        kind = client.type(key)
        value = (
            client.get(key)
            if kind == b"string"
            else client.hgetall(key)
            if kind == b"hash"
            else b""
        )
        if word.encode() in key.lower() + str(value).lower().encode():
            found.append(key.decode())
    return found


def rows_of(table: str, where: str) -> list[tuple[Any, ...]]:
    """Rows as they stand, for the owner."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} WHERE {where} ORDER BY 1, 2")
        return list(cursor.fetchall())


@pytest.fixture
def story(town: Cast, client_of: Clients, tools: Tools) -> APIClient:
    """Sarah has talked, been remembered, corrected, contradicted, merged, summed up and asked for.

    Dmitri has done a little of it, and some memories are about nobody.
    """
    api = client_of(town)
    with team_scope(team_ids=[town.team.id], actor="test"):
        EndUser.objects.filter(pk=town.sarah.pk).update(
            display_name=f"Sarah {NEEDLE}", profile={"lives in": NEEDLE}
        )
    talk = post(api, "conversations", agent="kyra", user="sarah", thread_id=f"{NEEDLE}-1")["id"]
    post(
        api,
        f"conversations/{talk}/messages",
        key="said",
        messages=[
            {
                "role": "user",
                "content": f"My name is Sarah and I live in {NEEDLE}.",
                "name": NEEDLE,
            },
            {"role": "assistant", "content": f"{NEEDLE} is far away.", "external_id": NEEDLE},
            {"role": "user", "content": f"We decided to use {NEEDLE} for the billing service."},
            {"role": "system", "content": f"Prompt about {NEEDLE}."},
        ],
    )
    post(api, f"conversations/{talk}/compact", keep_last=1)
    post(
        api,
        f"conversations/{talk}/messages",
        messages=[{"role": "user", "content": f"I am allergic to {NEEDLE} peanuts."}],
    )
    with team_scope(team_ids=[town.team.id], actor="test"):
        Job.objects.update(error=f"failed at {NEEDLE}")
    one = post(
        api,
        "memories",
        key="stated",
        content=f"Sarah drives a {NEEDLE}.",
        check=False,
        user="sarah",
        subject=f"sarah.{NEEDLE}",
        tags=[NEEDLE],
        category=NEEDLE,
        external_id=NEEDLE,
        valid_from="1990-05-12T00:00:00Z",
    )["id"]
    two = post(
        api,
        f"memories/{one}/correct",
        corrected_content=f"Sarah drives two {NEEDLE}.",
        reason=NEEDLE,
    )["id"]
    post(api, f"memories/{two}/feedback", signal="wrong", note=f"no {NEEDLE}")
    for content in (f"The {NEEDLE} limit is 100.", f"The {NEEDLE} limit is 500."):
        post(api, "memories", content=content, user="sarah")
    post(api, "memories", content="Dmitri likes tea.", user="dmitri", subject="dmitri")
    post(api, "memories", content="The team meets on Mondays.")
    other = post(api, "conversations", agent="kyra", user="dmitri", thread_id="d")["id"]
    post(
        api,
        f"conversations/{other}/messages",
        messages=[{"role": "user", "content": "My name is Dmitri and I live in Paris."}],
    )
    api.put(
        f"/v1/threads/{NEEDLE}/checkpoint",
        {"user": "sarah", "data": {"step": NEEDLE}},
        format="json",
    )
    post(api, "prompt", key="asked", agent="kyra", user="sarah", query=f"Where is {NEEDLE}?")
    post(api, "retrieve", key="got", agent="kyra", user="sarah", query=f"Where is {NEEDLE}?")
    with team_scope(team_ids=[town.team.id], actor="test"):
        record_events(
            team_id=town.team.id,
            events=[Event(node="x", op="y", end_user_id=town.sarah.pk, meta={"said": NEEDLE})],
        )
        staff = factories.StaffUserFactory.create(username=uuid4().hex)
        LogEntry.objects.create(
            user=staff, object_id=one, object_repr=f"Sarah drives a {NEEDLE}.", action_flag=CHANGE
        )
        for job in Job.objects.filter(team=town.team).exclude(state="done"):
            run_job(team_id=town.team.id, job_id=job.pk, tools=tools)
    return api


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
        "memory_searchentry",
        "memory_messageentry",
        "memory_contradiction",
        "memory_compaction",
        "memory_job",
        "audit_memorylog",
        "audit_operationalevent",
        "django_admin_log",
    } <= before.keys()
    assert found_in_redis(NEEDLE)

    erase(town, "sarah")

    assert found_in_tables(NEEDLE) == {}
    assert found_in_redis(NEEDLE) == []


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


# -- what it shares with others --------------------------------------------------------------


def dispute(town: Cast, first: Memory, second: Memory) -> Contradiction:
    """An open contradiction of two memories."""
    for one, two in ((first, second), (second, first)):
        one.status = "disputed"
        one.contradicts = [*one.contradicts, two.pk]
        one.save()
    return Contradiction.objects.create(
        team=town.team,
        memory_a=first,
        memory_b=second,
        strategy="same_subject",
        judge="test",
        verdict="dispute",
        reason="they speak of the same",
    )


def test_a_dispute_with_another_memory_ends_and_that_one_stands(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        nobodys = factories.MemoryFactory.create(team=town.team, content="The limit is 100.")
        third = factories.MemoryFactory.create(team=town.team, content="The limit is 300.")
        row = dispute(town, nobodys, mine)
        dispute(town, third, nobodys)

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        row.refresh_from_db()
        nobodys.refresh_from_db()
        assert (row.resolution, row.reason) == ("a_wins", ERASED)
        assert (nobodys.status, nobodys.contradicts) == ("disputed", [third.pk])
        assert nobodys.content == "The limit is 100."
    assert verify_team(team_id=town.team.id).findings == []


def test_the_last_dispute_of_another_memory_leaves_it_active(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        nobodys = factories.MemoryFactory.create(team=town.team)
        dispute(town, mine, nobodys)

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        nobodys.refresh_from_db()
        assert (nobodys.status, nobodys.contradicts) == ("active", [])
        last = MemoryLog.objects.filter(memory_id=nobodys.pk).order_by("-seq")[0]
        assert (last.event, last.actor) == ("contradiction_resolved", "command:test")


def merged_of(town: Cast, owner: EndUser | None, *sides: Memory) -> Memory:
    """A memory that was merged from others."""
    merged = factories.MemoryFactory.create(
        team=town.team, end_user=owner, content=f"Merged {new_id()}."
    )
    for side in sides:
        MemoryRelation.objects.create(
            team=town.team,
            from_memory=merged,
            to_memory=side,
            relation_type="merged_from",
            strength=1.0,
        )
    return merged


def test_a_merge_that_belongs_to_nobody_goes_and_what_others_gave_to_it_stays(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        nobodys = factories.MemoryFactory.create(team=town.team, content="Kept.")
        merged = merged_of(town, None, mine, nobodys)
        twice = merged_of(town, None, merged, nobodys)

    erase(town, "sarah")

    with team_scope(team_ids=[town.team.id], actor="test"):
        for memory in (mine, merged, twice, nobodys):
            memory.refresh_from_db()
        assert [each.content for each in (mine, merged, twice)] == [ERASED] * 3
        assert nobodys.content == "Kept."


def test_a_merge_that_belongs_to_another_person_stays_and_is_named(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        mine = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
        his = merged_of(town, town.dmitri, mine)

    plan = plan_erasure(team_id=town.team.id, external_id="sarah", actor="test")
    done = erase_user(team_id=town.team.id, external_id="sarah", actor="test")

    assert plan.kept == done.kept == (his.pk,)
    with team_scope(team_ids=[town.team.id], actor="test"):
        his.refresh_from_db()
        assert his.content != ERASED


def said(town: Cast, person: EndUser, content: str) -> Message:
    """A message of the person in a conversation of its own."""
    talk = factories.ConversationFactory.create(
        team=town.team, agent=town.kyra, end_user=person, last_position=1
    )
    return factories.MessageFactory.create(
        team=town.team, conversation=talk, position=1, content=content
    )


def test_what_only_that_person_said_goes_though_it_is_about_nobody(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        hers, his = said(town, town.sarah, "A."), said(town, town.dmitri, "B.")
        only = factories.MemoryFactory.create(team=town.team, source_message_ids=[hers.pk])
        both = factories.MemoryFactory.create(
            team=town.team, source_message_ids=[hers.pk, his.pk], content="Both said so."
        )
        only_his = factories.MemoryFactory.create(
            team=town.team, source_message_ids=[his.pk], content="He said so."
        )

    done = erase_user(team_id=town.team.id, external_id="sarah", actor="test")

    with team_scope(team_ids=[town.team.id], actor="test"):
        texts = {row.pk: row.content for row in Memory.objects.all()}
    assert texts == {only.pk: ERASED, both.pk: "Both said so.", only_his.pk: "He said so."}
    assert done.kept == (both.pk,)


# -- nothing but the erasure -----------------------------------------------------------------


@pytest.fixture
def held(town: Cast) -> tuple[Cast, Memory, Message]:
    """A memory and a message of Sarah's."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        message = said(town, town.sarah, "Hello.")
        memory = factories.MemoryFactory.create(team=town.team, end_user=town.sarah)
    return town, memory, message


EMPTYINGS = {
    "message": "UPDATE teams_message SET content = '[erased]', name = '', external_id = NULL"
    " WHERE team_id = '{team}'",
    "memory": "UPDATE memory_memory SET content = '[erased]', salt = NULL, erased_at = now()"
    " WHERE team_id = '{team}'",
    "log": "UPDATE audit_memorylog SET state = palimpsest_erased_state(state, '\"x\"'), reason = ''"
    " WHERE team_id = '{team}'",
}
FEIGNED = (
    "DO $do$ BEGIN EXECUTE $q${} /*"
    "\nPL/pgSQL function palimpsest_erase_user(uuid,uuid,text) line 1 */$q$; END $do$"
)
BY_HAND = (
    "INSERT INTO audit_erasure (id, team_id, end_user_id, actor, reason, counts, at)"
    " VALUES (gen_random_uuid(), '{team}', gen_random_uuid(), 'x', '', '{{}}', now())"
)


def as_owner(*statements: str) -> None:
    """Run statements as the tables' owner in one transaction."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def as_application(town: Cast, *statements: str) -> None:
    """Run statements as the application in one transaction of the team's scope."""
    with (
        team_scope(team_ids=[town.team.id], actor="test"),
        connections["default"].cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.parametrize("what", EMPTYINGS)
@pytest.mark.parametrize("recorded", [False, True])
def test_the_owner_cannot_empty_a_row_by_hand(
    held: tuple[Cast, Memory, Message], what: str, recorded: bool
) -> None:
    town, _, _ = held
    statements = [BY_HAND, EMPTYINGS[what]] if recorded else [EMPTYINGS[what]]

    with pytest.raises(IntegrityError, match=r"append-only|never change"):
        as_owner(*(each.format(team=town.team.id) for each in statements))


@pytest.mark.parametrize(
    ("what", "refusal"),
    [
        ("message", "permission denied"),
        ("memory", "never change"),
        ("log", "permission denied"),
    ],
)
def test_the_application_cannot_after_an_erasure_nor_by_feigning_one(
    held: tuple[Cast, Memory, Message], what: str, refusal: str
) -> None:
    town, _, _ = held
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory = factories.MemoryFactory.create(team=town.team, end_user=town.dmitri)
        said(town, town.dmitri, "Mine.")
    erasing = f"SELECT palimpsest_erase_user('{town.team.id}', '{town.sarah.pk}', '')"
    emptying = EMPTYINGS[what].format(team=town.team.id)
    if what == "memory":
        # Else the row that is erased already would be what is refused.
        emptying += f" AND id = '{memory.pk}'"

    with pytest.raises((ProgrammingError, IntegrityError), match=refusal):
        as_application(town, erasing, FEIGNED.format(emptying))

    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert memory.content != ERASED
        assert set(Message.objects.values_list("content", flat=True)) == {"Hello.", "Mine."}


def test_the_application_cannot_write_an_erasures_record(town: Cast) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        as_application(town, BY_HAND.format(team=town.team.id))


def test_nobody_erases_in_a_team_outside_the_scope(held: tuple[Cast, Memory, Message]) -> None:
    town, memory, _ = held
    other = make_cast(f"other-{uuid4().hex}")
    with (
        pytest.raises(ProgrammingError, match="outside the transaction's scope"),
        team_scope(team_ids=[other.team.id], actor="test"),
        connections["default"].cursor() as cursor,
    ):
        cursor.execute("SELECT palimpsest_erase_user(%s, %s, '')", [town.team.id, town.sarah.pk])

    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert memory.content != ERASED


def test_an_erased_row_is_not_written_back_by_who_read_it_before(
    held: tuple[Cast, Memory, Message],
) -> None:
    town, memory, _ = held
    memory.subject = NEEDLE
    person = town.sarah
    person.display_name = NEEDLE
    erase(town, "sarah")

    for stale in (memory, person):
        with (
            pytest.raises(OperationalError, match="was erased"),
            team_scope(team_ids=[town.team.id], actor="test"),
        ):
            stale.save()

    assert found_in_tables(NEEDLE) == {}


def test_erasing_again_finds_nobody(held: tuple[Cast, Memory, Message]) -> None:
    town, _, _ = held
    erase(town, "sarah")

    with pytest.raises(NotFoundError):
        erase(town, "sarah")
    with pytest.raises(NotFoundError):
        plan_erasure(team_id=town.team.id, external_id="nobody", actor="test")


def test_a_plan_changes_nothing_and_tells_what_the_erasure_then_does(
    town: Cast, story: APIClient
) -> None:
    before = found_in_tables(NEEDLE)

    plan = plan_erasure(team_id=town.team.id, external_id="sarah", actor="test")

    assert found_in_tables(NEEDLE) == before
    assert plan == erase_user(team_id=town.team.id, external_id="sarah", actor="test")
    assert plan.memories > 3
    assert (plan.conversations, plan.messages, plan.compactions, plan.checkpoints) == (1, 5, 1, 1)


def test_a_cache_that_was_filled_too_late_is_cleared_by_the_sweep(
    held: tuple[Cast, Memory, Message],
) -> None:
    town, _, _ = held
    erase(town, "sarah")
    client = get_redis_connection("default")
    late = f"{settings.REDIS_PREFIX}:summary:{town.team.id}:{uuid4()}"
    client.set(late, NEEDLE)

    clear_caches_of_erased(now=timezone.now())

    assert client.get(late) is None


# Tables of a team that hold no word of a person; a new one must be added here or to the erasure.
WORDLESS = {
    "audit_commitclock",
    "audit_logcommit",
    "audit_seal",
    "audit_teamrevision",
    "audit_writtenbatch",
    "memory_category",
    "memory_embeddingstate",
    "memory_memoryrelation",
    "memory_searchgraph",
    "teams_agent",
    "teams_apikey",
    "teams_membership",
    "teams_project",
    "teams_toldrevision",
}


def test_every_table_of_a_team_is_known_to_the_erasure(committed_db: None) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE a.attname = 'team_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
            " AND c.relnamespace = 'public'::regnamespace"
        )
        tables = {name for (name,) in cursor.fetchall()}
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = 'palimpsest_erase_user'")
        (source,) = cursor.fetchone()
    by_trigger = {"memory_memorytag"}

    unknown = {name for name in tables if name not in source} - WORDLESS - by_trigger

    assert unknown == set()


# -- the command -----------------------------------------------------------------------------


def run(*args: str) -> str:
    """What the command writes."""
    out = StringIO()
    call_command("erase_user", *args, stdout=out)
    return out.getvalue()


def test_the_command_shows_and_then_erases(held: tuple[Cast, Memory, Message]) -> None:
    town, memory, _ = held

    shown = run("sarah", "--team", town.team.slug, "--dry-run")

    assert "To be erased: 1 memories with 1 log entries, 1 messages in 1 conversations" in shown
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert memory.content != ERASED

    done = run("sarah", "--team", town.team.slug, "--yes", "--reason", "ticket 7")

    assert "Erased: 1 memories" in done
    with team_scope(team_ids=[town.team.id], actor="test"):
        memory.refresh_from_db()
        assert memory.content == ERASED
        erasure = Erasure.objects.get()
        assert (erasure.actor, erasure.reason) == ("command:erase_user", "ticket 7")


@pytest.mark.parametrize(
    "args", [["sarah", "--team", "nowhere"], ["nobody", "--team", "{team}", "--yes"]]
)
def test_the_command_refuses_whom_it_does_not_know(town: Cast, args: list[str]) -> None:
    with pytest.raises(CommandError):
        run(*(each.format(team=town.team.slug) for each in args))


# -- over HTTP -------------------------------------------------------------------------------


def test_a_person_is_erased_at_the_second_word(town: Cast, story: APIClient) -> None:
    first = story.delete("/v1/users/sarah")

    assert first.status_code == 202
    told = first.json()
    assert told["would_erase"]["messages"] == 5
    assert found_in_tables(NEEDLE)

    second = story.delete(f"/v1/users/sarah?confirmation={told['confirmation']}")

    assert second.status_code == 200, second.content
    assert second.json() == told["would_erase"]
    assert found_in_tables(NEEDLE) == {}
    assert story.delete("/v1/users/sarah").status_code == 404


def test_a_confirmation_is_good_for_one_person_and_one_key(
    town: Cast, story: APIClient, client_of: Clients
) -> None:
    token = story.delete("/v1/users/dmitri").json()["confirmation"]

    for api, person, given in [
        (story, "sarah", token),
        (client_of(town), "dmitri", token),
        (story, "dmitri", token + "x"),
        (story, "dmitri", "guess"),
    ]:
        answer = api.delete(f"/v1/users/{person}", query_params={"confirmation": given})
        assert answer.status_code == 422
        assert "confirmation" in answer.json()["errors"]

    assert found_in_tables(NEEDLE)


def test_an_agents_key_erases_nobody(town: Cast, story: APIClient, client_of: Clients) -> None:
    answer = client_of(town, town.kyra).delete("/v1/users/sarah")

    assert answer.status_code == 403
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("person", ["nobody", "a/b", "%20"])
def test_an_unknown_person_is_not_found(town: Cast, client_of: Clients, person: str) -> None:
    assert client_of(town).delete(f"/v1/users/{person}").status_code == 404


def test_a_person_with_any_name_can_be_erased(town: Cast, client_of: Clients) -> None:
    api = client_of(town)
    post(api, "memories", content="A fact.", user="tenant/42 ü?")

    path = "/v1/users/tenant%2F42%20%C3%BC%3F"
    token = api.delete(path).json()["confirmation"]

    assert api.delete(f"{path}?confirmation={token}").status_code == 200


def test_a_token_of_an_erased_person_does_not_erase_the_next_of_that_name(
    town: Cast, client_of: Clients
) -> None:
    api = client_of(town)
    token = api.delete("/v1/users/sarah").json()["confirmation"]
    erase(town, "sarah")
    post(api, "memories", content="A new fact.", user="sarah")

    answer = api.delete(f"/v1/users/sarah?confirmation={token}")

    assert answer.status_code == 422
    with team_scope(team_ids=[town.team.id], actor="test"):
        assert Memory.objects.get().content == "A new fact."
