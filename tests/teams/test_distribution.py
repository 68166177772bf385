"""Requirements of a database distributed over servers by team: each statement keeps to one team."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, models

from memory.satellites.oauth.models import Client
from teams.distribution import Place, distribution_column, read_schema, statements
from teams.management.commands.distribute import check_version
from teams.models import StaffUser, Team
from tests.support.tenants import TENANT_MODELS, ask

ROOT = Path(__file__).resolve().parents[2]
TABLES = "|".join(sorted(model._meta.db_table for model in TENANT_MODELS))
REFERENCES = [
    field
    for model in TENANT_MODELS
    for field in model._meta.concrete_fields
    if field.is_relation and field.related_model in TENANT_MODELS
]
# A table after one of these words, with the name that the statement gives it. Not the column of
# `extract(epoch FROM table.column)`.
NAMED = re.compile(
    rf"\b(?P<how>FROM|JOIN|UPDATE|USING)\s+(?:ONLY\s+)?(?:public\.)?(?P<table>{TABLES})\b(?!\.)"
    r"(?:\s+AS)?(?:\s+(?!ON|SET|WHERE|JOIN|LEFT|CROSS|ORDER|GROUP|LIMIT|USING|FOR)(?P<alias>\w+))?",
    re.IGNORECASE,
)
# Where a table is read by something else than a team.
OF_NO_TEAM = {
    # Whether the transaction itself erases.
    ("audit/sql/erasure.sql", "public.audit_erasure WHERE xact"),
}


@pytest.mark.parametrize("field", REFERENCES, ids=str)
def test_joins_of_the_models_name_the_team(field: models.ForeignKey[models.Model, object]) -> None:
    rows = field.model._default_manager.select_related(field.name)
    related = field.model._default_manager.filter(**{f"{field.name}__team__isnull": False})

    for statement in (str(rows.query), str(related.query)):
        on = re.findall(r"JOIN .*? ON \((.*?)\)\)", statement)
        assert on
        assert all(re.search(r'"team_id" = \(?"\w+"\."team_id"', each) for each in on), statement


def test_each_table_has_one_place(db: None) -> None:
    tables = ask(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace"
        " AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    )

    with connection.cursor() as cursor:
        schema = read_schema(cursor)

    assert sorted(schema.places) == sorted(table for (table,) in tables)
    assert set(schema.of(Place.DISTRIBUTED)) == {
        Team._meta.db_table,
        *(model._meta.db_table for model in TENANT_MODELS),
    }
    assert set(schema.of(Place.REFERENCE)) == {StaffUser._meta.db_table, Client._meta.db_table}
    # On the coordinator alone, so nothing of a team: Django's own tables, and two of ours without
    # rows of teams.
    of_django = re.compile("auth_|axes_|django_|otp_|teams_staffuser_")
    local = {*schema.of(Place.KNOWN), *schema.of(Place.LOCAL)}
    assert {table for table in local if not of_django.match(table)} == {
        "audit_erasurepart",
        "memory_embeddingstate",
    }


def test_references_between_distributed_tables_keep_to_the_team(db: None) -> None:
    with connection.cursor() as cursor:
        distributed = read_schema(cursor).of(Place.DISTRIBUTED)
    names = (
        "ARRAY(SELECT a.attname::text FROM unnest({key}) WITH ORDINALITY AS k (number, place)"
        " JOIN pg_attribute a ON a.attrelid = {table} AND a.attnum = k.number ORDER BY k.place)"
    )

    rows = ask(
        "SELECT conrelid::regclass::text, confrelid::regclass::text,"
        f" {names.format(key='conkey', table='conrelid')},"
        f" {names.format(key='confkey', table='confrelid')} FROM pg_constraint"
        " WHERE contype = 'f' AND conrelid::regclass::text = ANY (%s)"
        " AND confrelid::regclass::text = ANY (%s)",
        [distributed, distributed],
    )

    assert len(rows) > 100
    for table, target, columns, targets in rows:
        assert (columns[0], targets[0]) == ("team_id", distribution_column(target)), table


def test_statements_of_the_distribution_follow_the_references(db: None) -> None:
    with connection.cursor() as cursor:
        schema = read_schema(cursor)
        todo = list(statements(cursor))

    created = {
        table: at
        for at, statement in enumerate(todo)
        for table in re.findall(r"create_\w+_table\('(\w+)'", statement)
    }
    assert len(created) == len([each for each in todo if "create_" in each])
    assert set(created) == {*schema.of(Place.DISTRIBUTED), *schema.of(Place.REFERENCE)}
    for table in created:
        for target in schema.references[table]:
            assert created[target] < created[table]
    # Only what is looked up before a team is known is unique without one.
    assert {each.split()[-1] for each in todo if "DROP CONSTRAINT" in each} == {
        "teams_apikey_digest_key",
        "oauth_token_digest_key",
        "teams_team_slug_key",
    }
    policies = [each for each in todo if each.startswith("ALTER POLICY")]
    assert len(policies) > len(TENANT_MODELS)
    assert not [each for each in policies if "SELECT" in each]
    # Tables of Django beside those of the logins are taken up together.
    assert len([each for each in todo if "citus_add_local_table_to_metadata" in each]) == 1


def test_command_prints_the_statements_and_refuses_a_database_without_citus(db: None) -> None:
    printed = StringIO()
    call_command("distribute", "--dry-run", database="default", stdout=printed)

    assert "SELECT create_distributed_table('teams_team', 'id');\n" in printed.getvalue()
    with pytest.raises(CommandError, match="no Citus"):
        call_command("distribute", database="default", stdout=printed)
    with pytest.raises(CommandError, match=r"Citus 14.0 or newer; this server has 13.2-1"):
        check_version("13.2-1")
    check_version("14.0-1")


def our_statements() -> Iterator[tuple[str, str]]:
    """Our SQL, in files and in the texts of modules, with the file."""
    for room in ("teams", "memory", "audit", "routing"):
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix not in {".sql", ".py"} or "migrations" in path.parts:
                continue
            for text in _texts(path):
                yield str(path.relative_to(ROOT)), text


def _texts(path: Path) -> list[str]:
    text = path.read_text()
    if path.suffix == ".sql":
        return re.sub(r"--.*", "", text).split(";")
    return re.findall(r'"""(.*?)"""', text, re.DOTALL)


def level(text: str, *, start: int, end: int) -> str:
    """The text around a place without what is outside of its parentheses."""
    depth, first = 0, start
    while first and depth >= 0:
        first -= 1
        depth += {")": 1, "(": -1}.get(text[first], 0)
    depth, last = 0, end
    while last < len(text) and depth >= 0:
        depth += {"(": 1, ")": -1}.get(text[last], 0)
        last += 1
    return text[first:last]


def test_statements_name_the_team_of_each_table() -> None:
    met, missing = 0, set()
    for path, text in our_statements():
        for found in NAMED.finditer(text):
            met += 1
            around = level(text, start=found.start(), end=found.end())
            # What stands in braces is a condition that names it, such as that of visibility.
            names = rf"{found['alias']}|{found['table']}"
            says = rf"\b(?:{names})\.team_id\b|(?<![.\w])team_id\b|\{{\w*\}}"
            if not re.search(says, around):
                missing.add((path, text[found.start() :].split(" ", 1)[1][:40].split(" =")[0]))

    assert met > 150
    assert missing == OF_NO_TEAM


def test_a_statement_without_its_team_is_found() -> None:
    text = "SELECT 1 FROM memory_memory m WHERE m.team_id = 1 AND id IN (SELECT 1 FROM teams_agent)"

    levels = [level(text, start=each.start(), end=each.end()) for each in NAMED.finditer(text)]

    assert ["team_id" in each for each in levels] == [True, False]
