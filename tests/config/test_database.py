"""What a server must be before anything is created on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError

from config.management.commands.migrate import check_pgvector, check_postgres


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
