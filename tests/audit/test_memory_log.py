"""Every change of a memory leaves its log row in the same transaction, whoever makes it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, connections, transaction
from django.db.models import F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.models import Memory, MemoryRelation, MemoryUsage
from memory.writing.decisions.changes import delete_memory, pin_memory
from teams.ids import new_id
from teams.models import Conversation
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast
from tests.support.examples import examples
from tests.support.memory_log import execute, log_of, salt_of, state_of

# -- every way of changing a memory ----------------------------------------------------------


def _save(memory: Memory) -> None:
    memory.importance = 9
    memory.save()


def _save_one_field(memory: Memory) -> None:
    memory.importance = 9
    memory.save(update_fields=["importance"])


def _bulk_update(memory: Memory) -> None:
    memory.importance = 9
    Memory.objects.bulk_update([memory], ["importance"])


WAYS: dict[str, Callable[[Memory], object]] = {
    "save": _save,
    "save one field": _save_one_field,
    "queryset update": lambda memory: Memory.objects.filter(pk=memory.pk).update(importance=9),
    "update by expression": lambda memory: Memory.objects.filter(pk=memory.pk).update(
        importance=F("importance") + 4
    ),
    "bulk update": _bulk_update,
    "raw SQL": lambda memory: execute(
        "UPDATE memory_memory SET importance = 9 WHERE id = %s", [memory.pk]
    ),
    "raw SQL in a WITH": lambda memory: execute(
        "WITH changed AS (UPDATE memory_memory SET importance = 9 WHERE id = %s RETURNING 1)"
        " SELECT * FROM changed",
        [memory.pk],
    ),
    "MERGE": lambda memory: execute(
        "MERGE INTO memory_memory m USING (SELECT %s::uuid AS id) s ON m.id = s.id"
        " WHEN MATCHED THEN UPDATE SET importance = 9",
        [memory.pk],
    ),
    "ON CONFLICT": lambda memory: execute(
        "INSERT INTO memory_memory SELECT * FROM memory_memory WHERE id = %s"
        " ON CONFLICT (team_id, id) DO UPDATE SET importance = 9",
        [memory.pk],
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_change_is_logged_however_it_is_made(acme: Cast, way: str) -> None:
    memory = factories.MemoryFactory.create(team=acme.team, importance=5)

    WAYS[way](memory)

    created, changed = log_of(memory)
    assert (created.event, changed.event) == ("created", "updated")
    assert (created.state["importance"], changed.state["importance"]) == (5, 9)
    assert changed.state == state_of(memory.pk)
    assert changed.actor == "test"


def test_inserting_many_logs_each(acme: Cast) -> None:
    rows = factories.MemoryFactory.build_batch(5, team=acme.team)

    Memory.objects.bulk_create(rows)

    assert {row.memory_id for row in MemoryLog.objects.all()} == {row.pk for row in rows}
    assert MemoryLog.objects.count() == 5


def test_changing_many_at_once_logs_each(acme: Cast) -> None:
    rows = factories.MemoryFactory.create_batch(4, team=acme.team)

    Memory.objects.update(tier="cold")

    for row in rows:
        assert [entry.event for entry in log_of(row)] == ["created", "demoted"]


def test_copying_rows_in_is_logged(acme: Cast) -> None:
    source = factories.MemoryFactory.create(team=acme.team)
    copy = new_id()

    execute(
        "INSERT INTO memory_memory SELECT (jsonb_populate_record(m, jsonb_build_object('id',"
        " %s::text))).* FROM memory_memory m WHERE id = %s",
        [str(copy), source.pk],
    )

    entry = MemoryLog.objects.get(memory_id=copy)
    assert entry.event == "created"
    assert entry.state == state_of(copy)


@pytest.mark.parametrize(
    ("start", "change", "event"),
    [
        ({}, {"is_pinned": True, "tier": "hot"}, "pinned"),
        ({"is_pinned": True}, {"is_pinned": False}, "unpinned"),
        ({}, {"status": "soft_deleted", "tier": "cold"}, "soft_deleted"),
        ({}, {"status": "archived", "tier": "cold"}, "archived"),
        ({}, {"status": "superseded", "tier": "cold"}, "superseded"),
        ({}, {"status": "disputed", "contradicts": [uuid4()]}, "contradiction_detected"),
        ({"status": "disputed"}, {"status": "active"}, "contradiction_resolved"),
        ({"status": "soft_deleted"}, {"status": "active"}, "restored"),
        ({"status": "archived"}, {"status": "active"}, "restored"),
        ({"status": "archived"}, {"status": "superseded"}, "restored"),
        ({"status": "soft_deleted"}, {"status": "disputed"}, "restored"),
        (
            {"status": "disputed", "contradicts": [uuid4()]},
            {"contradicts": [uuid4(), uuid4()]},
            "contradiction_detected",
        ),
        ({"contradicts": [uuid4(), uuid4()]}, {"contradicts": []}, "contradiction_resolved"),
        ({}, {"corroboration": 1}, "duplicate_skipped"),
        ({"tier": "warm"}, {"tier": "hot"}, "promoted"),
        ({"tier": "hot"}, {"tier": "cold"}, "demoted"),
        ({}, {"tags": ["a"]}, "updated"),
        ({}, {"confidence": 0.5}, "updated"),
        ({}, {"payload": {"key": "value"}}, "updated"),
        ({}, {"valid_to": datetime(2026, 1, 1, tzinfo=UTC)}, "updated"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_the_event_names_what_changed(
    acme: Cast, start: dict[str, object], change: dict[str, object], event: str
) -> None:
    memory = factories.MemoryFactory.create(team=acme.team, **start)

    Memory.objects.filter(pk=memory.pk).update(**change)

    last = log_of(memory)[-1]
    assert last.event == event
    assert last.state == state_of(memory.pk)


def test_a_new_version_is_logged_as_one(acme: Cast) -> None:
    old = factories.MemoryFactory.create(team=acme.team)

    new = factories.MemoryFactory.create(team=acme.team, supersedes=old, version=2)

    assert [entry.event for entry in log_of(new)] == ["versioned"]
    assert log_of(new)[0].state["supersedes_id"] == str(old.pk)


@pytest.mark.parametrize(
    ("extractor", "event"),
    [("correction", "corrected"), ("merged", "merged"), ("summary:rules", "compacted")],
)
def test_a_new_memory_says_what_it_came_of(acme: Cast, extractor: str, event: str) -> None:
    old = factories.MemoryFactory.create(team=acme.team)

    new = factories.MemoryFactory.create(team=acme.team, supersedes=old, extractor=extractor)

    assert [entry.event for entry in log_of(new)] == [event]


def test_links_are_logged_beside_the_state(acme: Cast) -> None:
    memory, first, second = factories.MemoryFactory.create_batch(3, team=acme.team)

    edges = MemoryRelation.objects.bulk_create(
        MemoryRelation(team=acme.team, from_memory=memory, to_memory=other, strength=0.5)
        for other in (first, second)
    )
    execute("DELETE FROM memory_memoryrelation WHERE id = %s", [edges[0].pk])

    _, linked, unlinked = log_of(memory)
    assert (linked.event, unlinked.event) == ("linked", "unlinked")
    assert linked.state == unlinked.state == state_of(memory.pk)
    assert linked.detail == {
        "links": [
            {"to": str(other.pk), "type": "related_to", "strength": 0.5}
            for other in (first, second)
        ]
    }
    assert unlinked.detail == {
        "links": [{"to": str(first.pk), "type": "related_to", "strength": 0.5}]
    }
    assert len(log_of(first)) == 1


def test_the_time_of_a_memory_is_that_of_its_last_log_row(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team)
    Memory.objects.filter(pk=memory.pk).update(importance=9)
    Memory.objects.filter(pk=memory.pk).update(importance=9)

    assert Memory.objects.get(pk=memory.pk).updated_at == log_of(memory)[-1].at


def test_an_update_that_changes_nothing_leaves_no_row(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team, importance=5)

    Memory.objects.filter(pk=memory.pk).update(importance=5)
    memory.save()

    assert len(log_of(memory)) == 1


def test_usage_counters_are_no_change_of_the_memory(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team)

    MemoryUsage.objects.create(memory=memory, team=acme.team, retrieved=3)
    MemoryUsage.objects.filter(memory=memory).update(retrieved=4)

    assert len(log_of(memory)) == 1


# -- what a log row says ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["Plain words.", "Café — 日本語 🎉", "  two\nlines\t ", "x" * 32000]
)
def test_the_digest_is_that_of_the_memorys_salt_and_text(acme: Cast, text: str) -> None:
    memory = factories.MemoryFactory.create(team=acme.team, content=text)

    (entry,) = log_of(memory)

    salt = salt_of(memory.pk)
    assert len(salt) == 16
    assert bytes(entry.digest) == hashlib.sha256(salt + text.encode()).digest()


def test_the_state_is_every_column_but_the_text_and_its_time(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(
        team=acme.team,
        agent=acme.kyra,
        end_user=acme.sarah,
        tags=["a", "b"],
        payload={"key": "value"},
        dedupe_key=b"\x01" * 32,
    )

    (entry,) = log_of(memory)

    columns = {field.column for field in Memory._meta.concrete_fields}
    assert set(entry.state) == columns - {"content", "updated_at", "audience"}
    assert entry.state == state_of(memory.pk)
    assert entry.state["tags"] == ["a", "b"]
    assert entry.state["agent_id"] == str(acme.kyra.pk)


def test_actor_and_reason_come_from_the_scope(acme: Cast) -> None:
    with team_scope(team_ids=[acme.team.id], actor="agent:kyra", reason="the user asked"):
        memory = factories.MemoryFactory.create(team=acme.team)
    with team_scope(team_ids=[acme.team.id], actor="staff:ann"):
        Memory.objects.filter(pk=memory.pk).update(importance=9)

    first, second = log_of(memory)

    assert (first.actor, first.reason) == ("agent:kyra", "the user asked")
    assert (second.actor, second.reason) == ("staff:ann", "")


def test_services_log_their_viewer_and_reason(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team)
    viewer = Viewer(team_id=acme.team.id, actor="key:1234")

    pin_memory(viewer=viewer, memory_id=memory.pk, pinned=True, reason="important")
    delete_memory(viewer=viewer, memory_id=memory.pk, reason="outdated")

    assert [(e.event, e.actor, e.reason) for e in log_of(memory)] == [
        ("created", "test", ""),
        ("pinned", "key:1234", "important"),
        ("soft_deleted", "key:1234", "outdated"),
    ]


def test_a_change_moves_the_revision_of_the_memorys_conversation(acme: Cast) -> None:
    conversation = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    memory = factories.MemoryFactory.create(team=acme.team, conversation=conversation)
    Memory.objects.filter(pk=memory.pk).update(importance=9)

    entries = log_of(memory)

    assert [(e.conversation_id, e.revision) for e in entries] == [
        (conversation.pk, 1),
        (conversation.pk, 2),
    ]
    assert Conversation.objects.get(pk=conversation.pk).revision == 2


def test_a_memory_of_no_conversation_takes_the_scopes(acme: Cast) -> None:
    conversation = factories.ConversationFactory.create(
        team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    with team_scope(team_ids=[acme.team.id], actor="x", conversation_id=conversation.pk):
        memory = factories.MemoryFactory.create(team=acme.team)
    Memory.objects.filter(pk=memory.pk).update(importance=9)

    assert [(e.conversation_id, e.revision) for e in log_of(memory)] == [
        (conversation.pk, 1),
        (None, None),
    ]


def test_memories_that_are_copied_in_are_logged(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        source = factories.MemoryFactory.create(team=town.team)
    ids = [new_id(), new_id()]

    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE given ON COMMIT DROP AS SELECT (jsonb_populate_record(m,"
            " jsonb_build_object('id', k.id, 'dedupe_key', NULL))).*"
            " FROM memory_memory m, unnest(%s::uuid[]) AS k (id) WHERE m.id = %s",
            [ids, source.pk],
        )
        with cursor.copy("COPY given TO STDOUT") as copy:
            lines = b"".join(copy)
        with cursor.copy("COPY memory_memory FROM STDIN") as copy:
            copy.write(lines)

    with team_scope(team_ids=[town.team.id], actor="test"):
        for each in ids:
            entry = MemoryLog.objects.get(memory_id=each)
            assert (entry.event, entry.is_first) == ("created", True)
            assert entry.state == state_of(each)


def test_memories_inserted_at_once_are_logged_as_if_one_by_one(acme: Cast) -> None:
    one, two = factories.ConversationFactory.create_batch(
        2, team=acme.team, agent=acme.kyra, end_user=acme.sarah
    )
    factories.MemoryFactory.create(team=acme.team, conversation=one)
    rows = [
        factories.MemoryFactory.build(team=acme.team, conversation=conversation)
        for conversation in (two, one, None, two, one)
    ]

    Memory.objects.bulk_create(rows)

    entries = list(MemoryLog.objects.order_by("seq"))[1:]
    assert [(e.memory_id, e.conversation_id, e.revision) for e in entries] == [
        (rows[0].pk, two.pk, 1),
        (rows[1].pk, one.pk, 2),
        (rows[2].pk, None, None),
        (rows[3].pk, two.pk, 2),
        (rows[4].pk, one.pk, 3),
    ]
    assert [Conversation.objects.get(pk=each.pk).revision for each in (one, two)] == [3, 2]
    assert {(e.event, e.is_first, e.actor) for e in entries} == {("created", True, "test")}
    assert [e.state for e in entries] == [state_of(row.pk) for row in rows]


def test_a_statement_may_insert_memories_of_two_teams(acme: Cast, globex: Cast) -> None:
    with team_scope(team_ids=[acme.team.id, globex.team.id], actor="test"):
        rows = [factories.MemoryFactory.build(team=cast.team) for cast in (acme, globex, acme)]

        Memory.objects.bulk_create(rows)

        entries = {entry.memory_id: entry for entry in MemoryLog.objects.all()}
        assert [entries[row.pk].team_id for row in rows] == [row.team_id for row in rows]
        commits = [entries[row.pk].commit_id for row in rows]
        assert commits[0] == commits[2] != commits[1]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO memory_memory SELECT (jsonb_populate_record(m, jsonb_build_object('id', k.id,"
        " 'dedupe_key', NULL))).* FROM memory_memory m, unnest(%(ids)s::uuid[]) AS k (id)"
        " WHERE m.id = %(known)s ON CONFLICT (team_id, id) DO UPDATE SET importance = 9",
        "MERGE INTO memory_memory m USING (SELECT (jsonb_populate_record(s, jsonb_build_object("
        "'id', k.id, 'dedupe_key', NULL))).*"
        " FROM memory_memory s, unnest(%(ids)s::uuid[]) AS k (id)"
        " WHERE s.id = %(known)s) AS given ON m.team_id = given.team_id AND m.id = given.id"
        " WHEN MATCHED THEN UPDATE SET importance = 9 WHEN NOT MATCHED THEN"
        " INSERT ({columns}) VALUES ({given})",
    ],
    ids=["ON CONFLICT", "MERGE"],
)
def test_a_statement_that_inserts_and_changes_logs_both(acme: Cast, statement: str) -> None:
    known = factories.MemoryFactory.create(team=acme.team, importance=5)
    added = [new_id(), new_id()]
    columns = [str(field.column) for field in Memory._meta.concrete_fields]
    asked = statement.format(
        columns=", ".join(columns), given=", ".join(f"given.{name}" for name in columns)
    )

    with connection.cursor() as cursor:
        cursor.execute(asked, {"ids": [added[0], known.pk, added[1]], "known": known.pk})

    assert [entry.event for entry in log_of(known)] == ["created", "updated"]
    for each in added:
        entry = MemoryLog.objects.get(memory_id=each)
        assert (entry.event, entry.is_first) == ("created", True)
        assert entry.state == state_of(each)


def test_the_rows_are_numbered_and_timed_in_order(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team)
    for importance in (6, 7, 8):
        Memory.objects.filter(pk=memory.pk).update(importance=importance)

    entries = log_of(memory)

    assert [entry.at for entry in entries] == sorted(entry.at for entry in entries)
    assert len({entry.at for entry in entries}) == 4


# -- the log against the table ---------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One statement on the memories at `targets`."""

    targets: tuple[int, ...]
    way: str
    change: tuple[tuple[str, Any], ...]


CHANGES = st.one_of(
    st.tuples(st.just("importance"), st.integers(1, 10)),
    st.tuples(st.just("tier"), st.sampled_from(["hot", "warm", "cold"])),
    st.tuples(
        st.just("status"),
        st.sampled_from(["active", "disputed", "superseded", "soft_deleted", "archived"]),
    ),
    st.tuples(st.just("is_pinned"), st.booleans()),
    st.tuples(st.just("tags"), st.lists(st.sampled_from(["a", "b", "c"]), unique=True)),
    st.tuples(st.just("confidence"), st.sampled_from([0.0, 0.25, 1.0])),
    st.tuples(st.just("corroboration"), st.integers(0, 3)),
)
STEPS = st.lists(
    st.builds(
        Step,
        targets=st.sets(st.integers(0, 2), min_size=1).map(lambda each: tuple(sorted(each))),
        way=st.sampled_from(["update", "save", "bulk", "sql", "pin", "delete"]),
        change=st.lists(CHANGES, min_size=1, max_size=3, unique_by=lambda pair: pair[0]).map(tuple),
    ),
    max_size=8,
)


def apply(step: Step, rows: list[Memory], viewer: Viewer) -> None:
    """Make the step's change in its way."""
    ids = [rows[index].pk for index in step.targets]
    change = dict(step.change)
    current = list(Memory.objects.filter(pk__in=ids).order_by("pk"))
    if step.way == "update":
        Memory.objects.filter(pk__in=ids).update(**change)
    elif step.way == "save":
        for row in current:
            for name, value in change.items():
                setattr(row, name, value)
            row.save()
    elif step.way == "bulk":
        for row in current:
            for name, value in change.items():
                setattr(row, name, value)
        Memory.objects.bulk_update(current, list(change))
    elif step.way == "sql":
        columns = ", ".join(f"{name} = %s" for name in change)
        execute(f"UPDATE memory_memory SET {columns} WHERE id = ANY (%s)", [*change.values(), ids])
    elif step.way == "pin":
        for row in current:
            pin_memory(viewer=viewer, memory_id=row.pk, pinned=row.is_live and not row.is_pinned)
    else:
        for row in current:
            delete_memory(viewer=viewer, memory_id=row.pk)


@settings(
    max_examples=examples(10),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_the_log_always_ends_with_what_the_table_says(acme: Cast, steps: list[Step]) -> None:
    viewer = Viewer(team_id=acme.team.id, actor="test")
    with transaction.atomic():
        rows = factories.MemoryFactory.create_batch(3, team=acme.team)
        states = {row.pk: [state_of(row.pk)] for row in rows}

        for step in steps:
            apply(step, rows, viewer)
            for row in rows:
                now = state_of(row.pk)
                if now != states[row.pk][-1]:
                    states[row.pk].append(now)

        for row in rows:
            assert [entry.state for entry in log_of(row)] == states[row.pk]
        assert MemoryLog.objects.count() == sum(map(len, states.values()))
        transaction.set_rollback(True)
