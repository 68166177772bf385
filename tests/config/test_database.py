"""Requirements on a database server, checked before anything is created on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError
from psycopg.conninfo import conninfo_to_dict

from config.embedded import PROJECT_ROOT
from config.management.commands.migrate import check_pgvector, check_postgres
from tests.support.clean_database import conninfo_of


def refusal(check: Callable[[Any], None], version: object) -> str:
    """The line that refuses the version; empty when it will do."""
    try:
        check(version)
    except CommandError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("version", [160000, 160004, 170002, 180004])
def test_postgresql_16_and_newer_will_do(version: int) -> None:
    assert refusal(check_postgres, version) == ""


@pytest.mark.parametrize("version", [90624, 140011, 150018])
def test_an_older_postgresql_gets_one_clear_line(version: int) -> None:
    line = refusal(check_postgres, version)

    assert "PostgreSQL 16" in line
    assert str(version // 10000) in line
    assert "\n" not in line


@pytest.mark.parametrize("version", ["0.8.0", "0.8.5", "0.10.0", "1.0"])
def test_pgvector_0_8_and_newer_will_do(version: str) -> None:
    assert refusal(check_pgvector, version) == ""


@pytest.mark.parametrize("version", ["0.7.4", "0.5.1", ""])
def test_an_older_or_missing_pgvector_gets_one_clear_line(version: str) -> None:
    line = refusal(check_pgvector, version)

    assert "pgvector 0.8" in line
    assert "\n" not in line


# What each connection of the product is opened with, and what the server says of it.
_CONNECT = """
import json
import django
django.setup()
from django.db import connections
told = {}
for alias in connections:
    own = connections[alias]
    sent = own.get_connection_params()
    with own.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('application_name'), current_setting('statement_timeout'),"
            " current_setting('work_mem'), current_setting('role')"
        )
        told[alias] = [sent.get("sslmode"), sent["connect_timeout"], *cursor.fetchone()]
print(json.dumps(told))
"""


@pytest.mark.usefixtures("clean_database")
@pytest.mark.parametrize("pool_size", ["0", "2"])
def test_all_logins_keep_the_options_of_their_urls(pool_size: str) -> None:
    def url_of(alias: str, options: str) -> str:
        given = conninfo_to_dict(conninfo_of(alias))
        login = f"{given['user']}:{given.get('password', '')}@"
        server = f"host={given['host']}&port={given.get('port') or 5432}"
        return f"postgres://{login}/{given['dbname']}?{server}&sslmode=prefer&{options}"

    app = url_of(
        "default",
        "application_name=app&connect_timeout=9"
        "&options=-c%20statement_timeout%3D7s%20-c%20work_mem%3D5MB",
    )
    owner = url_of("owner", "application_name=owner&options=-c%20work_mem%3D6MB")
    replica = url_of("default", "application_name=replica")

    done = subprocess.run(
        [sys.executable, "-c", _CONNECT],
        cwd=PROJECT_ROOT,
        env={
            **os.environ,
            "DATABASE_URL": app,
            "DATABASE_OWNER_URL": owner,
            "DATABASE_REPLICA_URL": f"{replica}, {app}",
            "DATABASE_POOL_SIZE": pool_size,
        },
        capture_output=True,
        text=True,
        check=True,
    )

    told = json.loads(done.stdout)
    assert told["default"] == ["prefer", "9", "app", "7s", "5MB", "palimpsest_app"]
    assert told["replica1"] == ["prefer", 2, "replica", "1min", "4MB", "palimpsest_app"]
    assert told["replica2"] == told["default"]
    assert told["owner"][0:3] == ["prefer", 5, "owner"]
    assert told["owner"][4] == "6MB"
