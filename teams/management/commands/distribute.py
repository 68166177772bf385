"""`manage.py distribute`: spreads the tables over the servers of a Citus cluster, by team."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.db.backends.utils import CursorWrapper

from teams.distribution import NotDistributableError, statements

MINIMUM_CITUS = (14, 0)
# What triggers of distributed tables and the settings of a team's transaction need on each server.
_SETTINGS = {
    "citus.enable_unsafe_triggers": "on",
    "citus.propagate_set_commands": "local",
    "citus.allow_nested_distributed_execution": "on",
}


class Command(BaseCommand):
    """Distribute the tables of teams by team, co-located; safe to repeat, also after `migrate`."""

    help = (
        "Spread the tables over the servers of a Citus cluster: those of teams by team, those that"
        " they reference to every server. Run it as the owner on the coordinator, after `migrate`,"
        " while nothing else runs. Prints each statement; repeating it does what is missing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--database", default="owner", help="whose login runs the statements")
        parser.add_argument(
            "--dry-run", "--sql", action="store_true", help="print the statements, run none"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        with connections[options["database"]].cursor() as cursor:
            if not options["dry_run"]:
                check_citus(cursor)
            try:
                todo = list(statements(cursor))
            except NotDistributableError as error:
                raise CommandError(str(error)) from None
            for statement in todo:
                self.stdout.write(f"{statement};")
                if not options["dry_run"]:
                    cursor.execute(statement)


def check_citus(cursor: CursorWrapper) -> None:
    """Raises CommandError for a database without Citus, with an old one or without its settings."""
    wanted = ".".join(map(str, MINIMUM_CITUS))
    cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'citus'")
    found = cursor.fetchone()
    if found is None:
        raise CommandError(
            f"This database has no Citus. Install Citus {wanted} or newer on every server, add it"
            " to shared_preload_libraries, and let an administrator run «CREATE EXTENSION citus»"
            " in this database. «--dry-run» prints the statements without it."
        )
    check_version(found[0])
    for name, value in _SETTINGS.items():
        cursor.execute("SELECT current_setting(%s)", [name])
        if cursor.fetchone()[0] != value:
            raise CommandError(f"Set {name} = '{value}' in postgresql.conf of every server.")


def check_version(version: str) -> None:
    """Raises CommandError for a Citus that is too old; `version` as in 14.0-1."""
    if tuple(int(part) for part in version.split("-")[0].split(".")[:2]) < MINIMUM_CITUS:
        wanted = ".".join(map(str, MINIMUM_CITUS))
        raise CommandError(f"Palimpsest needs Citus {wanted} or newer; this server has {version}.")
