"""`manage.py load_demo`: a team with a story, to look around in."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from config.embedded import home, program
from memory.satellites.demo.services import load_demo
from memory.understanding.tools import default_tools
from teams.management.arguments import check_team_slug
from teams.services.people import ensure_team

ACTOR = "command:load_demo"
_TRY_IT = """
Try it on the running server:

  URL={url}  # or where the server listens
  KEY=$({program} key --team {team})
  curl -s -H "Authorization: Bearer $KEY" "$URL/v1/memories?user=sarah&limit=20"
  curl -s -H "Authorization: Bearer $KEY" "$URL/v1/memories?status=disputed"
  curl -s -H "Authorization: Bearer $KEY" "$URL/v1/memories?status=superseded"
  curl -s -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
    -d '{{"query": "When does the beta start?", "agent": "kyra", "user": "sarah"}}' \\
    "$URL/v1/retrieve"

In the admin ($URL/admin/) a superuser sees every team; this makes one: {program} createsuperuser
"""


class Command(BaseCommand):
    """Load the demo's story; running it again adds what is missing."""

    help = "Fill a team with a small story: agents, people, conversations and their memories."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", default="demo", help="slug of the team, created when new")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        check_team_slug(options["team"])
        made = load_demo(
            team_id=ensure_team(slug=options["team"], actor=ACTOR),
            tools=default_tools(),
            actor=ACTOR,
            now=timezone.now(),
        )
        states = ", ".join(f"{count} {status}" for status, count in made.memories.items())
        self.stdout.write(
            f"Team {options['team']}: {made.conversations} conversations with"
            f" {made.new_messages} new messages, {made.new_memories} new memories.\n"
            f"It now has {states} memories; open disputes: {made.open_disputes}."
        )
        url = f"http://127.0.0.1:{os.environ.get('PORT') or 8000}"
        self.stdout.write(_TRY_IT.format(team=options["team"], program=program(home()), url=url))
