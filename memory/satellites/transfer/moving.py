"""A team on its way from this deployment to another one."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import connections
from django_redis import get_redis_connection

from audit.services.events import flush_events
from memory.reading.usage import flush_noted_usage
from memory.satellites.transfer.team_export import (
    TeamExport,
    kept_back,
    team_column,
    team_tables,
    write_export,
)
from teams.models import ApiKey, Team
from teams.services.moves import (
    OWNER,
    freeze_team,
    note_export,
    past_triggers,
    redirect_team,
    thaw_team,
)

ACTOR = "command:move_team"
# What stays, so that clients are told where the team is.
_STAYING = (Team._meta.db_table, ApiKey._meta.db_table)


def start_move(*, team_id: UUID, file: Path, now: datetime) -> int:
    """Freezes the team and writes all of it to a file; returns the number of lines.

    It stays frozen until `thaw_team` or `end_move`. Raises what `freeze_team` and `write_export`
    raise, with the team as it was.
    """
    if file.exists():
        raise FileExistsError(f"{file} is there already; name a new file.")
    # Counts that wait in Redis and belong to what was answered before.
    flush_noted_usage()
    flush_events()
    is_first = freeze_team(team_id=team_id, now=now)
    try:
        lines = write_export(TeamExport(team_id=team_id, actor=ACTOR, now=now, is_move=True), file)
    except BaseException:
        if is_first:
            thaw_team(team_id=team_id)
        raise
    note_export(team_id=team_id, now=now)
    return lines


def left_behind(*, team_id: UUID) -> dict[str, str]:
    """Returns the rows of the team that a move leaves behind: how many and why, by table."""
    found = {}
    with connections[OWNER].cursor() as cursor:
        for table, why in kept_back(is_move=True).items():
            cursor.execute(f"SELECT count(*) FROM {table} WHERE team_id = %s", [team_id])  # noqa: S608
            (count,) = cursor.fetchone()
            if count:
                found[table] = f"{count:,} ({why})"
    return found


def end_move(*, team_id: UUID, moved_to: str) -> int:
    """Sends whoever asks to the new address and removes the team's rows here; returns how many.

    Its name and the digests of its keys stay. May be run again after it was interrupted. Writers
    of all teams wait for a table while its rows are removed. Raises ConflictError for a team that
    was not exported.
    """
    redirect_team(team_id=team_id, moved_to=moved_to)
    ApiKey.objects.using(OWNER).filter(team_id=team_id).update(agent=None, project_ids=[])
    _empty_admin_log(team_id)
    tables = [table for table in reversed(team_tables()) if table not in _STAYING]
    removed = sum(_remove(table, team_id) for table in tables)
    client = get_redis_connection("default")
    for key in client.scan_iter(match=f"{settings.REDIS_PREFIX}:*{team_id}*", count=1000):
        client.delete(key)
    return removed


def _empty_admin_log(team_id: UUID) -> None:
    """Removes texts from Django's log of the admin, whose rows belong to no team."""
    with connections[OWNER].cursor() as cursor:
        for model in apps.get_models():
            table, key = model._meta.db_table, model._meta.pk
            if table in team_tables() and key is not None:
                cursor.execute(
                    "UPDATE django_admin_log SET object_repr = '', change_message = ''"  # noqa: S608
                    f" WHERE object_id IN (SELECT {key.column}::text FROM {table}"
                    f" WHERE {team_column(table)} = %s)",
                    [team_id],
                )


def _remove(table: str, team_id: UUID) -> int:
    with past_triggers([table]) as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE team_id = %s", [team_id])  # noqa: S608
        return int(cursor.rowcount)
