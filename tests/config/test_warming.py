"""A serving process has loaded what its requests need before the first of them comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.embedded import PROJECT_ROOT

_WARM = """
from config.wsgi import application
from config.warming import warm_up

print(warm_up())
"""
# As gunicorn does it: the application first, then its hook.
_HOOK = """
import gc
import sys
from types import SimpleNamespace
from config.wsgi import application
from config import gunicorn_conf
from memory.understanding.judging import small_judge

needed = ("memory.api.urls", "memory.api.views.retrieval")
was_judged = bool(small_judge.cache_info().currsize)
before = [name for name in needed if name in sys.modules]
gunicorn_conf.post_worker_init(SimpleNamespace(age=2))
after = [name for name in needed if name in sys.modules]
is_judged = bool(small_judge.cache_info().currsize)
print(before, after, was_judged, is_judged, gc.get_freeze_count() > 0)
"""


def run(code: str, **environment: str) -> str:
    """What a process of its own prints last."""
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
    metrics = str(tmp_path)

    before, after = run(_HOOK, PROMETHEUS_MULTIPROC_DIR=metrics).split("] ", 1)

    assert "retrieval" not in before
    loaded = "['memory.api.urls', 'memory.api.views.retrieval']"
    # The judge's model was not loaded and is now, and collections leave all of it alone.
    assert after == f"{loaded} False True True"
