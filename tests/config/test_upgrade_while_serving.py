"""Servers of the last release go on while the new schema is there: expand, migrate, contract.

A release only adds to the schema. What it leaves unused is dropped by the release after the next
one, and then listed in `CONTRACTED` here, with the release that stopped using it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any

import pytest
from django.apps.registry import Apps
from django.core.management import call_command
from django.db import connections, models
from django.db.migrations import AddConstraint, AddIndex, AlterField, CreateModel, RunSQL
from django.db.migrations.loader import MigrationLoader

from config.management.commands import migrate
from tests.support.waiting import until

pytestmark = pytest.mark.django_db(databases=["default", "owner"])

# The migrations that the servers of the last release know. Stores of 0.1.0 cannot be upgraded, so
# until the next release these are the first of each app.
RELEASED = [
    ("teams", "0001_initial"),
    ("audit", "0002_guarantees"),
    ("routing", "0001_initial"),
    ("memory", "0002_triggers"),
    *(
        (satellite, "0001_initial")
        for satellite in (
            "consent",
            "langgraph",
            "lifecycle",
            "plans",
            "transfer",
            "webhooks",
            "workflows",
        )
    ),
]
# Columns, tables and functions that a release before the last one used last.
CONTRACTED: frozenset[str] = frozenset()
_COLUMNS = """
SELECT table_name || '.' || column_name, character_maximum_length,
    is_nullable = 'YES' OR column_default IS NOT NULL OR is_identity = 'YES'
        OR is_generated = 'ALWAYS'
FROM information_schema.columns WHERE table_schema = 'public'
"""


@pytest.fixture
def old() -> Apps:
    """The models of the last release."""
    return MigrationLoader(None).project_state(RELEASED).apps


def ours(old: Apps) -> Iterator[type[models.Model]]:
    """Those of this project that have a table."""
    for model in old.get_models():
        if model._meta.app_label in dict(RELEASED) and model._meta.managed:
            yield model


def asked(query: str) -> list[tuple[Any, ...]]:
    """Runs a query as the owner and returns its rows."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def test_what_the_last_release_reads_is_still_there(old: Apps) -> None:
    read = 0
    for model in ours(old):
        # Every column by its name, as the old server's own queries ask for them.
        list(model._base_manager.using("default").all()[:1])
        read += 1
        for relation in model._meta.get_fields():
            if isinstance(relation, models.ForeignKey):
                list(model._base_manager.select_related(relation.name)[:1])

    assert read > 20


def test_what_the_last_release_writes_needs_no_column_that_it_does_not_know(old: Apps) -> None:
    known = {
        f"{model._meta.db_table}.{field.column}"
        for model in ours(old)
        for field in model._meta.concrete_fields
    }
    tables = {name.split(".")[0] for name in known}
    columns = asked(_COLUMNS)

    needed = {
        name
        for name, _, is_optional in columns
        if name.split(".")[0] in tables and name not in known and not is_optional
    }

    assert {name for name, _, _ in columns} > known - CONTRACTED
    assert needed == set()


def test_no_column_became_shorter(old: Apps) -> None:
    lengths = {name: length for name, length, _ in asked(_COLUMNS)}

    narrowed = [
        f"{model._meta.db_table}.{field.column}"
        for model in ours(old)
        for field in model._meta.concrete_fields
        if (now := lengths.get(f"{model._meta.db_table}.{field.column}")) is not None
        and field.max_length is not None
        and now < field.max_length
    ]

    assert narrowed == []


def test_no_function_that_the_last_release_calls_is_gone() -> None:
    """Functions that its migrations made, by name."""
    graph = MigrationLoader(None).graph
    made = {
        name
        for key in {key for leaf in RELEASED for key in graph.forwards_plan(leaf)}
        for operation in graph.nodes[key].operations
        if isinstance(operation, RunSQL)
        for name in re.findall(r"CREATE (?:OR REPLACE )?FUNCTION (\w+)", str(operation.sql))
    }
    there = {name for (name,) in asked("SELECT proname FROM pg_proc")}

    assert len(made) > 30
    assert made - there == CONTRACTED & made


# Tables that stay so small that reading all of them takes no time.
SMALL = {"agent", "provider", "staffuser", "team"}


def test_no_migration_reads_a_large_table_under_a_lock() -> None:
    """Operations that lock a table against readers or writers for as long as its rows take."""
    loader = MigrationLoader(None)
    released = {key for leaf in RELEASED for key in loader.graph.forwards_plan(leaf)}
    tables = {
        operation.name.lower()
        for key in released
        for operation in loader.graph.nodes[key].operations
        if isinstance(operation, CreateModel)
    }

    locking = [
        f"{app}.{name}: {type(operation).__name__} of {operation.model_name}"
        for (app, name), migration in loader.graph.nodes.items()
        if app in dict(RELEASED) and (app, name) not in released
        for operation in migration.operations
        if type(operation) in (AddIndex, AddConstraint, AlterField)
        and operation.model_name.lower() in tables - SMALL
    ]

    assert len(tables) > 20
    # AddIndexConcurrently; AddConstraintNotValid, and ValidateConstraint in a later migration.
    assert locking == []


def test_a_migration_tries_again_where_a_table_is_in_use(
    monkeypatch: pytest.MonkeyPatch, committed_db: None
) -> None:
    monkeypatch.setattr(migrate, "_LOCK_SECONDS", 1)
    monkeypatch.setattr(migrate, "_PAUSE_SECONDS", 0.0)
    said = StringIO()

    with ThreadPoolExecutor(1) as pool, connections["owner"].cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("LOCK TABLE django_migrations")
        done = pool.submit(call_command, "migrate", "--noinput", verbosity=0, stderr=said)
        try:
            until(lambda: "trying again" in said.getvalue())
        finally:
            cursor.execute("ROLLBACK")
        done.result()
