"""`manage.py share_learned`: what single agents learned of people before, to the people."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from tqdm import tqdm  # type: ignore[import-untyped]

from memory.management.naming import team_named
from memory.services.decisions.sharing import (
    ACTOR,
    Fate,
    carry_out,
    learned_memories,
    planned_shares,
)
from memory.services.extraction.shared_talk import earlier_talk, share_earlier_talk
from memory.understanding.tools import default_tools
from teams.errors import UnavailableError
from teams.tenancy import team_scope

INTERRUPTED = 130  # what a shell reports for a command that Ctrl-C ended


class Command(BaseCommand):
    """Show, or with --apply carry out, which memories of agents become those of people."""

    help = (
        "Give to each person what single agents of a team learned of them in talk, so that all of"
        " its agents know it, and let these find what was said; what was told in confidence stays"
        " with its agent. Without"
        " --apply it only shows what would happen. After an interruption, run it again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument("--apply", action="store_true", help="change the memories")
        parser.add_argument("--examples", type=int, default=10, help="memories that are shown")
        parser.add_argument("--batch", type=int, default=500, help="memories read at a time")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        if options["batch"] < 1 or options["examples"] < 0:
            raise CommandError("--batch must be at least 1 and --examples at least 0.")
        team_id = team_named(
            options["team"], create=False, actor=ACTOR, not_done="nothing was changed"
        )
        with team_scope(team_ids=[team_id], actor=ACTOR):
            total = learned_memories(team_id=team_id).count()
        tools = default_tools() if options["apply"] else None
        done: Counter[Fate] = Counter()
        shown = 0
        with tqdm(total=total, unit="memory", file=sys.stderr) as bar:
            try:
                for share in planned_shares(team_id=team_id, batch=options["batch"]):
                    if tools is None and shown < options["examples"]:
                        memory, shown = share.memory, shown + 1
                        line = f"{share.fate}: {memory.agent} of {memory.end_user}: {memory}"
                        bar.clear()
                        self.stdout.write(line)
                    done[carry_out(share=share, tools=tools) if tools else share.fate] += 1
                    bar.update()
            except KeyboardInterrupt:
                raise CommandError(
                    "Interrupted. What is done stays; run the same command again to continue.",
                    returncode=INTERRUPTED,
                ) from None
            except UnavailableError as error:
                raise CommandError(
                    f"{error} What is done stays; run the same command again to continue."
                ) from None
        self.stdout.write(_summary(done, is_applied=tools is not None))
        with team_scope(team_ids=[team_id], actor=ACTOR):
            talk = earlier_talk(team_id=team_id).count()
        if tools is not None:
            share_earlier_talk(team_id=team_id, now=timezone.now(), actor=ACTOR)
        self.stdout.write(
            f"Of {talk} conversations: other agents"
            f" {'now ' if tools else 'would '}find the messages that were not told in confidence."
        )


def _summary(done: Counter[Fate], *, is_applied: bool) -> str:
    said = f"{done[Fate.SHARED]} for their people, {done[Fate.PRIVATE]} told in confidence"
    if not is_applied:
        return f"Of {done.total()} memories: {said}. Nothing was changed; --apply does it."
    return (
        f"Of {done.total()} memories: {said}, {done[Fate.REFUSED]} left with their agents"
        " (in dispute, changed meanwhile, or known of the person already)."
    )
