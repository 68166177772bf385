"""Long statements of reads, prepared and planned once a connection, with binary answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import connection

from teams.prepared import run_prepared
from teams.tenancy import current_scope

GENERIC = "force_generic_plan"
_PARAMETER = re.compile(r"%\((\w+)\)s|%%")
# On a connection: the scope for which the way of planning was set last, and that way.
_MARK = "_palimpsest_plan"


def fetch_planned(
    statement: str,
    parameters: Mapping[str, Any],  # Any: a parameter of any type
    *,
    once: bool = True,
    is_ordered: bool = False,
    also: Mapping[str, str] | None = None,
) -> list[tuple[Any, ...]]:
    """The rows of a statement with named parameters; call it in the team's scope.

    With `once` it is prepared, and planned once for all parameters, which for a long statement
    saves more time than running it takes; otherwise it is planned for these. One that is ordered
    takes the index that has its order, however few rows the planner believes there are: of a team
    that has grown since it last looked it expects one, and would read and sort them all. `also`
    are further settings of the transaction, made in the same round trip. JSON comes parsed, past
    what the ORM has set for its own reading.
    """
    is_prepared = once and settings.DATABASE_PREPARE
    text, names = _numbered(statement)
    _set_plan(GENERIC if is_prepared else "auto", sort="off" if is_ordered else "on", also=also)
    return run_prepared(text, [parameters[name] for name in names], prepare=is_prepared)


def _set_plan(mode: str, *, sort: str, also: Mapping[str, str] | None = None) -> None:
    """Set the way of planning for the transaction, once for all statements of a team's scope.

    A savepoint that was undone takes it back unnoticed; that costs time and nothing else.
    """
    connection.ensure_connection()
    raw: Any = connection.connection  # Any: the mark is ours
    now = (current_scope(), mode, sort)
    before = getattr(raw, _MARK, None)
    if before is not None and before[0] is now[0]:
        is_set = before[1:] == (mode, sort)
    else:
        is_set = now[0].is_planned_once and (mode, sort) == (GENERIC, "on")
    if also or not is_set or not now[0].team_ids:
        # A plan for all owners is made for the usual one, and where a database has few teams it
        # would read its tables from end to end for the least of them. Other processes take longer
        # to start than what they would take over.
        plan = {
            "plan_cache_mode": mode,
            "enable_seqscan": "off" if mode == GENERIC else "on",
            "enable_sort": sort,
            "max_parallel_workers_per_gather": "0",
        }
        set_locally({**plan, **(also or {})})
        setattr(raw, _MARK, now)


def set_locally(values: Mapping[str, str]) -> None:
    """Set settings of PostgreSQL by their names until the transaction ends, in one round trip."""
    each = ", ".join(f"set_config('{name}', ${at}, true)" for at, name in enumerate(values, 1))
    run_prepared(f"SELECT {each}", list(values.values()))


@lru_cache
def _numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """The statement with PostgreSQL's own parameters in the place of named ones, and their names.

    psycopg takes a long statement apart anew each time.
    """
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${numbers.setdefault(match[1], len(numbers) + 1)}" if match[1] else "%"

    text = _PARAMETER.sub(number, statement)
    return text, tuple(numbers)
