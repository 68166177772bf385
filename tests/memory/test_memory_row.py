"""A memory's text stands for ever; its row holds only what makes sense."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction

from memory.models import Memory, MemoryRelation, MemoryTag
from teams.ids import new_id
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast

WORDS = "Sarah lives in Berlin."


@pytest.fixture
def memory(acme: Cast) -> Memory:
    """A memory in the open scope."""
    return factories.MemoryFactory.create(
        team=acme.team, content=WORDS, source_message_ids=[new_id()]
    )


@pytest.fixture
def committed_memory(committed_db: None) -> Memory:
    """A memory that other connections see, too."""
    cast = make_cast(f"town-{uuid4().hex}")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return factories.MemoryFactory.create(team=cast.team, content=WORDS, tags=["home"])


def content_of(memory: Memory) -> str:
    """The text as it stands in the database."""
    with team_scope(team_ids=[memory.team_id], actor="test"):
        return Memory.objects.get(pk=memory.pk).content


# -- the text and the origin -----------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memory_memory SET content = 'Sarah lives in Madrid.' WHERE id = %s",
        "UPDATE memory_memory SET content = content || ' ' WHERE id = %s",
        "UPDATE memory_memory SET content = upper(content), importance = 1 WHERE id = %s",
        "INSERT INTO memory_memory SELECT * FROM memory_memory WHERE id = %s"
        " ON CONFLICT (team_id, id) DO UPDATE SET content = 'Nothing.'",
        "MERGE INTO memory_memory m USING (SELECT %s::uuid AS id) s ON m.id = s.id"
        " WHEN MATCHED THEN UPDATE SET content = 'Nothing.'",
    ],
)
@pytest.mark.parametrize("alias", ["default", "owner"])
def test_the_text_cannot_be_changed(committed_memory: Memory, alias: str, statement: str) -> None:
    def change() -> None:
        with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
            cursor.execute(
                "SELECT set_config('palimpsest.team_ids', %s, true)",
                [str(committed_memory.team_id)],
            )
            cursor.execute(statement, [committed_memory.pk])

    with pytest.raises(IntegrityError, match="never change"):
        change()

    assert content_of(committed_memory) == WORDS


def test_saving_a_changed_text_is_refused(memory: Memory) -> None:
    memory.content = "Sarah lives in Madrid."

    with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
        memory.save()

    assert content_of(memory) == WORDS


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", new_id()),
        ("created_at", datetime(2020, 1, 1, tzinfo=UTC)),
        ("extractor", "somebody else"),
        ("actor", "somebody else"),
        ("source_message_ids", []),
        ("source_message_ids", [new_id()]),
    ],
)
def test_the_origin_cannot_be_changed(memory: Memory, field: str, value: Any) -> None:
    with pytest.raises(IntegrityError, match="never change"), transaction.atomic():
        Memory.objects.filter(pk=memory.pk).update(**{field: value})


def test_further_source_messages_may_be_added(memory: Memory) -> None:
    more = [*memory.source_message_ids, new_id()]

    Memory.objects.filter(pk=memory.pk).update(source_message_ids=more)

    assert Memory.objects.get(pk=memory.pk).source_message_ids == more


def test_the_time_of_the_last_change_is_the_databases(memory: Memory) -> None:
    before = Memory.objects.get(pk=memory.pk).updated_at
    pretended = datetime(2001, 1, 1, tzinfo=UTC)

    Memory.objects.filter(pk=memory.pk).update(importance=9, updated_at=pretended)

    assert Memory.objects.get(pk=memory.pk).updated_at > before


# -- nothing is removed ----------------------------------------------------------------------


def test_the_application_cannot_delete_a_memory(memory: Memory) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        memory.delete()
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        Memory.objects.all().delete()
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("TRUNCATE memory_memory CASCADE")

    assert content_of(memory) == WORDS


@pytest.mark.parametrize(
    "statement", ["DELETE FROM memory_memory", "TRUNCATE memory_memory CASCADE"]
)
def test_the_owner_cannot_delete_a_memory_either(committed_memory: Memory, statement: str) -> None:
    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(using="owner"),
        connections["owner"].cursor() as cursor,
    ):
        cursor.execute(statement)

    assert content_of(committed_memory) == WORDS


def test_the_application_cannot_switch_the_triggers_off(memory: Memory) -> None:
    with (
        pytest.raises(ProgrammingError, match="must be owner"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("ALTER TABLE memory_memory DISABLE TRIGGER guard_memory")


# -- the tags' index -------------------------------------------------------------------------


def tags_in_the_index(memory: Memory) -> set[str]:
    """The names under which the memory is found."""
    return set(MemoryTag.objects.filter(memory=memory).values_list("name", flat=True))


def test_the_index_follows_the_tags(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team, tags=["a", "b"])
    seen = [tags_in_the_index(memory)]

    for tags in (["b", "c"], [], ["c"]):
        Memory.objects.filter(pk=memory.pk).update(tags=tags)
        seen.append(tags_in_the_index(memory))

    assert seen == [{"a", "b"}, {"b", "c"}, set(), {"c"}]


def test_a_tag_given_twice_is_indexed_once(acme: Cast) -> None:
    memory = factories.MemoryFactory.create(team=acme.team, tags=["a", "a"])

    assert MemoryTag.objects.filter(memory=memory).count() == 1


def test_the_index_follows_the_owners_changes(committed_memory: Memory) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "UPDATE memory_memory SET tags = '{garden}' WHERE id = %s", [committed_memory.pk]
        )

    with team_scope(team_ids=[committed_memory.team_id], actor="test"):
        assert tags_in_the_index(committed_memory) == {"garden"}


def test_the_application_cannot_write_the_index_itself(memory: Memory) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        MemoryTag.objects.create(team_id=memory.team_id, memory=memory, name="spam")


# -- what a row may hold ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"importance": 0}, "memory_importance_range"),
        ({"importance": 11}, "memory_importance_range"),
        ({"confidence": -0.1}, "memory_confidence_range"),
        ({"confidence": 1.1}, "memory_confidence_range"),
        ({"confidence": float("nan")}, "memory_confidence_range"),
        ({"content": ""}, "memory_content_not_empty"),
        ({"memory_type": "gossip"}, "memory_memory_type_known"),
        ({"scope": "world"}, "memory_scope_known"),
        ({"status": "gone"}, "memory_status_known"),
        ({"tier": "tepid"}, "memory_tier_known"),
        ({"memory_type": "agent_private"}, "memory_private_has_agent"),
        ({"memory_type": "identity"}, "memory_private_has_agent"),
        (
            {
                "valid_from": datetime(2026, 2, 1, tzinfo=UTC),
                "valid_to": datetime(2026, 1, 1, tzinfo=UTC),
            },
            "memory_validity_ordered",
        ),
    ],
    ids=str,
)
def test_a_row_that_makes_no_sense_is_refused(
    acme: Cast, values: dict[str, Any], rule: str
) -> None:
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        factories.MemoryFactory(team=acme.team, **values)


def test_a_fact_is_live_once(acme: Cast) -> None:
    first = factories.MemoryFactory.create(team=acme.team, dedupe_key=b"k" * 32)

    with pytest.raises(IntegrityError, match="memory_fact_once"), transaction.atomic():
        factories.MemoryFactory(team=acme.team, dedupe_key=b"k" * 32)
    Memory.objects.filter(pk=first.pk).update(status="soft_deleted")

    factories.MemoryFactory(team=acme.team, dedupe_key=b"k" * 32)
    assert Memory.objects.count() == 2


def test_an_external_id_stands_once_in_a_team(acme: Cast, globex: Cast) -> None:
    factories.MemoryFactory(team=acme.team, external_id="e-1")

    with pytest.raises(IntegrityError, match="memory_external_id_once"), transaction.atomic():
        factories.MemoryFactory(team=acme.team, external_id="e-1")

    with team_scope(team_ids=[globex.team.id], actor="test"):
        factories.MemoryFactory(team=globex.team, external_id="e-1")
        assert Memory.objects.count() == 1


def test_a_memory_has_one_successor(acme: Cast, memory: Memory) -> None:
    factories.MemoryFactory(team=acme.team, supersedes=memory)

    with pytest.raises(IntegrityError, match="memory_one_successor"), transaction.atomic():
        factories.MemoryFactory(team=acme.team, supersedes=memory)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"strength": 1.5}, "memory_relation_strength"),
        ({"strength": -0.5}, "memory_relation_strength"),
        ({"relation_type": "likes"}, "memory_relation_type_known"),
    ],
    ids=str,
)
def test_an_edge_that_makes_no_sense_is_refused(
    acme: Cast, memory: Memory, values: dict[str, Any], rule: str
) -> None:
    other = factories.MemoryFactory.create(team=acme.team)

    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        MemoryRelation.objects.create(
            **{
                "team": acme.team,
                "from_memory": memory,
                "to_memory": other,
                "strength": 0.5,
                **values,
            }
        )


def test_no_edge_leads_back_to_its_own_memory(acme: Cast, memory: Memory) -> None:
    with pytest.raises(IntegrityError, match="not_to_itself"), transaction.atomic():
        MemoryRelation.objects.create(
            team=acme.team, from_memory=memory, to_memory=memory, strength=0.5
        )
