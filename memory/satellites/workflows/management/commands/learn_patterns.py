"""`manage.py learn_patterns`: the patterns of a directory's code into a project's memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm  # type: ignore[import-untyped]

from memory.domain.audience import Viewer
from memory.satellites.workflows.pattern_learning import (
    MAX_FILE_CHARS,
    MAX_FILES,
    MAX_TOTAL_CHARS,
    CodeFile,
    learn_patterns,
)
from memory.understanding.languages import language_of
from memory.understanding.tools import default_tools
from teams.errors import DomainError
from teams.management.arguments import team_named

ACTOR = "command:learn_patterns"


class Command(BaseCommand):
    """Learn from a directory, set of files by set; running it again stores nothing twice."""

    help = "Learn the shapes that repeat in Python, TypeScript and Go code."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="the directory; hidden ones are left out")
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument("--project", required=True, help="slug of the project")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        if not options["path"].is_dir():
            raise CommandError(f"{options['path']}: Is not a directory.")
        team_id = team_named(
            options["team"], create=False, actor=ACTOR, not_done="nothing was learned"
        )
        paths = list(_code_in(options["path"]))
        new = stronger = 0
        with tqdm(total=len(paths), unit="file", file=sys.stderr) as bar:
            for files, read in self._sets(options["path"], paths):
                try:
                    done = learn_patterns(
                        viewer=Viewer(team_id=team_id, actor=ACTOR),
                        project=options["project"],
                        files=files,
                        tools=default_tools(),
                        now=timezone.now(),
                    )
                except DomainError as error:
                    raise CommandError(error.message) from None
                new, stronger = new + len(done.new), stronger + len(done.strengthened)
                for path, reason in done.skipped:
                    self.stderr.write(f"{path}: {reason}")
                bar.update(read)
        self.stdout.write(f"{new} new, {stronger} strengthened")

    def _sets(self, root: Path, paths: list[Path]) -> Iterator[tuple[list[CodeFile], int]]:
        """Sets of files within the limits of one call, and how many paths each took."""
        files: list[CodeFile] = []
        chars = read = 0
        for path in paths:
            read += 1
            try:
                name = path.relative_to(root).as_posix()
                name.encode()
                with path.open(encoding="utf-8") as stream:
                    text = stream.read(MAX_FILE_CHARS + 1)
            except (OSError, UnicodeError):
                self.stderr.write(f"{path}: cannot be read as UTF-8 text")
                continue
            if len(text) > MAX_FILE_CHARS:
                self.stderr.write(f"{path}: longer than {MAX_FILE_CHARS:,} characters")
                continue
            if files and (len(files) == MAX_FILES or chars + len(text) > MAX_TOTAL_CHARS):
                yield files, read - 1
                files, chars, read = [], 0, 1
            files.append(CodeFile(name, text))
            chars += len(text)
        yield files, read


def _code_in(root: Path) -> Iterator[Path]:
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(each for each in inner if each[0] != "." and each != "node_modules")
        yield from (Path(folder, name) for name in sorted(names) if language_of(name))
