"""Which tables a team's export holds, in an order in which each comes after those it points to."""

from __future__ import annotations

from graphlib import TopologicalSorter

from django.apps import apps
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

from memory.satellite import satellites
from teams.models import Team

FORMAT = 1
MEDIA_TYPE = "application/x-ndjson"
# The first line of an export has it.
MARK = "palimpsest_export"
# The kernel's tables that stay behind: credentials, logins of the installation, and what only its
# servers need.
_KEPT_BACK = {
    "audit_writtenbatch": "batches of counts that were written down already",
    "memory_searchgraph": "the approximate index, which is built anew",
    "routing_spendreservation": "money held for calls under way",
    "teams_apikey": "digests of API keys: issue new ones",
    "teams_idempotentrequest": "answers kept for a day for whoever asks again",
    "teams_membership": "logins of the admin, which are the installation's",
}
# What a row of an export is given in place of its value: its place in an index that stays behind.
RESET = {"memory_searchentry": {"graph_dimensions": "0", "graph_number": "0"}}
_COLUMNS = """
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY (%s)
    AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
GROUP BY c.relname
"""


def exported_tables() -> list[str]:
    """The tables of an export, the team's own first."""
    models: list[type[Model]] = [Team, *(each for each in apps.get_models() if _is_of_team(each))]
    before = {each: _points_to(each) & set(models) - {each} for each in models}
    tables = [each._meta.db_table for each in TopologicalSorter(before).static_order()]
    left_out = kept_back()
    return [table for table in tables if table not in left_out]


def kept_back() -> set[str]:
    """Returns the tables of teams that an export leaves out."""
    return {*_KEPT_BACK, *(table for each in satellites() for table in each.kept_back)}


def columns_of(cursor: CursorWrapper, tables: list[str]) -> dict[str, list[str]]:
    """The columns of each table that are written and not computed."""
    cursor.execute(_COLUMNS, [tables])
    found: dict[str, list[str]] = dict(cursor.fetchall())
    return {table: found[table] for table in tables}


def team_column(table: str) -> str:
    """The column that says whose a row is."""
    return "id" if table == Team._meta.db_table else "team_id"


def _is_of_team(model: type[Model]) -> bool:
    return any(field.name == "team" for field in model._meta.concrete_fields)


def _points_to(model: type[Model]) -> set[type[Model]]:
    related = (field.related_model for field in model._meta.concrete_fields)
    return {each for each in related if isinstance(each, type) and issubclass(each, Model)}
