"""`manage.py import_team`: bring a team's export into an installation without that team."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.services.verification import verify_team
from config.backup import embedded_servers
from memory.satellites.transfer.team_import import TeamImportError, import_team
from memory.writing.indexing.vector_graphs import renew_statistics


class Command(BaseCommand):
    """Import all of it or nothing, then verify the log against the manifest's seal."""

    help = (
        "Import what `export_team` wrote: the team with its ids, its log and its seals, all or"
        " nothing. Keys that sealed the log must be in SEAL_KEY or SEAL_KEYS_PREVIOUS."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="what `manage.py export_team` wrote")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        file = options["file"]
        try:
            with embedded_servers():
                found = import_team(file)
                renew_statistics()
                log = verify_team(team_id=found.team_id, expected=found.head)
        except TeamImportError as error:
            raise CommandError(f"{file}: {error}") from error
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}.") from error
        for finding in log.findings:
            self.stdout.write(f"  {finding}")
        if log.findings:
            raise CommandError(f"Imported, but the log has {len(log.findings)} findings.")
        keys = (
            "It moved: its API keys go on working. Tell the deployment that it came from, with"
            " `manage.py move_team --to`."
            if found.is_move
            else "Issue new API keys with `manage.py issue_key`."
        )
        self.stdout.write(
            f"Imported the team '{found.slug}': {sum(found.rows.values()):,} rows, {log.seals}"
            f" seals as they were. {keys}"
        )
        if found.other_model:
            self.stdout.write(
                f"Its vectors are of {found.other_model}, which is not searched by here: run"
                " `manage.py reembed`."
            )
