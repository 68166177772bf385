"""Commits of git as memories."""

from __future__ import annotations

import re
import subprocess
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from rest_framework.test import APIClient

from memory.models import Memory, MemoryArtifact
from memory.satellites import transfer
from memory.satellites.transfer.formats.items import ImportFileError, ItemMaker, Names
from memory.satellites.transfer.formats.reading import read_items
from memory.satellites.transfer.tests.test_imports import finish, send
from memory.understanding.tools import Tools
from tests.support.cast import Cast

LOG = """\
commit 1111111111111111111111111111111111111111
Author: Ada Lovelace <ada@example.org>
Date:   2024-03-01T10:00:00+01:00

    Replace tokens by sessions

    Tokens grew beyond the header's limit.

10\t2\tsrc/auth/login.ts
-\t-\tlogo.png
3\t0\tsrc/{old => auth}/cookie.ts

commit 2222222222222222222222222222222222222222
Merge: 1111111 3333333
Author: Ada Lovelace <ada@example.org>
Date:   Fri Mar 1 11:00:00 2024 +0100

    Merge branch 'sessions'
"""


def read(text: str) -> list[dict[str, Any]]:
    make = ItemMaker(names=Names(project="shop"), now=timezone.now())
    found, items = read_items(BytesIO(text.encode()), make=make, given=None)
    assert found == "git"
    return list(items)


def test_a_commit_is_an_episode_with_its_files() -> None:
    (item,) = read(LOG)

    assert item["form"] == "episode"
    assert item["category"] == "commit"
    assert item["created_at"] == "2024-03-01T09:00:00+00:00"
    assert item["payload"]["title"] == "Replace tokens by sessions"
    assert item["payload"]["narrative"] == "Tokens grew beyond the header's limit."
    assert item["tags"] == ["Ada Lovelace"]
    refs = [(each["kind"], each["ref"]) for each in item["payload"]["artifacts"]]
    assert refs == [
        ("commit", "1" * 12),
        ("file", "src/auth/login.ts"),
        ("file", "src/auth/cookie.ts"),
        ("file", "logo.png"),
    ]


def test_odd_commits_do_not_keep_out_the_others() -> None:
    odd = LOG.replace("Replace tokens by sessions", "...").replace("1111", "4444")
    spaced = LOG.replace("login.ts", "log\u00a0in.ts").replace("Ada", "A\x01da")

    (item,) = read(odd + "\n" + spaced)

    assert item["external_id"] == "git:111111111111"
    assert item["tags"] == ["A da Lovelace"]
    assert "src/auth/log in.ts" in [each["ref"] for each in item["payload"]["artifacts"]]


@pytest.mark.parametrize(
    ("line", "problem"), [("nothing of git", "line 5"), ("Date:   yesterday", "no date of git")]
)
def test_what_no_log_prints_is_refused_with_its_line(line: str, problem: str) -> None:
    lines = LOG.splitlines()
    lines[2 if line.startswith("Date") else 4] = line

    with pytest.raises(ImportFileError, match=problem):
        read("\n".join(lines))


def test_a_log_is_imported_once_and_told_with_its_day(
    api: APIClient, acme: Cast, tools: Tools
) -> None:
    first = finish(send(api, LOG, user="", agent="", project="shop").json(), tools)
    second = finish(send(api, LOG, user="", agent="", project="shop").json(), tools)

    assert (first.new, second.new) == (1, 0)
    row = Memory.objects.get()
    assert (row.form, row.category, row.memory_type) == ("episode", "commit", "episodic")
    assert MemoryArtifact.objects.get(ref="src/auth/login.ts").added == 10
    body = {
        "agent": "kyra",
        "project": "shop",
        "signals": {"current_file": "src/auth/login.ts"},
    }
    context = api.post("/v1/context/assemble", body, format="json").json()["context"]
    assert "[COMMIT 2024-03-01]: Replace tokens by sessions" in context


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    command = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, name: str) -> None:
    (folder / name).write_text(name)
    git(folder, "add", ".")
    git(folder, "commit", "-m", f"Add {name}")


def test_the_documented_command_leaves_out_git_notes(tmp_path: Path) -> None:
    documented = re.search(
        r"`git (log [^`]+)`", (Path(transfer.__path__[0]) / "docs.md").read_text()
    )
    assert documented
    git(tmp_path, "init")
    commit(tmp_path, "one.py")
    git(tmp_path, "notes", "add", "-m", "Reviewed.")

    (item,) = read(git(tmp_path, *documented[1].split()))

    assert item["payload"]["title"] == "Add one.py"


def test_a_repository_is_imported_incrementally(acme: Cast, tmp_path: Path) -> None:
    git(tmp_path, "init")
    commit(tmp_path, "one.py")
    call_command("import_git", str(tmp_path), team="acme", project="shop")
    commit(tmp_path, "two.py")
    call_command("import_git", str(tmp_path), team="acme")

    rows = Memory.objects.order_by("created_at", "id")
    assert list(rows.values_list("payload__title", "project__slug")) == [
        ("Add one.py", "shop"),
        ("Add two.py", tmp_path.name),
    ]
