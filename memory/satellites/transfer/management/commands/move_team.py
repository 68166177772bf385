"""`manage.py move_team`: move a team to another deployment while it reads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import URLValidator
from django.utils import timezone

from config.backup import embedded_servers
from memory.satellites.transfer.moving import end_move, left_behind, start_move
from teams.errors import DomainError
from teams.management.arguments import check_team_slug, existing_team
from teams.services.moves import thaw_team


class Command(BaseCommand):
    """Freezes and exports a team, sends its clients to its new address, or takes the move back."""

    help = (
        "Move a team to another deployment: --out here, `import_team` there, --to here. From --out"
        " on the team can be read and not changed (503 with Retry-After), from --to on every"
        " request is told the new address (421) and the team's rows are removed here. --cancel"
        " ends a move that was begun with --out."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, help="slug of the team")
        step = parser.add_mutually_exclusive_group(required=True)
        step.add_argument("--out", type=Path, help="freeze it and export it to this new file")
        step.add_argument("--to", help="the address of the deployment that imported it")
        step.add_argument("--cancel", action="store_true", help="take changes again here")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        slug = check_team_slug(options["team"])
        began = time.monotonic()
        with embedded_servers():
            team_id = existing_team(slug)
            try:
                if options["out"]:
                    told = self._start(team_id, options["out"])
                elif options["to"]:
                    told = self._end(team_id, options["to"])
                else:
                    thaw_team(team_id=team_id)
                    told = "It takes changes again."
            except (DomainError, FileExistsError) as error:
                raise CommandError(str(error)) from error
            except OSError as error:
                raise CommandError(f"{error.filename}: {error.strerror}.") from error
        self.stdout.write(f"{told} ({time.monotonic() - began:.1f} s)")

    def _start(self, team_id: UUID, file: Path) -> str:
        lines = start_move(team_id=team_id, file=file, now=timezone.now())
        for table, words in left_behind(team_id=team_id).items():
            self.stdout.write(f"stays behind: {table}: {words}")
        return (
            f"{file}: {file.stat().st_size:,} bytes, {lines:,} lines. The team is frozen. Import"
            " the file where it moves to, then run this with --to; or --cancel."
        )

    def _end(self, team_id: UUID, address: str) -> str:
        try:
            URLValidator(schemes=["http", "https"])(address)
        except ValidationError:
            raise CommandError(
                f"--to must be an address such as https://memory.example.com, not {address!r}."
            ) from None
        removed = end_move(team_id=team_id, moved_to=address)
        return f"Its clients are told {address}; {removed:,} rows were removed here."
