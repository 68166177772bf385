"""`manage.py export_team`: everything of a team in one file, while the server runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from config.backup import embedded_servers
from memory.satellites.transfer.team_export import TeamExport, write_export
from teams.management.arguments import check_team_slug, existing_team

ACTOR = "command:export_team"


class Command(BaseCommand):
    """Write a team's export as JSON Lines; the file appears when it is whole."""

    help = (
        "Export everything of a team as JSON Lines with a manifest: people, agents, conversations,"
        " messages, memories with versions, relations and log. `import_team` brings it into another"
        " installation. API keys and logins are not in it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument(
            "--out", required=True, type=Path, help="a file that does not exist yet; - for stdout"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        slug, file = check_team_slug(options["team"]), options["out"]
        with embedded_servers():
            lines = TeamExport(team_id=existing_team(slug), actor=ACTOR, now=timezone.now())
            if str(file) == "-":
                for line in lines:
                    sys.stdout.buffer.write(line)
                return
            try:
                count = write_export(lines, file)
            except FileExistsError as error:
                raise CommandError(str(error)) from error
            except OSError as error:
                raise CommandError(f"{file}: {error.strerror}.") from error
        self.stdout.write(f"{file}: {file.stat().st_size:,} bytes, {count:,} lines")
