"""`manage.py memory_at`: a team's memory at a moment, and what changed until another."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.dateparse import parse_datetime

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.models.memory import SHOWN_STATUSES
from memory.selectors.history.states import Change, all_changes, fields_of, state_at
from memory.selectors.memories import ALL, MemoryFilters
from teams.errors import DomainError
from teams.services.people import team_id_of_slug
from teams.tenancy import team_scope

ACTOR = "command:memory_at"
_ROWS_AT_ONCE = 1000


class Command(BaseCommand):
    """Print the state of a team's memory, rebuilt from the log and the texts."""

    help = (
        "Print what a team knew at a moment, rebuilt from the log, newest first; with --diff-to,"
        " what changed from then to a later moment. Times carry their zone, as in"
        " 2026-11-01T12:00:00Z."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("time", type=_moment, help="as in 2026-11-01T12:00:00Z")
        parser.add_argument("--team", required=True, help="slug of the team")
        parser.add_argument("--diff-to", type=_moment, metavar="TIME", help="a later moment")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument("--user", help="only memories about this person")
        parser.add_argument("--agent", help="only memories of this agent")
        parser.add_argument(
            "--status",
            action="append",
            default=[],
            choices=[ALL, *(name for name, _ in SHOWN_STATUSES)],
            help="active and disputed when left out",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        team_id = team_id_of_slug(options["team"])
        if team_id is None:
            raise CommandError(f"There is no team '{options['team']}'.")
        viewer = Viewer(team_id=team_id, actor=ACTOR)
        filters = MemoryFilters(
            user=options["user"], agent=options["agent"], status=options["status"]
        )
        try:
            with team_scope(team_ids=[team_id], actor=ACTOR):
                if options["diff_to"] is None:
                    self._state(viewer, options["time"], filters, as_json=options["json"])
                else:
                    self._changes(viewer, filters, options)
        except DomainError as error:
            raise CommandError(error.message) from None

    def _state(
        self, viewer: Viewer, at: datetime, filters: MemoryFilters, *, as_json: bool
    ) -> None:
        state = state_at(viewer=viewer, at=at, filters=filters)
        for memory in state.memories.order_by("-id").iterator(chunk_size=_ROWS_AT_ONCE):
            self.stdout.write(_json(_document(memory)) if as_json else _line(memory))

    def _changes(
        self, viewer: Viewer, filters: MemoryFilters, options: dict[str, Any]
    ) -> None:  # Any: Django's own options
        changes = all_changes(
            viewer=viewer, at=options["time"], to=options["diff_to"], filters=filters
        )
        for change in changes:
            if options["json"]:
                self.stdout.write(_json(_change_document(change)))
            else:
                for line in _change_lines(change):
                    self.stdout.write(line)


def _moment(text: str) -> datetime:
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no time with its zone, as in 2026-11-01T12:00:00Z"
        )
    return moment


def _document(memory: Memory) -> dict[str, object]:
    return {
        "id": memory.pk,
        **fields_of(memory),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
    }


def _change_document(change: Change) -> dict[str, object]:
    memory = change.after or change.before
    return {
        "id": change.memory_id,
        "change": change.kind.value,
        "fields": {name: {"from": old, "to": new} for name, (old, new) in change.fields.items()},
        "memory": memory and _document(memory),
    }


def _line(memory: Memory) -> str:
    marks = [memory.memory_type, memory.status, f"importance {memory.importance}"]
    if memory.is_pinned:
        marks.append("pinned")
    return f"{memory.pk}  [{', '.join(marks)}] {_one_line(memory.content)}"


def _change_lines(change: Change) -> list[str]:
    memory = change.after or change.before
    lines = [f"{change.kind:<8} {change.memory_id}  {_one_line(memory.content) if memory else ''}"]
    lines += [
        f"         {name}: {_one_line(_json(old))} -> {_one_line(_json(new))}"
        for name, (old, new) in change.fields.items()
    ]
    return lines


def _one_line(text: str) -> str:
    """A text that cannot pass for more lines, or for the terminal's own signs."""
    return "".join(each if each.isprintable() else " " for each in text)


def _json(value: object) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
