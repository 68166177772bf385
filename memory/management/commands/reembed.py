"""`manage.py reembed`: all memories to the embedding model that the settings name."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm  # type: ignore[import-untyped]

from memory.understanding.embedders import build_embedder, configured_spec
from memory.writing.indexing.reembedding import GRACE_SECONDS, embedding_status, reembed
from memory.writing.indexing.vector_graphs import MOST_DIMENSIONS
from routing.clients.protocol import EmbeddingError
from teams.errors import ConflictError

INTERRUPTED = 130  # what a shell reports for a command that Ctrl-C ended


class Command(BaseCommand):
    """Embed anew what has no vector of the configured model; run it again to continue."""

    help = (
        "Embed all memories with the model that the settings name. Searches go on with the old"
        " vectors and switch at the end. After an interruption, run it again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--batch", type=int, default=500, help="memories at a time")
        parser.add_argument(
            "--grace",
            type=float,
            default=GRACE_SECONDS,
            help="seconds for requests under way before the old vectors are dropped",
        )
        parser.add_argument(
            "--status", action="store_true", help="only say what there is to do; changes nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        spec = configured_spec()
        status = embedding_status(wanted=spec.name)
        if options["status"]:
            self.stdout.write(
                status.line or f"All memories and messages are embedded with {spec.name}."
            )
            return
        if options["batch"] < 1:
            raise CommandError("--batch must be at least 1.")
        bar = tqdm(
            total=status.lacking + status.lacking_messages,
            unit="text",
            file=sys.stderr,
            desc=spec.name,
        )

        def say_what_for(seconds: float) -> None:
            bar.clear()
            self.stderr.write(
                f"Everything is embedded and searches use {spec.name}. Waiting {seconds:.0f} s for"
                " requests that began with the old model, before its vectors are dropped (--grace)."
                " It may be stopped; the next run drops them."
            )
            bar.refresh()

        def say_how_large(dimensions: int) -> None:
            bar.clear()
            self.stderr.write(
                f"{spec.name} gives {dimensions} dimensions, and no index holds more than"
                f" {MOST_DIMENSIONS}: searches will compare every vector of a team, however many"
                " there are. Stop it (Ctrl-C) and set EMBEDDING_DIMENSIONS to fewer if that is not"
                " meant."
            )
            bar.refresh()

        with bar:
            try:
                done = reembed(
                    embedder=build_embedder(spec),
                    batch=options["batch"],
                    grace_seconds=max(0.0, options["grace"]),
                    on_progress=bar.update,
                    on_wait=say_what_for,
                    on_unindexed=say_how_large,
                )
            except ConflictError as error:
                raise CommandError(error.message) from None
            except EmbeddingError as error:
                raise CommandError(
                    f"{error} Searches go on as before; run the same command again to continue."
                ) from None
            except KeyboardInterrupt:
                raise CommandError(
                    "Interrupted; searches go on. Run the same command again to continue.",
                    returncode=INTERRUPTED,
                ) from None
        old = f", searches no longer use {done.switched_from}" if done.switched_from else ""
        self.stdout.write(f"{done.embedded} memories and messages embedded with {done.model}{old}.")
