"""`manage.py erase_user`: make what is held of a person unreadable, for good."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.services.erasure import ErasurePlan, erase_user, plan_erasure
from teams.errors import DomainError
from teams.management.arguments import existing_team

ACTOR = "command:erase_user"


class Command(BaseCommand):
    """Say what would be erased, ask for the person's id, erase."""

    help = (
        "Make everything that is held of a person unreadable: messages, memories in all versions,"
        " what the log says of them, search entries, summaries, checkpoints. It cannot be undone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("external_id", help="the person's id as the team's agents name it")
        parser.add_argument("--team", required=True, help="the team's slug")
        parser.add_argument("--reason", default="", help="for the record; name no person in it")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be erased")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        team_id = existing_team(options["team"])
        named = options["external_id"]
        try:
            plan = plan_erasure(team_id=team_id, external_id=named, actor=ACTOR)
            self.stdout.write(f"To be erased: {_words(plan)}.")
            if plan.kept:
                self.stdout.write(
                    "Memories about others that rest on it in part stay readable; look at them:"
                )
                for memory_id in plan.kept:
                    self.stdout.write(f"  {memory_id}")
            if options["dry_run"]:
                return
            if not options["yes"]:
                _confirm(named)
            done = erase_user(
                team_id=team_id, external_id=named, actor=ACTOR, reason=options["reason"]
            )
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"Erased: {_words(done)}.")


def _confirm(named: str) -> None:
    """Ask for the name; CommandError unless it is typed."""
    try:
        typed = input(f"This cannot be undone. Type {named} to erase: ")
    except EOFError:
        raise CommandError("Nothing was erased: nobody types here. A script gives --yes.") from None
    if typed != named:
        raise CommandError("Nothing was erased.")


def _words(plan: ErasurePlan) -> str:
    return (
        f"{plan.memories} memories with {plan.log_entries} log entries,"
        f" {plan.messages} messages in {plan.conversations} conversations,"
        f" {plan.compactions} summaries, {plan.checkpoints} checkpoints,"
        f" {plan.items} items of stores"
    )
