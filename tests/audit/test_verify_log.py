"""`manage.py verify_log`: what it says, and what it refuses."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.support.cast import Cast
from tests.support.seals import Sealed, by_owner, sealed, town

__all__ = ["sealed", "town"]


def run(*args: str) -> str:
    """Runs the command and returns its output."""
    out = StringIO()
    call_command("verify_log", *args, stdout=out)
    return out.getvalue()


def test_the_command_says_that_a_log_stands(sealed: Sealed) -> None:
    town, _, _ = sealed

    said = run("--team", town.team.slug)

    assert "4 entries under 2 seals; 1 not sealed yet" in said
    assert "as it was sealed" in said
    head = said.split("head ")[1].split(";")[0]
    assert "as it was sealed" in run("--team", town.team.slug, "--head", head)


def test_the_command_names_what_was_changed_and_fails(sealed: Sealed) -> None:
    town, _, numbers = sealed
    by_owner(f"UPDATE audit_memorylog SET actor = 'nobody' WHERE seq = {numbers[0]}")
    out = StringIO()

    with pytest.raises(CommandError, match=r"1 finding\."):
        call_command("verify_log", "--team", town.team.slug, stdout=out)

    assert f"log entry {numbers[0]}: it was changed" in out.getvalue()


@pytest.mark.parametrize("args", [["--team", "nowhere"], ["--head", "1:00"]])
def test_the_command_refuses_what_it_cannot_mean(committed_db: None, args: list[str]) -> None:
    with pytest.raises(CommandError):
        run(*args)


def test_a_head_that_is_none_is_refused(town: Cast) -> None:
    with pytest.raises(CommandError, match="NUMBER:DIGEST"):
        run("--team", town.team.slug, "--head", "x")
