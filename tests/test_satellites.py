"""The kernel stands without any one satellite, and without all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory.satellite import Satellite, satellites
from tests.support.examples import few_of
from tests.support.second_database import in_second_database

ROOT = Path(__file__).parents[1]
ALL = {each.label: each for each in satellites()}
NAME = "palimpsest_without"


def taken_out_with(label: str) -> set[str]:
    """The satellite and those that cannot be installed without it."""
    out = {label}
    while more := {each.label for each in ALL.values() if out & set(each.requires)} - out:
        out |= more
    return out


ALONE = " ".join(sorted(ALL))
# Satellites that require each other go together.
CASES = sorted({" ".join(sorted(taken_out_with(label))) for label in ALL} - {ALONE})


@pytest.mark.parametrize("names", [ALONE, *few_of(CASES, every=12)])
def test_the_kernel_works_without(names: str, committed_db: None) -> None:
    out = names.split()
    with in_second_database(NAME, is_migrated=not any(map(_has_tables, out))):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "tests.support.kernel_story"],
            cwd=ROOT,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "tests.support.settings_without",
                "WITHOUT_SATELLITES": names,
                "PALIMPSEST_DATABASE": NAME,
                "REDIS_PREFIX": f"palimpsest-without-{os.getpid()}",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr[-3000:]


def _has_tables(label: str) -> bool:
    """Returns whether the satellite has tables, so that a database without it differs."""
    app: Satellite = ALL[label]
    return any(app.get_models())
