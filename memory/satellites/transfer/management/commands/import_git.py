"""`manage.py import_git`: the commits of a local repository into a project's memory."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from memory.satellites.transfer.formats.reading import Format
from memory.satellites.transfer.management.commands import import_memories

LOG = (
    "log",
    "--no-merges",
    "--reverse",
    "--numstat",
    "--no-ext-diff",
    "--no-color",
    "--no-decorate",
    "--no-notes",
    "--no-show-signature",
    "--format=medium",
    "--date=iso-strict",
)


class Command(import_memories.Command):
    """Run `git log` and import what it prints; commits known already are skipped."""

    help = (
        "Import the commits of a local git repository, with dates, authors and files, as episodes"
        " of a project. Run again, it adds the new commits."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("repository", type=Path, help="folder of the repository")
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument("--project", help="slug of the project; else the folder's name")
        parser.add_argument(
            "--create-team", action="store_true", help="create the team when there is none"
        )
        parser.add_argument("--since", default="", help="as git reads it, such as 2024-01-01")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        since = [f"--since={options.pop('since')}"] if options.get("since") else []
        repository: Path = options.pop("repository")
        options["project"] = options["project"] or repository.resolve().name
        with tempfile.NamedTemporaryFile(suffix=".log") as log:
            command = ["git", "-C", str(repository), "-c", "core.quotePath=false", *LOG, *since]
            try:
                ran = subprocess.run(  # noqa: S603 - no shell, and a folder of the operator's
                    command, stdout=log, stderr=subprocess.PIPE, check=False
                )
            except FileNotFoundError:
                raise CommandError("There is no git on this machine: install it.") from None
            if ran.returncode:
                raise CommandError(f"{repository}: {ran.stderr.decode(errors='replace').strip()}")
            given = {"agent": "", "user": "", "role": "", "no_extract": False}
            super().handle(*args, file=Path(log.name), format=Format.GIT.value, **given, **options)
