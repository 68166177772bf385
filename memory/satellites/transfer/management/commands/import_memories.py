"""`manage.py import_memories`: a file of another system into a team's memory."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm  # type: ignore[import-untyped]

from memory.domain.audience import Viewer
from memory.satellites.transfer.formats.items import Names
from memory.satellites.transfer.formats.reading import Format
from memory.satellites.transfer.imports import UNFINISHED, import_of, run_import, start_import
from memory.satellites.transfer.models import ImportRun
from memory.understanding.tools import default_tools
from memory.writing.indexing.vector_graphs import WORTH_IT, renew_statistics
from teams.errors import DomainError
from teams.management.arguments import check_team_slug, team_named
from teams.models.people import Role
from teams.tenancy import team_scope

ACTOR = "command:import_memories"
_POLL_SECONDS = 0.5


class Command(BaseCommand):
    """Check the whole file, then write it; a worker goes on where the command was ended."""

    help = (
        "Import a file of another system: ChatGPT and Claude exports, mem0, Letta agent files,"
        " LangGraph stores, Markdown notes (a folder or zip), JSON Lines, CSV. Run again, it stores"
        " nothing twice."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file, or a folder of notes")
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument(
            "--create-team", action="store_true", help="create the team when there is none"
        )
        parser.add_argument(
            "--format", choices=[each.value for each in Format], help="found by the contents if not"
        )
        parser.add_argument("--agent", default="", help="whose talk or memories name no agent")
        parser.add_argument("--user", default="", help="whose talk or memories name no user")
        parser.add_argument("--project", default="", help="likewise")
        parser.add_argument(
            "--role",
            choices=Role.values,
            default="",
            help="what people are to the team whom it does not know yet; by default as it says of"
            " new people",
        )
        parser.add_argument(
            "--no-extract", action="store_true", help="keep messages and learn nothing from them"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        file = options["file"]
        if not file.exists():
            raise CommandError(f"{file}: There is no such file.")
        team_id = team_named(
            check_team_slug(options["team"]),
            create=options["create_team"],
            actor=ACTOR,
            not_done="nothing was imported",
        )
        viewer = Viewer(team_id=team_id, actor=ACTOR)
        try:
            run = start_import(
                viewer=viewer,
                source=file,
                names=Names(**{name: options[name] for name in ("agent", "user", "project")}),
                now=timezone.now(),
                format=Format(options["format"]) if options["format"] else None,
                name=file.name,
                does_extract=not options["no_extract"],
                new_role=options["role"],
                is_published=False,
            )
        except DomainError as error:
            raise CommandError(f"{file}: {error.message}") from None
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}.") from error
        run = self._finished(viewer, run)
        for each in run.errors:
            self.stderr.write(f"{file}: {each['place']}: {each['problem']}")
        self.stdout.write(
            f"{run.format}: {run.done:,} of {run.total:,} items, {run.new:,} new,"
            f" {run.failed:,} failed"
        )
        if run.new >= WORTH_IT:
            renew_statistics()
        if run.state != ImportRun.State.DONE:
            raise CommandError(f"The import is {run.state}.")

    def _finished(self, viewer: Viewer, run: ImportRun) -> ImportRun:
        with tqdm(total=run.total, unit="item", file=sys.stderr) as bar:
            while True:
                run_import(
                    team_id=run.team_id,
                    run_id=run.pk,
                    tools=default_tools(),
                    on_progress=bar.update,
                )
                with team_scope(team_ids=[run.team_id], actor=ACTOR):
                    run = import_of(viewer=viewer, run_id=run.pk)
                if run.state not in UNFINISHED:
                    return run
                time.sleep(_POLL_SECONDS)
