"""The tests' database as the migrations left it, given back to each file that finds it changed.

Tests that need several connections commit, and the guarantees forbid to delete what they wrote.
Their rows, and whatever a thread of theirs still does, must not be found by another file: which
files share a process is different in each run.
"""

from __future__ import annotations

import psycopg
from django.db import connections
from psycopg import sql
from psycopg.conninfo import make_conninfo

# Caches of a process are kept by ids, so that no id may come twice.
_IDS_APART = 1_000_000


def conninfo_of(alias: str) -> str:
    """How psycopg reaches the database of a Django connection, with its login, without options."""
    given = connections[alias].get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    return make_conninfo(**{name: given[name] for name in names if name in given})


class CleanDatabase:
    """A template of the migrated database `name`, and the way back to it.

    `maintenance` is the conninfo of a login that may create databases, to another database.
    """

    def __init__(self, *, name: str, maintenance: str) -> None:
        self.changed = False
        self._name = sql.Identifier(name)
        self._template = sql.Identifier(f"{name}_clean")
        self._maintenance = maintenance
        self._restored = 0

    def keep(self) -> None:
        """Take the database as it stands for the clean one."""
        self._copy(source=self._name, target=self._template)

    def restore(self) -> None:
        """Replace a changed database by the clean one, whoever is still connected to it."""
        if not self.changed:
            return
        self._copy(source=self._template, target=self._name)
        self.changed = False
        self._restored += 1
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "SELECT setval(format('%%I.%%I', schemaname, sequencename)::regclass, %s)"
                " FROM pg_sequences WHERE schemaname = 'public'",
                [self._restored * _IDS_APART],
            )
        connections["owner"].close()

    def remove(self) -> None:
        """Drop the template."""
        with psycopg.connect(self._maintenance, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(self._template))

    def _copy(self, *, source: sql.Identifier, target: sql.Identifier) -> None:
        owner = connections["owner"].settings_dict["USER"]
        for connection in connections.all():
            connection.close()
        with psycopg.connect(self._maintenance, autocommit=True) as maintenance:
            drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(target)
            create = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(
                target, source, sql.Identifier(owner)
            )
            maintenance.execute(drop)
            maintenance.execute(create)
