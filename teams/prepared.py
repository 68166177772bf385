"""The scope of a transaction, and statements that PostgreSQL plans once per connection."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar
from uuid import UUID

import numpy as np
import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model
from psycopg.adapt import Dumper
from psycopg.pq import Format

from teams.tracing import outgoing

GENERIC = "force_generic_plan"
# PostgreSQL's numbers of its types.
_FLOAT4, _FLOAT4_ARRAY = 700, 1021
_UUID, _UUID_ARRAY = 2950, 2951
# Attributes of a raw connection: that it knows how these types are sent, and for which scope the
# way of planning was set last.
_HAS_DUMPERS, _PLANNING = "_palimpsest_dumpers", "_palimpsest_planning"
_PARAMETER = re.compile(r"%\((\w+)\)s|%%")
_PART = re.compile(r"^-- part: (\w+)\n", re.MULTILINE)
# A condition that names the team where no index of the ordinary installation is to know it.
_HIDDEN_TEAM = re.compile(r"\(((?:\w+\.)?team_id = \$\d+)\) IS TRUE")
_COMMENT = re.compile(r"^ *--.*\n", re.MULTILINE)


_M = TypeVar("_M", bound=Model)


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of an answer: one agent or, with None, any, and one person or nobody."""

    agent_id: UUID | None
    end_user_id: UUID | None

    @property
    def settings(self) -> dict[str, str]:
        """The settings by which row-level security knows the reader (memory/sql/audience.sql)."""
        return {
            "palimpsest.reader": "on",
            "palimpsest.reader_agent": str(self.agent_id or ""),
            "palimpsest.reader_person": str(self.end_user_id or ""),
        }


@dataclass(frozen=True, slots=True)
class TeamScope:
    """The teams that a transaction may see, its actor and reason."""

    team_ids: tuple[UUID, ...] = ()
    actor: str = ""
    reason: str = ""
    conversation_id: UUID | None = None
    is_planned_once: bool = False
    reader: Reader | None = None


NO_SCOPE = TeamScope()
scope_in_force: ContextVar[TeamScope] = ContextVar("team_scope", default=NO_SCOPE)


def current_scope() -> TeamScope:
    """The scope in force; each `team_scope` makes one of its own, to be told apart by identity."""
    return scope_in_force.get()


class Uuids(np.ndarray[Any, np.dtype[np.bytes_]]):
    """Ids of sixteen bytes each, to be made by `view(Uuids)`: a parameter of the type uuid[]."""


def uuids(ids: Sequence[UUID]) -> Uuids:
    """The ids as one parameter of the type uuid[]: a list of many takes long to be written."""
    return np.array([each.bytes for each in ids], dtype="S16").view(Uuids)


class _VectorDumper(Dumper):
    """A vector as PostgreSQL's float4[] in its binary form; see array_recv there."""

    format = Format.BINARY
    oid = _FLOAT4_ARRAY
    kind, size, dtype = _FLOAT4, 4, ">f4"

    def dump(self, obj: Any) -> bytes:  # Any: as the base class has it
        """One dimension without NULLs, then each element with its length."""
        elements = np.empty(len(obj), dtype=[("length", ">i4"), ("value", self.dtype)])
        elements["length"] = self.size
        elements["value"] = obj
        header = [1, 0, self.kind, len(obj), 1] if len(obj) else [0, 0, self.kind]
        return np.array(header, dtype=">i4").tobytes() + elements.tobytes()


class _UuidsDumper(_VectorDumper):
    """Ids as PostgreSQL's uuid[] in its binary form."""

    oid = _UUID_ARRAY
    kind, size, dtype = _UUID, 16, "S16"


def fetch_planned(
    statement: str,
    parameters: Mapping[str, Any],  # Any: a parameter of any type
    *,
    once: bool = True,
    is_ordered: bool = False,
    also: Mapping[str, str] | None = None,
) -> list[tuple[Any, ...]]:
    """The rows of a statement with named parameters; call it in the team's scope.

    With `once` it is prepared and planned once for all parameters: planning a long statement takes
    longer than running it. Otherwise it is planned for these parameters. With `is_ordered` the
    planner uses an index that has the wanted order instead of sorting: its estimates of a growing
    team's rows are too low. `also` are further settings of the transaction, set in the same round
    trip. JSON comes parsed.
    """
    is_prepared = once and settings.DATABASE_PREPARE
    text, names = _numbered(statement)
    _set_planning(GENERIC if is_prepared else "auto", sort="off" if is_ordered else "on", also=also)
    return run_prepared(text, [parameters[name] for name in names], prepare=is_prepared)


def set_locally(values: Mapping[str, str], *, then: str = "") -> None:
    """Set settings of PostgreSQL by their names until the transaction ends, in one round trip.

    `then` is the call of a function that needs them.
    """
    if settings.DATABASE_DISTRIBUTED:
        # Citus passes on what SET LOCAL sets, and nothing that set_config does.
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            for name, value in values.items():
                cursor.execute(f"SET LOCAL {name} TO %s", [value])
            if then:
                cursor.execute(f"SELECT {then}")
        return
    each = [f"set_config('{name}', ${at}, true)" for at, name in enumerate(values, 1)]
    run_prepared(f"SELECT {', '.join([*each, *([then] if then else [])])}", list(values.values()))


def _set_planning(mode: str, *, sort: str, also: Mapping[str, str] | None) -> None:
    """Set how statements are planned, once for equal statements in a row of a team's scope.

    A savepoint that is rolled back undoes the setting unnoticed; that costs time and nothing else.
    """
    own: Any = connections[DEFAULT_DB_ALIAS]  # Any: what Django leaves untyped
    own.ensure_connection()
    scope = current_scope()
    wanted = (scope, mode, sort)
    before = getattr(own.connection, _PLANNING, None)
    if before is not None and before[0] is scope:
        is_set = before[1:] == (mode, sort)
    else:
        is_set = scope.is_planned_once and (mode, sort) == (GENERIC, "on")
    if also or not is_set or not scope.team_ids:
        # A plan for all parameters is made for an average team: in a database of few teams the
        # planner would choose to read whole tables. Parallel workers take longer to start than
        # what they would save.
        planning = {
            "plan_cache_mode": mode,
            "enable_seqscan": "off" if mode == GENERIC else "on",
            "enable_sort": sort,
            "max_parallel_workers_per_gather": "0",
        }
        set_locally({**planning, **(also or {})})
        setattr(own.connection, _PLANNING, wanted)


@lru_cache
def _numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """The statement with $1, $2, ... in the place of named parameters, and their names in order."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${numbers.setdefault(match[1], len(numbers) + 1)}" if match[1] else "%"

    text = _PARAMETER.sub(number, statement)
    return text, tuple(numbers)


def run_prepared(
    statement: str,
    parameters: Sequence[Any],  # Any: a parameter of any type
    *,
    prepare: bool = True,
) -> list[tuple[Any, ...]]:
    """The rows of one statement with $1, $2, ... for its parameters; answers come in binary.

    JSON comes parsed, past what the ORM has set for its own reading; a numpy array is a vector.
    Statements that are not the program's own, a few in number, must not be prepared. With
    DATABASE_PREPARE=false none is.
    """
    own: Any = connections[DEFAULT_DB_ALIAS]  # Any: what Django leaves untyped
    if settings.DATABASE_DISTRIBUTED:
        statement = _HIDDEN_TEAM.sub(r"\1", statement)
    run = partial(_fetched, own, prepare and settings.DATABASE_PREPARE)
    if not own.execute_wrappers:
        return run(statement, parameters)

    def execute(sql: str, given: Sequence[Any], *_: object) -> list[tuple[Any, ...]]:
        return run(sql, given)

    # As the ORM does with its own, so that who wraps statements meets these too.
    wrapped: Callable[..., Any] = execute
    for wrapper in reversed(own.execute_wrappers):
        wrapped = partial(wrapper, wrapped)
    found: list[tuple[Any, ...]] = wrapped(
        statement, parameters, False, {"connection": own, "cursor": None}
    )
    return found


def _fetched(
    own: Any, is_prepared: bool, statement: str, parameters: Sequence[Any]
) -> list[tuple[Any, ...]]:
    with own.wrap_database_errors:
        own.ensure_connection()
        raw = own.connection
        if not hasattr(raw, _HAS_DUMPERS):
            raw.adapters.register_dumper(np.ndarray, _VectorDumper)
            raw.adapters.register_dumper(Uuids, _UuidsDumper)
            setattr(raw, _HAS_DUMPERS, True)
        # A cursor of its own, which the instrumentation of psycopg does not know.
        told = outgoing("prepared statement", {"db.system.name": "postgresql"})
        with told, psycopg.RawCursor(raw) as cursor:
            if own.queries_logged:
                own.queries_log.append({"sql": statement, "time": "0"})
            # On only here: psycopg would keep the text of each statement of the ORM, values and
            # all, to count how often it comes.
            raw.prepare_threshold = 0 if is_prepared else None
            try:
                cursor.execute(_sent(statement), parameters, prepare=is_prepared, binary=True)
            finally:
                raw.prepare_threshold = None
            # Not `description`, which is made anew of all columns each time it is asked for.
            return [] if cursor.rownumber is None else cursor.fetchall()


def sql_text(app: str, name: str) -> str:
    """The text of `APP/sql/NAME.sql`."""
    return (settings.BASE_DIR / app / "sql" / f"{name}.sql").read_text()


@lru_cache
def load_sql_parts(module_file: str, name: str) -> Mapping[str, str]:
    """Parts of the file `name` beside a module, without comments; `-- part: NAME` begins each."""
    _, *pieces = _PART.split(Path(module_file).with_name(name).read_text(encoding="utf-8"))
    texts = [_COMMENT.sub("", piece).strip() for piece in pieces[1::2]]
    return dict(zip(pieces[::2], texts, strict=True))


@lru_cache
def _sent(statement: str) -> bytes:
    """As it is sent: the same object each time, which is looked up without being read anew."""
    return statement.encode()


@dataclass(frozen=True, slots=True)
class Columns(Generic[_M]):
    """The columns of a model, in one order for the statement and for the row made of its answer."""

    model: type[_M]

    def named(self, alias: str) -> str:
        """As a statement lists them, of the table that it calls `alias`."""
        return ", ".join(f"{alias}.{field.column}" for field in self.model._meta.concrete_fields)

    def take(self, values: Iterator[Any]) -> _M | None:  # Any: a column of any type
        """The row of the next values; None where an outer join found none."""
        names = [field.attname for field in self.model._meta.concrete_fields]
        own: Sequence[Any] = [next(values) for _ in names]
        if own[0] is None:
            return None
        return self.model.from_db(DEFAULT_DB_ALIAS, names, own)
