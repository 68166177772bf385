"""Messages and log rows are append-only, also for the owner of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connections, transaction
from django.db.models import ProtectedError

from audit.models import MemoryLog
from teams.ids import new_id
from teams.models import Message
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast

TABLES = ("teams_message", "teams_agentversion", "audit_memorylog")
# The log and the versions of agents are written by triggers alone.
RIGHTS = {
    "teams_message": ["INSERT", "SELECT"],
    "teams_agentversion": ["SELECT"],
    "audit_memorylog": ["SELECT"],
}
CHANGES = {
    "teams_message": "UPDATE teams_message SET content = 'Never said.'",
    "teams_agentversion": "UPDATE teams_agentversion SET document = '{}'",
    "audit_memorylog": "UPDATE audit_memorylog SET actor = 'nobody'",
}
each_table = pytest.mark.parametrize("table", TABLES)


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team with a message and a log row."""
    cast = make_cast(f"town-{uuid4().hex}")
    with team_scope(team_ids=[cast.team.id], actor="test"):
        conversation = factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah
        )
        factories.MessageFactory(
            team=cast.team, conversation=conversation, position=1, content="Hello."
        )
        factories.MemoryFactory(team=cast.team)
    return cast


@pytest.fixture
def in_town(town: Cast) -> Iterator[Cast]:
    """The same, with the team's scope open."""
    with team_scope(team_ids=[town.team.id], actor="test"):
        yield town


def by_application(cast: Cast, statement: str, *params: UUID) -> None:
    """Run a statement as the application, in the team's scope."""
    with (
        team_scope(team_ids=[cast.team.id], actor="test"),
        connections["default"].cursor() as cursor,
    ):
        cursor.execute(statement, params)


def by_owner(statement: str, *params: UUID) -> None:
    """Run a statement as the tables' owner."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(statement, params)


def rows_of(cast: Cast, table: str) -> list[tuple[object, ...]]:
    """The team's rows."""
    with (
        team_scope(team_ids=[cast.team.id], actor="test"),
        connections["default"].cursor() as cursor,
    ):
        cursor.execute(f"SELECT * FROM {table} ORDER BY 1")
        return list(cursor.fetchall())


@each_table
def test_the_application_may_neither_change_nor_remove_rows(db: None, table: str) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT current_user::text, array_agg(r ORDER BY r) FROM unnest(ARRAY['SELECT',"
            " 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS r"
            " WHERE has_table_privilege(current_user, %s, r)",
            [table],
        )
        granted = cursor.fetchone()
        cursor.execute("SELECT has_any_column_privilege(%s, 'UPDATE')", [table])
        columns = cursor.fetchone()

    assert granted == ("palimpsest_app", RIGHTS[table])
    assert columns == (False,)


@each_table
@pytest.mark.parametrize("verb", ["UPDATE", "DELETE", "TRUNCATE", "ON CONFLICT"])
def test_the_application_is_refused(town: Cast, table: str, verb: str) -> None:
    before = rows_of(town, table)
    statement = {
        "UPDATE": CHANGES[table],
        "DELETE": f"DELETE FROM {table}",
        "TRUNCATE": f"TRUNCATE {table}",
        "ON CONFLICT": f"INSERT INTO {table} SELECT * FROM {table}"
        " ON CONFLICT ON CONSTRAINT"
        f" {table}_pkey DO UPDATE SET team_id = EXCLUDED.team_id",
    }[verb]

    with pytest.raises(ProgrammingError, match="permission denied"):
        by_application(town, statement)

    assert before
    assert rows_of(town, table) == before


@each_table
@pytest.mark.parametrize("verb", ["UPDATE", "DELETE", "TRUNCATE", "MERGE"])
def test_the_owner_is_refused_too(town: Cast, table: str, verb: str) -> None:
    before = rows_of(town, table)
    mine = f"WHERE team_id = '{town.team.id}'"
    statement = {
        "UPDATE": f"{CHANGES[table]} {mine}",
        "DELETE": f"DELETE FROM {table} {mine}",
        # With what refers to it: else that alone would have it refused.
        "TRUNCATE": f"TRUNCATE {table} CASCADE",
        "MERGE": f"MERGE INTO {table} t USING (SELECT '{town.team.id}'::uuid AS id) s"
        " ON t.team_id = s.id WHEN MATCHED THEN DELETE",
    }[verb]

    with pytest.raises(IntegrityError, match="append-only"):
        by_owner(statement)

    assert before
    assert rows_of(town, table) == before


def test_the_owner_cannot_change_a_message_by_inserting_it_again(town: Cast) -> None:
    before = rows_of(town, "teams_message")

    with pytest.raises(IntegrityError, match="append-only"):
        by_owner(
            f"INSERT INTO teams_message SELECT * FROM teams_message WHERE team_id ="
            f" '{town.team.id}' ON CONFLICT ON CONSTRAINT teams_message_pkey"
            " DO UPDATE SET team_id = EXCLUDED.team_id"
        )

    assert rows_of(town, "teams_message") == before


def test_nobody_chooses_the_number_of_a_log_row(town: Cast) -> None:
    (first,) = rows_of(town, "audit_memorylog")

    by_owner(
        f"INSERT INTO audit_memorylog SELECT * FROM audit_memorylog WHERE team_id ="
        f" '{town.team.id}' ON CONFLICT ON CONSTRAINT audit_memorylog_pkey"
        " DO UPDATE SET actor = 'nobody'"
    )

    kept, added = rows_of(town, "audit_memorylog")
    assert kept == first
    assert added[0] > first[0]  # type: ignore[operator]


@each_table
def test_truncating_with_cascade_is_refused(town: Cast, table: str) -> None:
    before = rows_of(town, table)

    with pytest.raises(IntegrityError, match="append-only"):
        by_owner("TRUNCATE teams_team CASCADE")

    assert rows_of(town, table) == before


@each_table
def test_the_application_cannot_switch_the_triggers_off(town: Cast, table: str) -> None:
    with pytest.raises(ProgrammingError, match="must be owner"):
        by_application(town, f"ALTER TABLE {table} DISABLE TRIGGER ALL")
    with pytest.raises(ProgrammingError, match="must be owner"):
        by_application(town, f"DROP TRIGGER append_only ON {table}")
    with pytest.raises(ProgrammingError, match="permission denied"):
        by_application(town, "SET LOCAL session_replication_role = replica")


@each_table
def test_the_triggers_fire_in_every_ordinary_session(db: None, table: str) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = %s::regclass"
            " AND tgname LIKE 'append_only%%' ORDER BY 1",
            [table],
        )
        triggers = cursor.fetchall()

    assert [name for name, _ in triggers] == ["append_only", "append_only_truncate"]
    assert {enabled for _, enabled in triggers} <= {"O", "A"}


def test_deleting_a_message_through_its_model_is_refused(in_town: Cast) -> None:
    message = Message.objects.get()

    with pytest.raises(ProtectedError):
        message.delete()
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        Message.objects.all()._raw_delete("default")

    assert Message.objects.get().content == "Hello."


def test_saving_a_changed_message_is_refused(in_town: Cast) -> None:
    message = Message.objects.get()
    message.content = "Goodbye."

    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        message.save()

    assert Message.objects.get().content == "Hello."


def test_the_application_may_still_add_rows(in_town: Cast) -> None:
    conversation = factories.ConversationFactory.create(
        team=in_town.team, agent=in_town.kyra, end_user=in_town.dmitri
    )

    factories.MessageFactory(team=in_town.team, conversation=conversation, position=1)
    factories.MemoryFactory(team=in_town.team)

    assert Message.objects.count() == 2
    assert MemoryLog.objects.count() == 2


def test_a_message_keeps_its_characters(in_town: Cast) -> None:
    text = "  \r\n\tCafé — cafe\u0301 🎉 \u202eevil\u202c  \n"
    conversation = Message.objects.get().conversation

    stored = factories.MessageFactory.create(
        team=in_town.team, conversation=conversation, position=2, content=text
    )

    assert Message.objects.get(id=stored.pk).content == text


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("position", 0, "message_position_from_one"),
        ("position", 1, "message_position_once"),
        ("role", "robot", "message_role_known"),
    ],
)
def test_a_message_out_of_order_is_refused(
    in_town: Cast, field: str, value: object, rule: str
) -> None:
    first = Message.objects.get()

    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        factories.MessageFactory(
            **{
                "team": in_town.team,
                "conversation": first.conversation,
                "position": 2,
                field: value,
            }
        )


def test_an_external_id_stands_once_in_a_conversation(in_town: Cast) -> None:
    conversation = Message.objects.get().conversation
    factories.MessageFactory(
        team=in_town.team, conversation=conversation, position=2, external_id="m-1"
    )

    with pytest.raises(IntegrityError, match="message_external_id_once"), transaction.atomic():
        factories.MessageFactory(
            team=in_town.team, conversation=conversation, position=3, external_id="m-1"
        )


def test_a_team_with_messages_cannot_be_removed(town: Cast) -> None:
    with pytest.raises(IntegrityError):
        by_owner("DELETE FROM teams_team WHERE id = %s", town.team.id)
    with pytest.raises(IntegrityError):
        by_owner("DELETE FROM teams_conversation WHERE team_id = %s", town.team.id)

    assert len(rows_of(town, "teams_message")) == 1


def test_a_forged_log_row_is_refused(town: Cast) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        by_application(
            town,
            "INSERT INTO audit_memorylog"
            " (team_id, memory_id, event, actor, reason, state, digest, at)"
            " VALUES (%s, %s, 'created', 'x', '', '{}', '', now())",
            town.team.id,
            new_id(),
        )
