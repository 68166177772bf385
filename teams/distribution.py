"""The statements that spread a database over servers by team with Citus, read from its catalogue.

The reasons, and what Citus says to each construct in use, are in docs/decisions/0091-citus.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from django.apps import apps
from django.db.backends.utils import CursorWrapper

from teams.models import Team

# Tables that are not a part of another one and not an extension's.
_TABLES = """
SELECT c.relname, EXISTS (
    SELECT FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attname = 'team_id' AND NOT a.attisdropped
)
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
        AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname
"""
_REFERENCES = """
SELECT DISTINCT c.relname, target.relname
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid
JOIN pg_class target ON target.oid = k.confrelid
WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.conrelid <> k.confrelid
    AND NOT c.relispartition AND NOT target.relispartition
ORDER BY 1, 2
"""
_UNIQUE_RULES = """
SELECT c.relname, i.relname, k.conname, pg_get_indexdef(i.oid),
    ARRAY(SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum = ANY (x.indkey::int2[]))
FROM pg_index x
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_class i ON i.oid = x.indexrelid
LEFT JOIN pg_constraint k ON k.conindid = i.oid AND k.contype IN ('u', 'p')
WHERE c.relnamespace = 'public'::regnamespace AND x.indisunique AND NOT c.relispartition
ORDER BY 1, 2
"""
# With the table itself or, for a part of one, the whole.
_POLICIES = """
SELECT coalesce(whole.relname, p.tablename), p.tablename, p.policyname, p.permissive, p.qual,
    p.with_check
FROM pg_policies p
LEFT JOIN pg_inherits i ON i.inhrelid = format('public.%I', p.tablename)::regclass
LEFT JOIN pg_class whole ON whole.oid = i.inhparent
WHERE p.schemaname = 'public'
ORDER BY p.tablename, p.permissive, p.policyname
"""
# Distributed tables, reference tables and local ones that Citus knows.
_DONE = """
SELECT c.relname FROM pg_catalog.pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
WHERE c.relnamespace = 'public'::regnamespace AND (p.partmethod = 'h') = (c.relname = ANY (%s))
"""
# Functions whose statements are planned once for all teams, or hide the team from the planner.
_FUNCTIONS = """
SELECT pg_get_functiondef(p.oid) FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f' AND (
    p.proconfig @> '{plan_cache_mode=force_generic_plan}'
    OR p.prosrc ~ '\\mteam_id IS NOT DISTINCT FROM'
)
ORDER BY p.proname
"""
# A call of a function in a subquery of its own, as PostgreSQL writes it: it is then called once
# for a statement.
_CALL_IN_SUBQUERY = re.compile(r"\( SELECT (\w+\([^()]*\)) AS \w+\)")


_FUNCTION = re.compile(
    r"^CREATE OR REPLACE FUNCTION (?P<name>\w+)\(.*?\$\$(?P<body>.*?)\$\$(?=;$)",
    re.MULTILINE | re.DOTALL,
)


class Place(StrEnum):
    """The kind of table that Citus makes of one."""

    DISTRIBUTED = "distributed"
    REFERENCE = "reference"
    # On the coordinator; Citus has to know it for its references to a reference table.
    KNOWN = "known"
    LOCAL = "local"


class NotDistributableError(Exception):
    """A schema that cannot be distributed by team; the message names the table."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of a database: the place of each, and the tables that it references."""

    places: Mapping[str, Place]
    references: Mapping[str, frozenset[str]]

    def of(self, place: Place) -> list[str]:
        """The tables of that place, each behind those that it references."""
        try:
            order = list(TopologicalSorter(self.references).static_order())
        except CycleError as error:
            around = " → ".join(error.args[1])
            raise NotDistributableError(f"Tables reference each other: {around}.") from None
        return [table for table in order if self.places[table] is place]


def distribution_column(table: str) -> str:
    """The column by which a table of teams is distributed."""
    return "id" if table == Team._meta.db_table else "team_id"


def read_schema(cursor: CursorWrapper) -> Schema:
    """Returns the place of every table.

    A table with a `team_id`, and that of the teams, is distributed; one that such a table
    references is a reference table. Raises NotDistributableError for a reference to a distributed
    table from one that is not.
    """
    cursor.execute(_TABLES)
    has_team = {
        table: has_column or table == Team._meta.db_table for table, has_column in cursor.fetchall()
    }
    cursor.execute(_REFERENCES)
    references: dict[str, set[str]] = {table: set() for table in has_team}
    for table, target in cursor.fetchall():
        references[table].add(target)
        if has_team[target] and not has_team[table]:
            raise NotDistributableError(
                f"{table} has no team_id and references {target}, which has one: Citus keeps no"
                f" reference to a distributed table. Give {table} a team_id."
            )
    shared = {
        target
        for table, targets in references.items()
        for target in targets
        if has_team[table] and not has_team[target]
    }
    with_shared = _connected(shared, references, among={t for t in has_team if not has_team[t]})

    def place(table: str) -> Place:
        if has_team[table]:
            return Place.DISTRIBUTED
        if table in shared:
            return Place.REFERENCE
        return Place.KNOWN if table in with_shared else Place.LOCAL

    return Schema(
        {table: place(table) for table in has_team},
        {table: frozenset(each) for table, each in references.items()},
    )


def _connected(
    first: Iterable[str], references: Mapping[str, Iterable[str]], *, among: Collection[str]
) -> set[str]:
    """The first ones and those that references connect with them, in either direction."""
    found, before = set(first), set[str]()
    while found != before:
        before = set(found)
        found |= {t for t in among if not before.isdisjoint(references[t])}
        found |= {target for t in before for target in references[t] if target in among}
    return found


def statements(cursor: CursorWrapper) -> Iterator[str]:
    """The statements in their order, without those whose work is done; run them as the owner."""
    schema = read_schema(cursor)
    distributed, shared = schema.of(Place.DISTRIBUTED), schema.of(Place.REFERENCE)
    done = _done(cursor, distributed)
    new = [table for table in distributed if table not in done]
    yield from _policies(cursor, distributed)
    yield from _unique_rules_of_teams(cursor, new)
    yield from _functions_for_parts(cursor)
    yield from _functions_that_name_the_team(cursor)
    # Else Citus takes up every table that references a reference table, and then refuses to
    # distribute those with an identity column.
    yield "SET citus.enable_local_reference_table_foreign_keys TO off"
    for table in shared:
        if table not in done:
            yield f"SELECT create_reference_table('{table}')"
    for table in new:
        beside = f", colocate_with => '{distributed[0]}'" if table != distributed[0] else ""
        yield f"SELECT create_distributed_table('{table}', '{distribution_column(table)}'{beside})"
    yield "SET citus.enable_local_reference_table_foreign_keys TO on"
    known = schema.of(Place.KNOWN)
    for table in known:
        if table not in done:
            yield (
                f"SELECT citus_add_local_table_to_metadata('{table}',"
                " cascade_via_foreign_keys => true)"
            )
            done |= _connected([table], schema.references, among=[*known, *shared])


def _done(cursor: CursorWrapper, distributed: list[str]) -> set[str]:
    cursor.execute("SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL")
    (has_citus,) = cursor.fetchone()
    if not has_citus:
        return set()
    cursor.execute(_DONE, [distributed])
    return {table for (table,) in cursor.fetchall()}


def _policies(cursor: CursorWrapper, tables: Collection[str]) -> Iterator[str]:
    """The policies in the words that hold on the parts of a table.

    Citus takes no subquery in a policy, so that its functions are called for each row there. And it
    makes parts without AS RESTRICTIVE: what only takes rows away would add to what others show, so
    it becomes a part of the policy that shows them.
    """
    cursor.execute(_POLICIES)
    of_table: dict[str, list[tuple[str, bool, str, str]]] = {}
    for whole, table, policy, permissive, using, check in cursor.fetchall():
        if whole in tables:
            of_table.setdefault(table, []).append(
                (policy, permissive == "PERMISSIVE", using, check)
            )
    for table, policies in of_table.items():
        shown = [policy for policy, is_permissive, *_ in policies if is_permissive]
        texts = [text for _, _, *both in policies for text in both if text]
        if len(policies) == 1 and not any(map(_CALL_IN_SUBQUERY.search, texts)):
            continue
        using = " AND ".join(each for _, _, each, _ in policies)
        check = policies[0][3]
        wanted = [_CALL_IN_SUBQUERY.sub(r"\1", each) for each in (using, check)]
        if len(shown) != 1 or any("SELECT" in each for each in wanted):
            raise NotDistributableError(
                f"The policies of {table} must be one that shows rows and any that take some away,"
                " without subqueries but «(SELECT function())», as Citus keeps no others."
            )
        yield f"ALTER POLICY {shown[0]} ON {table} USING ({wanted[0]}) WITH CHECK ({wanted[1]})"
        for policy, is_permissive, *_ in policies:
            if not is_permissive:
                yield f"DROP POLICY {policy} ON {table}"


def _functions_for_parts(cursor: CursorWrapper) -> Iterator[str]:
    """The functions of the apps' `sql/distributed.sql`, in place of those of the same names."""
    cursor.execute(
        "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    )
    sources = dict(cursor.fetchall())
    for app in apps.get_app_configs():
        path = Path(app.path) / "sql" / "distributed.sql"
        for name, body, function in _functions_in(path) if path.exists() else ():
            if sources.get(name) != body:
                yield function


def _functions_in(path: Path) -> Iterator[tuple[str, str, str]]:
    for found in _FUNCTION.finditer(path.read_text(encoding="utf-8")):
        yield found["name"], found["body"], found[0]


def _functions_that_name_the_team(cursor: CursorWrapper) -> Iterator[str]:
    """Citus must know the team when it plans: for these parameters, by an equality."""
    cursor.execute(_FUNCTIONS)
    for (definition,) in cursor.fetchall():
        yield re.sub(
            r"\bteam_id IS NOT DISTINCT FROM\b",
            "team_id =",
            definition.replace("'force_generic_plan'", "'force_custom_plan'"),
        ).strip()


def _unique_rules_of_teams(cursor: CursorWrapper, tables: list[str]) -> Iterator[str]:
    """Citus keeps a unique rule within a server: one without the team becomes a plain index."""
    cursor.execute(_UNIQUE_RULES)
    for table, index, constraint, definition, columns in cursor.fetchall():
        if table in tables and distribution_column(table) not in columns:
            yield (
                f"ALTER TABLE {table} DROP CONSTRAINT {constraint}"
                if constraint
                else f"DROP INDEX {index}"
            )
            yield definition.replace("CREATE UNIQUE INDEX", "CREATE INDEX", 1)
