"""`manage.py backup`: the whole database in a folder, while the server runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from config.backup import BackupError, embedded_servers, make_backup


class Command(BaseCommand):
    """Dump one snapshot of the database, with a manifest to check a restore against."""

    help = (
        "Write a backup into a new folder while the server runs: a dump of one snapshot of the"
        " database (pg_dump's custom format) and a manifest. Keys of seals are not in it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder that does not exist yet")
        parser.add_argument(
            "--with-seal-keys",
            action="store_true",
            help="add the secrets that seals are keyed with; keep such a backup under lock",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        try:
            with embedded_servers():
                made = make_backup(
                    folder=options["folder"],
                    now=timezone.now(),
                    with_seal_keys=options["with_seal_keys"],
                )
        except (BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        contents = made.contents
        self.stdout.write(
            f"{options['folder']}: {made.dump_bytes:,} bytes, {sum(contents.rows.values()):,} rows"
            f" of {len(contents.teams)} teams"
        )
        for team, state in contents.teams.items():
            self.stdout.write(
                f"  {team}: {state.entries} log entries, head {state.seal or 'not sealed yet'}"
            )
        if contents.seal_keys and not options["with_seal_keys"]:
            self.stdout.write(
                f"Keep the keys of its seals apart from it: {', '.join(contents.seal_keys)}"
            )
