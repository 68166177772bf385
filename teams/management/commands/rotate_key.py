"""`manage.py rotate_key`: a new key in place of an old one, alone on stdout."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from teams.errors import DomainError
from teams.management.arguments import existing_team, positive_number
from teams.services.keys import key_of_prefix, rotate_key
from teams.tenancy import team_scope


class Command(BaseCommand):
    """Issue a key like the named one, which stays valid for the overlap."""

    help = (
        "Print a new API key of the same agent, name and rights as an old one, alone on stdout."
        " The old one stays valid for the overlap, so that programs can change over."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("prefix", help="the part of the old key between its underscores")
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument(
            "--overlap-hours", type=positive_number, default=24.0, help="24 unless told"
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        team_id = existing_team(options["team"])
        try:
            with team_scope(team_ids=[team_id], actor="command:rotate_key"):
                key = key_of_prefix(team_id=team_id, prefix=options["prefix"])
                issued = rotate_key(
                    team_id=team_id,
                    key_id=key.pk,
                    now=timezone.now(),
                    overlap=timedelta(hours=options["overlap_hours"]),
                )
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(issued.token)
