"""`manage.py repair_times`: what bears a time that is still to come, and its repair."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from memory.management.naming import team_named
from memory.services.repairing_times import ACTOR, repair_times
from teams.clock import database_now
from teams.services.people import all_team_ids


class Command(BaseCommand):
    """List, or with --apply mend, the times that a clock that was ahead left in the future."""

    help = (
        "List what bears a time that is still to come, because the server's clock was ahead when"
        " it was written. With --apply, memories get the time at which the clock was set back (a"
        " change that the log keeps), and the times of background work become the present. Entries"
        " of the log and messages never change: they say what the clock said."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", help="slug of one team; all by default")
        parser.add_argument("--apply", action="store_true", help="mend the times")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        del args
        teams = all_team_ids()
        if options["team"]:
            teams = [
                team_named(
                    options["team"], create=False, actor=ACTOR, not_done="nothing was changed"
                )
            ]
        now, is_dry = database_now(), not options["apply"]
        found = 0
        for team_id in teams:
            for each in repair_times(team_id=team_id, now=now, is_dry=is_dry):
                if each.count:
                    found += each.count
                    fate = "to mend" if is_dry else "mended"
                    fate = fate if each.can_be_mended else "stays as it is"
                    self.stdout.write(f"{team_id}  {each.kind}: {each.count} ({fate})")
        if not found:
            self.stdout.write(f"Nothing is later than {now.isoformat()}.")
        elif is_dry:
            self.stdout.write("Nothing was changed; --apply mends it.")
