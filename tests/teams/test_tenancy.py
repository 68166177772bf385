"""One team never sees, changes or points at another team's rows: PostgreSQL itself refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.postgres.search import SearchVector
from django.db import IntegrityError, ProgrammingError, connection, models, transaction
from django.db.models import Value

from audit.models import MemoryLog
from memory.models import (
    Category,
    Contradiction,
    Job,
    Memory,
    MemoryRelation,
    MemoryTag,
    MemoryUsage,
    SearchEntry,
)
from teams.ids import new_id
from teams.models import (
    Agent,
    ApiKey,
    Conversation,
    EndUser,
    Membership,
    Message,
    Project,
    StaffUser,
    Team,
)
from teams.services.keys import issue_key
from teams.services.people import all_team_ids, team_id_of_slug
from teams.tenancy import team_scope
from tests import factories
from tests.conftest import Cast, make_cast

TENANT_MODELS = [
    model
    for model in apps.get_models()
    if any(field.name == "team" and field.concrete for field in model._meta.get_fields())
]
KNOWN = {
    Agent, ApiKey, Category, Contradiction, Conversation, EndUser, Job, Membership, Memory,
    MemoryLog, MemoryRelation, MemoryTag, MemoryUsage, Message, Project, SearchEntry,
}  # fmt: skip

each_tenant_model = pytest.mark.parametrize(
    "model", TENANT_MODELS, ids=lambda model: model._meta.db_table
)
each_known_model = pytest.mark.parametrize(
    "model", [model for model in TENANT_MODELS if model in KNOWN], ids=lambda m: m._meta.db_table
)


def ask(statement: str, params: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """The rows of a statement on the application's connection."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return list(cursor.fetchall()) if cursor.description else []


def settle(cast: Cast) -> dict[str, Any]:
    """Give the team a row in every table of ours."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        project = factories.ProjectFactory(team=cast.team)
        conversation = factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah, project=project
        )
        message = factories.MessageFactory(team=cast.team, conversation=conversation)
        old, new = factories.MemoryFactory.create_batch(2, team=cast.team, tags=["place"])
        SearchEntry.objects.create(
            memory=old,
            team=cast.team,
            embedding=[1.0, 0.0],
            embedding_model="test",
            lexemes=SearchVector(Value(old.content), config="english"),
        )
        MemoryUsage.objects.create(memory=old, team=cast.team)
        MemoryRelation.objects.create(team=cast.team, from_memory=new, to_memory=old, strength=0.5)
        contradiction = Contradiction.objects.create(
            team=cast.team,
            memory_a=old,
            memory_b=new,
            strategy="same_subject",
            judge="test",
            verdict="dispute",
        )
        job = Job.objects.create(
            team=cast.team, conversation=conversation, from_position=1, to_position=1
        )
        Category.objects.create(team=cast.team, name="goals")
        key = issue_key(team_id=cast.team.id).key
        user = StaffUser.objects.create(username=f"staff-of-{cast.team.slug}")
        Membership.objects.create(team=cast.team, user=user)
    return {
        "agent": cast.kyra,
        "end_user": cast.sarah,
        "project": project,
        "conversation": conversation,
        "message": message,
        "memory": old,
        "contradiction": contradiction,
        "job": job,
        "key": key,
    }


@pytest.fixture
def neighbours(globex: Cast) -> tuple[Cast, Cast]:
    """Two teams with rows in every table; no scope is open."""
    initech = make_cast("initech")
    settle(initech)
    settle(globex)
    return initech, globex


# -- what the schema says --------------------------------------------------------------------


def test_the_tables_with_a_team_are_those_of_the_models(db: None) -> None:
    rows = ask(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE a.attname = 'team_id' AND NOT a.attisdropped AND c.relkind IN ('r', 'p')"
        " AND NOT c.relispartition"
        " AND c.relnamespace = 'public'::regnamespace"
    )

    tables = {name for (name,) in rows}

    assert tables == {model._meta.db_table for model in TENANT_MODELS}
    assert tables >= {model._meta.db_table for model in KNOWN}


@each_tenant_model
def test_table_is_under_row_level_security(db: None, model: type[models.Model]) -> None:
    table = model._meta.db_table

    security = ask("SELECT relrowsecurity FROM pg_class WHERE oid = %s::regclass", [table])
    policies = ask(
        "SELECT cmd, permissive, roles::text[], qual, with_check FROM pg_policies"
        " WHERE schemaname = 'public' AND tablename = %s",
        [table],
    )

    assert security == [(True,)]
    assert len(policies) == 1
    command, permissive, roles, shown, written = policies[0]
    assert (command, permissive, roles) == ("ALL", "PERMISSIVE", ["public"])
    for condition in (shown, written):
        assert "team_id = ANY" in condition
        assert "palimpsest_team_ids()" in condition


def test_the_teams_table_is_under_row_level_security(db: None) -> None:
    policies = ask("SELECT qual, with_check FROM pg_policies WHERE tablename = 'teams_team'")

    assert ask("SELECT relrowsecurity FROM pg_class WHERE oid = 'teams_team'::regclass") == [
        (True,)
    ]
    assert len(policies) == 1
    assert all("palimpsest_team_ids()" in condition for condition in policies[0])


@each_tenant_model
def test_keys_and_uniqueness_rules_begin_with_the_team(db: None, model: type[models.Model]) -> None:
    rows = ask(
        "SELECT i.indisprimary, c.relname, a.attname FROM pg_index i"
        " JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        " WHERE i.indrelid = %s::regclass AND i.indisunique",
        [model._meta.db_table],
    )

    primary = [first for is_primary, _, first in rows if is_primary]
    others = {name for is_primary, name, first in rows if not is_primary and first != "team_id"}

    assert primary == ["team_id"]
    # A key is looked up by its digest before any team is known.
    assert all("digest" in name for name in others) if model is ApiKey else others == set()


@each_tenant_model
def test_references_between_tenant_rows_carry_the_team(db: None, model: type[models.Model]) -> None:
    columns = {
        field.column
        for field in model._meta.concrete_fields
        if field.is_relation and field.related_model in TENANT_MODELS
    }

    rows = ask(
        "SELECT (SELECT array_agg(a.attname::text ORDER BY k.place)"
        "  FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)"
        "  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number)"
        " FROM pg_constraint c WHERE c.conrelid = %s::regclass AND c.contype = 'f'",
        [model._meta.db_table],
    )

    assert {tuple(names) for (names,) in rows} >= {("team_id", column) for column in columns}


@each_tenant_model
def test_the_application_cannot_truncate_or_reshape_a_table(
    db: None, model: type[models.Model]
) -> None:
    table = model._meta.db_table

    assert ask("SELECT current_user::text") == [("palimpsest_app",)]
    for right in ("TRUNCATE", "REFERENCES", "TRIGGER"):
        assert ask("SELECT has_table_privilege(%s, %s)", [table, right]) == [(False,)]
    with pytest.raises(ProgrammingError, match="must be owner"), transaction.atomic():
        ask(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    with pytest.raises(ProgrammingError, match="must be owner"), transaction.atomic():
        ask(f"DROP POLICY team_rows ON {table}")


def test_the_application_is_no_member_of_a_stronger_role(db: None) -> None:
    stronger = ask(
        "SELECT rolname FROM pg_roles WHERE pg_has_role('palimpsest_app', oid, 'MEMBER')"
    )
    gifts = ask(
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication"
        " FROM pg_roles WHERE rolname = 'palimpsest_app'"
    )

    assert stronger == [("palimpsest_app",)]
    assert gifts == [(False,) * 5]


def test_the_application_cannot_create_objects_that_shadow_ours(db: None) -> None:
    assert ask("SELECT has_schema_privilege('public', 'CREATE')") == [(False,)]
    assert ask("SELECT has_database_privilege(current_database(), 'CREATE')") == [(False,)]


def test_functions_with_the_owners_rights_fix_their_search_path(db: None) -> None:
    rows = ask(
        "SELECT proname, coalesce(array_to_string(proconfig, ','), '') FROM pg_proc"
        " WHERE prosecdef AND pronamespace = 'public'::regnamespace AND proname ~ '^palimpsest'"
    )

    assert {name for name, _ in rows} >= {"palimpsest_api_key", "palimpsest_team_by_slug"}
    assert [name for name, config in rows if "search_path=" not in config] == []


def test_the_application_may_not_rekey_tables(db: None) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        ask("SELECT palimpsest_key_by_team('teams_agent'::regclass, 'id')")


# -- what a scope sees -----------------------------------------------------------------------


@each_known_model
def test_a_scope_sees_its_own_rows_and_no_others(
    neighbours: tuple[Cast, Cast], model: type[models.Model]
) -> None:
    here, there = neighbours
    rows = model._default_manager
    table = model._meta.db_table

    with team_scope(team_ids=[here.team.id], actor="test"):
        seen_by_orm = set(rows.values_list("team_id", flat=True))
        asked_for_theirs = rows.filter(team_id=there.team.id).exists()
        seen_by_sql = ask(f"SELECT DISTINCT team_id FROM {table}")
        theirs_by_sql = ask(f"SELECT * FROM {table} WHERE team_id = %s", [there.team.id])
    with team_scope(team_ids=[there.team.id], actor="test"):
        theirs_exist = rows.filter(team_id=there.team.id).exists()

    assert seen_by_orm == {here.team.id}
    assert seen_by_sql == [(here.team.id,)]
    assert theirs_exist
    assert not asked_for_theirs
    assert theirs_by_sql == []


@each_known_model
def test_without_a_scope_nothing_is_seen(
    neighbours: tuple[Cast, Cast], model: type[models.Model]
) -> None:
    assert not model._default_manager.exists()
    assert ask(f"SELECT count(*) FROM {model._meta.db_table}") == [(0,)]


def test_without_a_scope_no_team_is_seen(neighbours: tuple[Cast, Cast]) -> None:
    assert not Team.objects.exists()


def test_a_scope_of_no_team_sees_nothing(neighbours: tuple[Cast, Cast]) -> None:
    with team_scope(team_ids=[], actor="test"):
        assert not Team.objects.exists()
        assert not Memory.objects.exists()


def test_a_scope_of_two_teams_sees_both(neighbours: tuple[Cast, Cast]) -> None:
    both = {cast.team.id for cast in neighbours}

    with team_scope(team_ids=both, actor="test"):
        assert set(Memory.objects.values_list("team_id", flat=True)) == both


def test_joins_and_subqueries_see_no_other_team(neighbours: tuple[Cast, Cast]) -> None:
    here, there = neighbours
    with team_scope(team_ids=[here.team.id], actor="test"):
        crossed = ask(
            "SELECT m.id FROM teams_team t FULL JOIN memory_memory m ON true"
            " WHERE m.team_id = %s OR t.id = %s",
            [there.team.id, there.team.id],
        )
        hinted = ask("SELECT EXISTS (SELECT FROM teams_agent WHERE id = %s)", [there.kyra.id])

    assert crossed == []
    assert hinted == [(False,)]


def test_what_is_asked_before_a_team_is_known_says_no_more_than_needed(
    neighbours: tuple[Cast, Cast],
) -> None:
    here, there = neighbours

    assert team_id_of_slug(there.team.slug) == there.team.id
    assert team_id_of_slug("nobody") is None
    assert set(all_team_ids()) >= {here.team.id, there.team.id}
    assert ask("SELECT * FROM palimpsest_api_key(%s)", [b"\0" * 32]) == []


# -- what a scope may write ------------------------------------------------------------------


@pytest.fixture
def inside(neighbours: tuple[Cast, Cast]) -> Iterator[tuple[Cast, Cast]]:
    """The two teams, with the first one's scope open."""
    with team_scope(team_ids=[neighbours[0].team.id], actor="test"):
        yield neighbours


def test_a_row_for_another_team_is_refused(inside: tuple[Cast, Cast]) -> None:
    _, there = inside

    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        Project.objects.create(team_id=there.team.id, slug="spy", name="Spy")


def test_a_row_for_another_team_is_refused_in_raw_sql(inside: tuple[Cast, Cast]) -> None:
    _, there = inside

    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        ask(
            "INSERT INTO teams_project (id, team_id, slug, name, created_at)"
            " VALUES (%s, %s, 'spy', 'Spy', now()) RETURNING id",
            [uuid4(), there.team.id],
        )


def test_a_row_without_a_scope_is_refused(neighbours: tuple[Cast, Cast]) -> None:
    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        Project.objects.create(team_id=neighbours[0].team.id, slug="lost", name="Lost")


def test_a_new_team_needs_a_scope_of_its_own(inside: tuple[Cast, Cast]) -> None:
    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        Team.objects.create(slug="hooli", name="Hooli")


def test_a_row_cannot_be_given_to_another_team(inside: tuple[Cast, Cast]) -> None:
    here, there = inside

    with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
        EndUser.objects.filter(id=here.dmitri.id).update(team_id=there.team.id)


def test_changes_do_not_reach_another_teams_rows(inside: tuple[Cast, Cast]) -> None:
    _, there = inside

    by_orm = Agent.objects.filter(id=there.kyra.id).update(name="Spy")
    by_sql = ask(
        "UPDATE teams_agent SET name = 'Spy' WHERE team_id = %s RETURNING id", [there.team.id]
    )
    deleted, _ = Membership.objects.filter(team_id=there.team.id).delete()

    assert (by_orm, by_sql, deleted) == (0, [], 0)
    with team_scope(team_ids=[there.team.id], actor="test"):
        assert Agent.objects.get(id=there.kyra.id).name == "Kyra"
        assert Membership.objects.count() == 1


REFERENCES = [
    ("teams_apikey", "agent_id", "agent"),
    ("teams_conversation", "agent_id", "agent"),
    ("teams_conversation", "end_user_id", "end_user"),
    ("teams_conversation", "project_id", "project"),
    ("memory_memory", "agent_id", "agent"),
    ("memory_memory", "end_user_id", "end_user"),
    ("memory_memory", "project_id", "project"),
    ("memory_memory", "conversation_id", "conversation"),
    ("memory_memory", "supersedes_id", "memory"),
    ("memory_memory", "superseded_by_id", "memory"),
    ("memory_memoryrelation", "to_memory_id", "memory"),
    ("memory_contradiction", "memory_b_id", "memory"),
    ("memory_job", "conversation_id", "conversation"),
]


@pytest.mark.parametrize(("table", "column", "into"), REFERENCES)
def test_a_reference_into_another_team_is_refused(
    globex: Cast, table: str, column: str, into: str
) -> None:
    here = make_cast("initech")
    settle(here)
    target = settle(globex)[into]

    with team_scope(team_ids=[here.team.id], actor="test"):
        ask("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match="same_team"), transaction.atomic():
            ask(
                f"UPDATE {table} SET {column} = %s"
                f" WHERE ctid IN (SELECT ctid FROM {table} LIMIT 1)",
                [target.pk],
            )


def test_a_message_for_another_teams_conversation_is_refused(globex: Cast) -> None:
    here = make_cast("initech")
    theirs = settle(globex)["conversation"]

    with (
        team_scope(team_ids=[here.team.id], actor="test"),
        pytest.raises(IntegrityError, match="same_team"),
        transaction.atomic(),
    ):
        factories.MessageFactory(team=here.team, conversation_id=theirs.pk)


# -- where a scope ends ----------------------------------------------------------------------


def scope_settings() -> tuple[str, ...]:
    """The four settings as the transaction has them now."""
    names = ("team_ids", "actor", "reason", "conversation_id")
    row = ask(
        "SELECT "
        + ", ".join(f"coalesce(current_setting('palimpsest.{n}', true), '')" for n in names)
    )[0]
    return tuple(row)


def test_an_inner_scope_replaces_the_outer_one_until_it_ends(
    neighbours: tuple[Cast, Cast],
) -> None:
    here, there = neighbours
    conversation_id = new_id()
    with team_scope(team_ids=[here.team.id], actor="outer", reason="first"):
        with team_scope(team_ids=[there.team.id], actor="inner", conversation_id=conversation_id):
            inner = scope_settings()
            seen_inside = set(Agent.objects.values_list("team_id", flat=True))
        outer = scope_settings()
        seen_after = set(Agent.objects.values_list("team_id", flat=True))

    assert inner == (str(there.team.id), "inner", "", str(conversation_id))
    assert outer == (str(here.team.id), "outer", "first", "")
    assert (seen_inside, seen_after) == ({there.team.id}, {here.team.id})
    assert scope_settings() == ("", "", "", "")


def test_a_scope_that_fails_restores_the_outer_one(neighbours: tuple[Cast, Cast]) -> None:
    here, there = neighbours
    with team_scope(team_ids=[here.team.id], actor="outer"):
        with (
            pytest.raises(IntegrityError),
            team_scope(team_ids=[there.team.id], actor="inner"),
        ):
            Agent.objects.create(team_id=there.team.id, slug="kyra", name="Another Kyra")

        assert scope_settings() == (str(here.team.id), "outer", "", "")
        assert set(Agent.objects.values_list("team_id", flat=True)) == {here.team.id}


@pytest.fixture
def town(committed_db: None) -> Cast:
    """A committed team with a slug of its own."""
    return make_cast(f"town-{uuid4().hex}")


def backend() -> int:
    """The server process behind the connection."""
    pid: int = ask("SELECT pg_backend_pid()")[0][0]
    return pid


def test_a_scope_does_not_leak_to_the_next_use_of_the_connection(town: Cast) -> None:
    with team_scope(team_ids=[town.team.id], actor="test"):
        seen = Agent.objects.count()
        first = backend()

    assert seen == 2
    assert backend() == first
    assert scope_settings() == ("", "", "", "")
    assert Agent.objects.count() == 0


def test_a_scope_that_rolls_back_does_not_leak_either(town: Cast) -> None:
    first = backend()

    with (
        pytest.raises(IntegrityError),
        team_scope(team_ids=[town.team.id], actor="test"),
    ):
        Agent.objects.create(team=town.team, slug="kyra", name="Another Kyra")

    assert backend() == first
    assert scope_settings() == ("", "", "", "")
    assert Agent.objects.count() == 0


def test_a_failed_scope_leaves_nothing_behind(town: Cast) -> None:
    def interrupted() -> None:
        with team_scope(team_ids=[town.team.id], actor="test"):
            factories.ProjectFactory(team=town.team)
            raise KeyError("something outside the database goes wrong")

    with pytest.raises(KeyError):
        interrupted()

    with team_scope(team_ids=[town.team.id], actor="test"):
        assert not Project.objects.exists()


def test_the_application_cannot_become_the_tables_owner(town: Cast) -> None:
    owner = ask("SELECT tableowner::text FROM pg_tables WHERE tablename = 'memory_memory'")[0][0]

    may = ask("SELECT pg_has_role('palimpsest_app', %s, 'MEMBER')", [owner])

    assert owner != "palimpsest_app"
    assert may == [(False,)]
