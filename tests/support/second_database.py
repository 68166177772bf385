"""Another, empty database of the tests' server, for what restores into one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.conf import settings
from django.db import connections
from psycopg import sql
from psycopg.conninfo import make_conninfo

from config import embedded
from tests.support.clean_database import conninfo_of


@contextmanager
def in_second_database(name: str, *, is_migrated: bool = False) -> Iterator[None]:
    """Let every connection of the block go to a new database of that name, and drop it at the end.

    It is empty, or as the migrations left the tests' own. Call it outside of any transaction.
    """
    maintenance = _maintenance()
    before = connections["default"].settings_dict["NAME"]
    owner = connections["owner"].settings_dict["USER"]
    quoted = sql.Identifier(name)
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(quoted)
    template = sql.Identifier(f"{before}_clean" if is_migrated else "template1")
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}")
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute(drop)
        connection.execute(create.format(quoted, template, sql.Identifier(owner)))
    with psycopg.connect(make_conninfo(maintenance, dbname=name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    _point_at(name)
    try:
        yield
    finally:
        _point_at(before)
        with psycopg.connect(maintenance, autocommit=True) as connection:
            connection.execute(drop)


def _point_at(name: str) -> None:
    for connection in connections.all():
        connection.close()
        connection.settings_dict["NAME"] = name


def _maintenance() -> str:
    if settings.HAS_OWN_POSTGRES:
        folder = str(embedded.postgres_socket_dir(embedded.home()))
        return make_conninfo(host=folder, port=5432, user="postgres", dbname="postgres")
    return conninfo_of("owner")
