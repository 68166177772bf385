"""`manage.py verify_log`: find what was changed in the log behind its back."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.services.seals import Head
from audit.services.verification import Verified, verify_and_record
from teams.management.arguments import existing_team
from teams.services.people import all_team_ids


class Command(BaseCommand):
    """Compare the log with its seals, and the memories with the log; exit 1 when they differ."""

    help = (
        "Compare every log entry with the seal of its range, every memory's text with its digest"
        " and every memory with the last entry of its log. Names what was changed, removed or"
        " inserted, and ends with 1 then."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", help="the slug of one team; without it, all are checked")
        parser.add_argument(
            "--head",
            metavar="NUMBER:DIGEST",
            help="a head that was printed before and noted elsewhere; finds a chain that was cut",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        expected = _head(options["head"]) if options["head"] else None
        if options["team"]:
            team_ids = [existing_team(options["team"])]
        elif expected is not None:
            raise CommandError("--head is of one team: name it with --team.")
        else:
            team_ids = all_team_ids()
        wrong = 0
        for team_id in team_ids:
            found = verify_and_record(team_id=team_id, expected=expected)
            self.stdout.write(f"{options['team'] or team_id}: {_summary(found)}")
            for finding in found.findings:
                self.stdout.write(f"  {finding}")
            wrong += len(found.findings)
        if wrong:
            raise CommandError(f"The log was tampered with: {_findings(wrong)}.")


def _summary(found: Verified) -> str:
    parts = [
        f"{found.rows} entries under {found.seals} seals",
        f"{found.unsealed} not sealed yet",
        f"{found.erased} erased in {found.erasures} erasures",
        f"head {found.head}" if found.head else "no seal yet",
        _findings(len(found.findings)) if found.findings else "as it was sealed",
    ]
    return "; ".join(parts)


def _findings(count: int) -> str:
    return "1 finding" if count == 1 else f"{count} findings"


def _head(given: str) -> Head:
    try:
        return Head.parse(given)
    except ValueError:
        raise CommandError(
            f"--head must be NUMBER:DIGEST as this command prints it, not {given!r}."
        ) from None
