"""`manage.py import_conversation`: a transcript file into a team's memory."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize
from django.utils import timezone
from tqdm import tqdm  # type: ignore[import-untyped]

from memory.satellites.transfer.transcripts import (
    ImportTarget,
    Transcript,
    import_transcripts,
    read_transcripts,
)
from memory.understanding.tools import default_tools
from memory.writing.indexing.vector_graphs import WORTH_IT, renew_statistics
from teams.errors import DomainError
from teams.management.arguments import check_team_slug, team_named

ACTOR = "command:import_conversation"
INTERRUPTED = 130  # what a shell reports for a command that Ctrl-C ended


class Command(BaseCommand):
    """Import a transcript; running it again stores nothing twice and goes on where it stopped."""

    help = (
        "Import a transcript: LoCoMo JSON, or JSON of the form"
        ' {"messages": [{"role", "content", …}], "thread_id", "started_at"}, a list of such'
        " conversations, or a bare list of messages."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the transcript")
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument(
            "--create-team", action="store_true", help="create the team when there is none"
        )
        parser.add_argument("--agent", required=True, help="slug of the agent, created when new")
        parser.add_argument(
            "--user",
            required=True,
            help="external id of the main person, likewise; where several people speak by name, the"
            " others become users too, called by their names",
        )
        parser.add_argument("--project", help="slug of the project, likewise")
        parser.add_argument(
            "--no-extract", action="store_true", help="only keep the messages, extract later"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        file: Path = options["file"]
        self._check_names(options)
        started = time.perf_counter()
        try:
            transcripts = _read(file)
            team_id = team_named(
                options["team"],
                create=options["create_team"],
                actor=ACTOR,
                not_done="nothing was imported",
            )
            turns = sum(len(each.turns) for each in transcripts)
            bar = tqdm(total=turns, unit="turn", file=sys.stderr, desc=file.name)
            with bar, _stop_on_interrupt() as stop:
                done = import_transcripts(
                    target=ImportTarget(
                        team_id, options["agent"], options["user"], options["project"]
                    ),
                    transcripts=transcripts,
                    extract=not options["no_extract"],
                    tools=default_tools(),
                    actor=ACTOR,
                    now=timezone.now(),
                    on_progress=bar.update,
                    should_stop=stop.is_set,
                )
        except DomainError as error:
            raise CommandError(f"{file}: {error.message}") from None
        self.stdout.write(
            f"{done.conversations} conversation{pluralize(done.conversations)},"
            f" {done.messages} message{pluralize(done.messages)}"
            f" ({done.new_messages} new),"
            f" {done.new_memories} new memor{pluralize(done.new_memories, 'y,ies')},"
            f" {time.perf_counter() - started:.1f} seconds"
        )
        if done.new_messages + done.new_memories >= WORTH_IT:
            renew_statistics()
        if done.masked_memories:
            self.stdout.write(
                f"Masked a key, password or card number in {done.masked_memories}"
                f" memor{pluralize(done.masked_memories, 'y,ies')}; the messages keep every word."
            )
        if done.conversations < len(transcripts):
            raise CommandError(
                f"Interrupted after {done.conversations} of {len(transcripts)} conversations;"
                " run the same command again to continue.",
                returncode=INTERRUPTED,
            )

    def _check_names(self, options: dict[str, Any]) -> None:  # Any: as `handle`
        """Refuse what the API would refuse as a name, before anything is created."""
        check_team_slug(options["team"])
        for option, limit in (("agent", 100), ("user", 200), ("project", 100)):
            name = options[option]
            if name is None:
                continue
            if not name.strip() or len(name) > limit or not name.isprintable():
                raise CommandError(f"--{option} must be 1 to {limit} printable characters.")
            options[option] = name.strip()


def _read(path: Path) -> tuple[Transcript, ...]:
    """The whole file, checked; CommandError names it and the first thing that is wrong."""
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path}: Is not UTF-8 text.") from None
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path}: Is not JSON ({error}).") from None
    return read_transcripts(
        data=data, stem=path.stem, max_chars=settings.MAX_CONTENT_CHARS, now=timezone.now()
    )


@contextmanager
def _stop_on_interrupt() -> Iterator[threading.Event]:
    """Ctrl-C lets the conversation under way finish; a second one ends the command at once."""
    stop = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
