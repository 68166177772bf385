"""Writes the shorter versions of long memories anew where the model or the rules have changed."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm  # type: ignore[import-untyped]

from memory.understanding.tools import default_tools
from memory.writing.indexing.vectors import LEVELS_ACTOR as ACTOR
from memory.writing.indexing.vectors import levels_to_write, write_levels
from teams.errors import UnavailableError
from teams.management.arguments import existing_team
from teams.services.people import all_team_ids
from teams.tenancy import team_scope


class Command(BaseCommand):
    """Bring the levels of all long memories up to date; run it again to continue."""

    help = (
        "Write the summary, the compressed text and the index term of long memories that wait for"
        " them, or that another model wrote. After an interruption, run it again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", help="the slug of one team; without it all teams")
        parser.add_argument(
            "--status", action="store_true", help="only say what there is to do; changes nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        tools = default_tools()
        team_ids = [existing_team(options["team"])] if options["team"] else all_team_ids()
        counts = {}
        for team_id in team_ids:
            with team_scope(team_ids=[team_id], actor=ACTOR):
                rows = levels_to_write(team_id=team_id, tools=tools, is_rebuilt=True)
                counts[team_id] = rows.count()
        total = sum(counts.values())
        if options["status"] or not total:
            self.stdout.write(
                f"{total} memories wait for levels by {tools.levels.name}."
                if total
                else f"The levels of all long memories are by {tools.levels.name}."
            )
            return
        done = 0
        with tqdm(total=total, unit="memory", file=sys.stderr, desc=tools.levels.name) as bar:
            try:
                for team_id in (each for each, count in counts.items() if count):
                    done += write_levels(
                        team_id=team_id, tools=tools, is_rebuilt=True, on_progress=bar.update
                    )
            except UnavailableError as error:
                raise CommandError(
                    f"{error.message} Run the same command again to continue."
                ) from None
            except KeyboardInterrupt:
                raise CommandError(
                    "Interrupted. Run the same command again to continue.", returncode=130
                ) from None
        self.stdout.write(f"{done} memories have levels by {tools.levels.name}.")
