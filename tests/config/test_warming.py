"""A serving process has loaded what its requests need before the first of them comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.embedded import PROJECT_ROOT

_WARM = """
import django
from config.web_server import warm_up

django.setup()
print(warm_up())
"""
_SERVING = """
import gc
import os
import sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
from config.web_server import application

application()
from memory.understanding.judging import small_judge

loaded = [name in sys.modules for name in ("memory.api.urls", "memory.api.retrieval")]
print(*loaded, bool(small_judge.cache_info().currsize), gc.get_freeze_count() > 0)
"""


def run(code: str, **environment: str) -> str:
    """Runs code in a separate process and returns the last line of its output."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT_ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.usefixtures("clean_database")
def test_a_read_is_made_before_the_process_serves() -> None:
    assert run(_WARM) == "True"


def test_without_a_database_it_serves_all_the_same(tmp_path: Path) -> None:
    nowhere = f"postgres:///nothing?host={tmp_path}"

    assert run(_WARM, DATABASE_URL=nowhere) == "False"


def test_the_server_warms_each_of_its_processes(tmp_path: Path) -> None:
    """The API and the judge's model are loaded, and collections leave all of it alone."""
    assert run(_SERVING, PROMETHEUS_MULTIPROC_DIR=str(tmp_path)) == "True True True True"
