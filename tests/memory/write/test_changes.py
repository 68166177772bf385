"""Changes that the judge without a model recognises, measured through the write path."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from memory.models import Memory
from memory.understanding.tools import Tools
from tests import factories
from tests.support.cast import Cast
from tests.support.writing import draft, write

# Floors a little under what was measured.
CHANGED, UNTOUCHED = 0.4, 0.65
CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "changes.jsonl").read_text(encoding="utf-8").splitlines()
]


def test_changes_are_mostly_found_and_news_of_something_else_mostly_changes_nothing(
    acme: Cast, tools: Tools
) -> None:
    found: Counter[tuple[str, str]] = Counter()
    for case in CASES:
        user = factories.EndUserFactory.create(team=acme.team).pk
        extraction_pass = 1 if case["from_talk"] else None
        for text in (case["existing"], case["new"]):
            write(acme, tools, draft(acme, text, end_user_id=user, extraction_pass=extraction_pass))
        status = Memory.objects.get(end_user_id=user, content=case["existing"]).status
        found[case["expected"], status] += 1

    expected = Counter(case["expected"] for case in CASES)
    assert (
        found["change", "superseded"] + found["change", "disputed"] >= CHANGED * expected["change"]
    )
    assert found["nothing", "active"] >= UNTOUCHED * expected["nothing"]
