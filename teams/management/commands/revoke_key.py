"""`manage.py revoke_key`: end a key's validity at once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from teams.errors import NotFoundError
from teams.management.arguments import existing_team
from teams.services.keys import key_of_prefix, revoke_key
from teams.tenancy import team_scope


class Command(BaseCommand):
    """Revoke one key, named by its prefix."""

    help = "Revoke an API key: its requests are refused from now on. It cannot be undone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("prefix", help="the part of the key between its underscores")
        parser.add_argument("--team", required=True, help="slug of the team")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        team_id = existing_team(options["team"])
        try:
            with team_scope(team_ids=[team_id], actor="command:revoke_key"):
                key = key_of_prefix(team_id=team_id, prefix=options["prefix"])
                key = revoke_key(team_id=team_id, key_id=key.pk, now=timezone.now())
        except NotFoundError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"The key {key.prefix} is revoked since {key.revoked_at:%Y-%m-%d %H:%M}.")
