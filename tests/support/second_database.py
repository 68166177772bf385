"""Another, empty database of the tests' server, for what restores into one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connections
from psycopg.conninfo import make_conninfo

from tests.support.clean_database import (
    create_database,
    drop_database,
    maintenance_login,
    point_at,
    template_name,
)


@contextmanager
def in_second_database(name: str, *, is_migrated: bool = False) -> Iterator[None]:
    """Let every connection of the block go to a new database of that name, and drop it at the end.

    It is empty, or as the migrations left the tests' own. Call it outside of any transaction.
    """
    login = maintenance_login()
    before = connections["default"].settings_dict["NAME"]
    template = template_name() if is_migrated else "template1"
    create_database(name, template=template, login=login)
    with psycopg.connect(make_conninfo(login, dbname=name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    point_at(name)
    try:
        yield
    finally:
        point_at(before)
        drop_database(name, login=login)
