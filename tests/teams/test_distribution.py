"""Requirements of a database distributed over servers by team: each statement keeps to one team."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import models

from tests.support.tenants import TENANT_MODELS

ROOT = Path(__file__).resolve().parents[2]
TABLES = "|".join(sorted(model._meta.db_table for model in TENANT_MODELS))
REFERENCES = [
    field
    for model in TENANT_MODELS
    for field in model._meta.concrete_fields
    if field.is_relation and field.related_model in TENANT_MODELS
]
# A table after one of these words, with the name that the statement gives it. Not the column of
# `extract(epoch FROM table.column)`.
NAMED = re.compile(
    rf"\b(?P<how>FROM|JOIN|UPDATE|USING)\s+(?:ONLY\s+)?(?:public\.)?(?P<table>{TABLES})\b(?!\.)"
    r"(?:\s+AS)?(?:\s+(?!ON|SET|WHERE|JOIN|LEFT|CROSS|ORDER|GROUP|LIMIT|USING|FOR)(?P<alias>\w+))?",
    re.IGNORECASE,
)
# Where a table is read by something else than a team.
OF_NO_TEAM = {
    # Whether the transaction itself erases.
    ("audit/sql/erasure.sql", "public.audit_erasure WHERE xact"),
}


@pytest.mark.parametrize("field", REFERENCES, ids=str)
def test_joins_of_the_models_name_the_team(field: models.ForeignKey[models.Model, object]) -> None:
    rows = field.model._default_manager.select_related(field.name)
    related = field.model._default_manager.filter(**{f"{field.name}__team__isnull": False})

    for statement in (str(rows.query), str(related.query)):
        on = re.findall(r"JOIN .*? ON \((.*?)\)\)", statement)
        assert on
        assert all(re.search(r'"team_id" = \(?"\w+"\."team_id"', each) for each in on), statement


def statements() -> Iterator[tuple[str, str]]:
    """Our SQL, in files and in the texts of modules, with the file."""
    for room in ("teams", "memory", "audit", "routing"):
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix not in {".sql", ".py"} or "migrations" in path.parts:
                continue
            for text in _texts(path):
                yield str(path.relative_to(ROOT)), text


def _texts(path: Path) -> list[str]:
    text = path.read_text()
    if path.suffix == ".sql":
        return re.sub(r"--.*", "", text).split(";")
    return re.findall(r'"""(.*?)"""', text, re.DOTALL)


def level(text: str, *, start: int, end: int) -> str:
    """The text around a place without what is outside of its parentheses."""
    depth, first = 0, start
    while first and depth >= 0:
        first -= 1
        depth += {")": 1, "(": -1}.get(text[first], 0)
    depth, last = 0, end
    while last < len(text) and depth >= 0:
        depth += {"(": 1, ")": -1}.get(text[last], 0)
        last += 1
    return text[first:last]


def test_statements_name_the_team_of_each_table() -> None:
    met, missing = 0, set()
    for path, text in statements():
        for found in NAMED.finditer(text):
            met += 1
            around = level(text, start=found.start(), end=found.end())
            # What stands in braces is a condition that names it, such as that of visibility.
            names = rf"{found['alias']}|{found['table']}"
            says = rf"\b(?:{names})\.team_id\b|(?<![.\w])team_id\b|\{{\w*\}}"
            if not re.search(says, around):
                missing.add((path, text[found.start() :].split(" ", 1)[1][:40].split(" =")[0]))

    assert met > 150
    assert missing == OF_NO_TEAM


def test_a_statement_without_its_team_is_found() -> None:
    text = "SELECT 1 FROM memory_memory m WHERE m.team_id = 1 AND id IN (SELECT 1 FROM teams_agent)"

    levels = [level(text, start=each.start(), end=each.end()) for each in NAMED.finditer(text)]

    assert ["team_id" in each for each in levels] == [True, False]
