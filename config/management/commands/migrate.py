"""Django's `migrate`, run by the owner's role after preparing the database."""

from __future__ import annotations

import gc
import time
from contextlib import suppress
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands.migrate import Command as MigrateCommand
from django.db import DatabaseError, OperationalError, connections
from psycopg.errors import LockNotAvailable

from config.settings import APP_ROLE

MINIMUM_POSTGRES = 16
MINIMUM_PGVECTOR = (0, 8)
# Whoever reads or writes a table waits behind a migration that waits for it.
_LOCK_SECONDS, _PAUSE_SECONDS, _ATTEMPTS = 3, 2.0, 30


class Command(MigrateCommand):
    """Prepare the database and apply migrations as its owner."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        prepare_database(using=options["database"])
        # Migrations make classes by the thousand: collections need not look at all that is loaded.
        gc.collect()
        gc.freeze()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._migrate(*args, **options)
            except OperationalError as error:
                waited = isinstance(error.__cause__, LockNotAvailable)
                if not waited or attempt == _ATTEMPTS:
                    raise
                # What was applied before it stays; the migration itself was undone.
                self.stderr.write("A table is in use: trying again in a moment.")
                time.sleep(_PAUSE_SECONDS)
        return None

    def _migrate(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        """Applies what is pending, without letting those who read or write queue behind it."""
        with connections[options["database"]].cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{_LOCK_SECONDS}s'")
        try:
            super().handle(*args, **options)
        finally:
            with suppress(DatabaseError), connections[options["database"]].cursor() as cursor:
                cursor.execute("RESET lock_timeout")


def prepare_database(*, using: str) -> None:
    """Checks the server and creates what the first migration needs; raises CommandError."""
    try:
        with connections[using].cursor() as cursor:
            check_postgres(int(connections[using].pg_version))  # type: ignore[attr-defined]
            cursor.execute(
                "SELECT default_version FROM pg_available_extensions WHERE name='vector'"
            )
            available = cursor.fetchone()
            cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            installed = cursor.fetchone()
            check_pgvector((installed or available or [""])[0])
            if not installed:
                _attempt(cursor, "CREATE EXTENSION vector", "create the extension 'vector'")
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [APP_ROLE])
            if cursor.fetchone() is None:
                _attempt(cursor, f"CREATE ROLE {APP_ROLE}", f"create the role '{APP_ROLE}'")
            cursor.execute("SELECT pg_has_role(current_user, %s, 'SET')", [APP_ROLE])
            row = cursor.fetchone()
            if not (row and row[0]):
                _attempt(
                    cursor,
                    f"GRANT {APP_ROLE} TO CURRENT_USER WITH SET TRUE",
                    f"become the role '{APP_ROLE}'",
                )
            # Django's own tables (logins, sessions) are the application's to use; the tables of a
            # team take these rights back and grant their own.
            cursor.execute(
                f"GRANT USAGE ON SCHEMA public TO {APP_ROLE};"
                f"ALTER DEFAULT PRIVILEGES IN SCHEMA public"
                f" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APP_ROLE};"
                f"ALTER DEFAULT PRIVILEGES IN SCHEMA public"
                f" GRANT USAGE, SELECT ON SEQUENCES TO {APP_ROLE}"
            )
    except OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise CommandError(f"PostgreSQL does not answer ({reason}). Is it running?") from error


def check_postgres(version: int) -> None:
    """Raise CommandError for a server older than 16; `version` as in 180004."""
    if version // 10000 < MINIMUM_POSTGRES:
        raise CommandError(
            f"Palimpsest needs PostgreSQL {MINIMUM_POSTGRES} or newer;"
            f" this server is {version // 10000}.{version % 10000}."
        )


def check_pgvector(version: str) -> None:
    """Raise CommandError for a pgvector older than 0.8; "" is none at all."""
    wanted = ".".join(map(str, MINIMUM_PGVECTOR))
    if not version:
        raise CommandError(f"Palimpsest needs pgvector {wanted} or newer; this server has none.")
    if tuple(int(part) for part in version.split(".")[:2]) < MINIMUM_PGVECTOR:
        raise CommandError(
            f"Palimpsest needs pgvector {wanted} or newer; this database has {version}."
        )


def _attempt(cursor: object, statement: str, what: str) -> None:
    try:
        cursor.execute(statement)  # type: ignore[attr-defined]
    except DatabaseError as error:
        raise CommandError(
            f"The login of DATABASE_OWNER_URL (or DATABASE_URL) may not {what}:"
            f" let an administrator run «{statement}» once. ({str(error).strip().splitlines()[0]})"
        ) from error
