"""`manage.py learn_patterns`: a directory's code becomes patterns, once."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memory.models import Memory
from memory.satellites.workflows.tests.test_patterns_api import PYTHON
from teams.tenancy import team_scope
from tests.support.cast import Cast


def run(root: Path, *, team: str = "acme") -> tuple[str, str]:
    out, errors = StringIO(), StringIO()
    call_command("learn_patterns", str(root), team=team, project="atlas", stdout=out, stderr=errors)
    return out.getvalue().strip(), errors.getvalue()


@pytest.fixture
def code(tmp_path: Path) -> Path:
    for name in ("Order", "Invoice", "Parcel"):
        (tmp_path / f"{name}.py").write_text(PYTHON.format(name=name))
    return tmp_path


def test_a_directory_is_learned_once_and_each_new_file_strengthens(acme: Cast, code: Path) -> None:
    assert run(code) == ("1 new, 0 strengthened", "")
    assert run(code) == ("0 new, 0 strengthened", "")
    (code / "later").mkdir()
    (code / "later" / "Refund.py").write_text(PYTHON.format(name="Refund"))
    assert run(code) == ("0 new, 1 strengthened", "")
    with team_scope(team_ids=[acme.team.id], actor="test"):
        last = Memory.objects.filter(form="pattern").latest("pk")
    assert [each["ref"].partition("#")[0] for each in last.payload["artifacts"]] == [
        "Invoice.py",
        "Order.py",
        "Parcel.py",
        "later/Refund.py",
    ]


def test_what_cannot_be_read_is_named_and_the_rest_learned(acme: Cast, code: Path) -> None:
    (code / "latin.py").write_bytes(b"x = '\xff\xfe'")
    (code / "nul.py").write_bytes(b"x = '\x00'")
    (code / "long.py").write_text("x = 1\n" * 40_000)
    (code / "broken.py").write_text("def (")
    (code / "notes.txt").write_text("not code")
    (code / ".hidden").mkdir()
    (code / ".hidden" / "bad.py").write_text("def (")
    said, errors = run(code)
    assert said == "1 new, 0 strengthened"
    told = {line.partition(":")[0].rpartition("/")[2] for line in errors.splitlines()}
    assert told == {"latin.py", "nul.py", "long.py", "broken.py"}


def test_no_team_or_no_directory_is_said(acme: Cast, code: Path) -> None:
    with pytest.raises(CommandError, match="There is no team 'acmee'"):
        run(code, team="acmee")
    with pytest.raises(CommandError, match="Is not a directory"):
        run(code / "Order.py")
    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert not Memory.objects.filter(form="pattern").exists()
