"""The schema's own constraints on teams and on the application's role."""

from __future__ import annotations

import pytest
from django.db import ProgrammingError, models, transaction

from memory.models import Memory, MessageEntry, SearchEntry
from tests.support.tenants import KNOWN, TENANT_MODELS, ask, each_tenant_model

# Of these an answer holds only what its reader may hear.
FOR_READERS = {Memory, SearchEntry, MessageEntry}


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
        "SELECT policyname, cmd, permissive, roles::text[], qual, with_check FROM pg_policies"
        " WHERE schemaname = 'public' AND tablename = %s ORDER BY policyname = 'for_reader'",
        [table],
    )

    assert security == [(True,)]
    assert len(policies) == (2 if model in FOR_READERS else 1)
    _, command, permissive, roles, shown, written = policies[0]
    assert (command, permissive, roles) == ("ALL", "PERMISSIVE", ["public"])
    for condition in (shown, written):
        assert "team_id = ANY" in condition
        assert "palimpsest_team_ids()" in condition
    # A restrictive one takes from what the first shows and adds nothing to it.
    for name, command, permissive, roles, shown, written in policies[1:]:
        assert (name, command, permissive) == ("for_reader", "SELECT", "RESTRICTIVE")
        assert (roles, written) == (["public"], None)
        assert "palimpsest_reader('person'" in shown


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
    # A credential is looked up by its digest before any team is known.
    is_credential = any(each.name == "digest" and each.unique for each in model._meta.fields)
    assert all("digest" in name for name in others) if is_credential else others == set()


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
