"""`manage.py issue_key`: a new API key on stdout, alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from teams.errors import InvalidError
from teams.management.arguments import check_team_slug, positive_number
from teams.models import Role
from teams.services.keys import issue_key
from teams.services.people import (
    ensure_project,
    ensure_team,
    find_or_create_agent,
    set_person_role,
    slugs_like,
    team_id_of_slug,
)
from teams.tenancy import team_scope

_LIMITS = {"team": 100, "agent": 100, "name": 200}


class Command(BaseCommand):
    """Issue an API key of a team, or of one of its agents; both are created when new."""

    help = "Print a new API key of a team, alone on stdout. It is shown only this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, help="slug of the team, created when new")
        parser.add_argument("--agent", default="", help="bind the key to this agent's slug")
        parser.add_argument("--name", default="", help="what the key is for")
        parser.add_argument("--read-only", action="store_true", help="it may change nothing")
        parser.add_argument(
            "--project",
            action="append",
            default=[],
            help="the key knows this project's slug and no others; may be given several times",
        )
        parser.add_argument(
            "--people",
            choices=Role.values,
            help="what new people are to the team: members hear what other members say about the"
            " work, guests do not",
        )
        parser.add_argument("--days", type=positive_number, help="it expires after so many days")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        for option, limit in _LIMITS.items():
            _check(option, options[option], limit)
        for slug in options["project"]:
            _check("project", slug, 100)
        check_team_slug(options["team"])
        actor, days = "command:issue_key", options["days"]
        created = []
        if team_id_of_slug(options["team"]) is None:
            similar = ", ".join(f"'{each}'" for each in slugs_like(options["team"]))
            hint = f" Existing teams with a similar name: {similar}." if similar else ""
            created.append(f"Created the team '{options['team']}'.{hint}")
        team_id = ensure_team(slug=options["team"], actor=actor)
        with team_scope(team_ids=[team_id], actor=actor):
            agent = None
            if options["agent"]:
                try:
                    agent, is_new = find_or_create_agent(team_id=team_id, slug=options["agent"])
                except InvalidError as error:
                    raise CommandError(error.message) from None
                if is_new:
                    created.append(f"Created the agent '{agent.slug}'.")
            projects = [
                ensure_project(team_id=team_id, slug=each).pk for each in options["project"]
            ]
            if options["people"]:
                set_person_role(team_id=team_id, role=Role(options["people"]))
            issued = issue_key(
                team_id=team_id,
                agent=agent,
                project_ids=projects,
                name=options["name"],
                is_read_only=options["read_only"],
                expires_at=timezone.now() + timedelta(days=days) if days else None,
            )
        for line in created:
            self.stderr.write(line)
        self.stdout.write(issued.token)


def _check(option: str, value: str, limit: int) -> None:
    if len(value) > limit or not value.isprintable():
        raise CommandError(f"--{option} takes at most {limit} printable characters.")
