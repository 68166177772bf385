"""Decisions, conventions and failures told in talk about work have their form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from memory.models import Memory
from memory.understanding.quoting import form_of
from memory.understanding.tools import Tools
from teams.models import EndUser, Team
from tests.support.cast import Cast
from tests.support.learning import Desk, desk, extract, filed, tell
from tests.support.memories_api import post

__all__ = ["desk"]

DECIDED = "We went with Celery in src/billing/queue.py because cron lost jobs."
RULE = "Always run the linter before you push."
FAILED = "The migration locked the orders table for twenty minutes because we forgot CONCURRENTLY."


@pytest.fixture(autouse=True)
def of_members(acme: Cast) -> None:
    """The people of the team work for it, unless a test makes one a guest."""
    Team.objects.filter(pk=acme.team.pk).update(person_role="member")


def formed() -> list[tuple[str, dict[str, Any]]]:
    """Form and payload of each memory."""
    return list(Memory.objects.order_by("id").values_list("form", "payload"))


def test_each_form_quotes_its_sentence_and_names_its_files(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, DECIDED, RULE, FAILED, project="shop"))

    assert formed() == [
        (
            "decision",
            {"decision": DECIDED, "artifacts": [{"kind": "file", "ref": "src/billing/queue.py"}]},
        ),
        ("convention", {"convention": RULE}),
        ("failure", {"lesson": FAILED}),
    ]
    assert set(Memory.objects.values_list("content", flat=True)) == {DECIDED, RULE, FAILED}


def test_a_decision_of_talk_is_critical_where_its_file_is_open(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, DECIDED, project="shop"))

    answer = post(
        desk.luke,
        "context/assemble",
        agent="luke",
        project="shop",
        signals={"current_file": "src/billing/queue.py"},
    ).json()

    assert f"“{DECIDED}”" in answer["context"]
    assert "[DECISION]" in answer["context"].partition("## Critical")[2].partition("## ")[0]
    assert [each["tier"] for each in answer["memories"]] == ["tier1"]


def test_what_is_said_again_is_stored_once(desk: Desk) -> None:
    post(desk.kyra, "memories", content=RULE, project="shop", agent="kyra")
    extract(desk.kyra, tell(desk.kyra, DECIDED, project="shop"))
    extract(desk.kyra, tell(desk.kyra, DECIDED, project="shop"))

    assert [form for form, _ in formed()] == ["", "decision"]


def test_a_quoted_payload_follows_a_correction_of_its_text(desk: Desk) -> None:
    extract(desk.kyra, tell(desk.kyra, DECIDED, project="shop"))
    memory = Memory.objects.get()
    words = "We went with Celery because cron lost jobs in May."

    new = post(desk.kyra, f"memories/{memory.pk}/correct", corrected_content=words)

    assert new.status_code == 201, new.content
    assert new.json()["form"] == "decision"
    assert new.json()["payload"] == {**memory.payload, "decision": words}


def test_a_guests_decision_has_no_form(desk: Desk, tools: Tools) -> None:
    EndUser.objects.filter(pk=desk.cast.sarah.pk).update(role="guest")

    filed(desk.kyra, tools, DECIDED, audience="team", form="decision")

    assert formed() == [("", {})]


@pytest.mark.parametrize("audience", ["person", "agent"])
def test_a_private_decision_has_no_form(desk: Desk, tools: Tools, audience: str) -> None:
    filed(desk.kyra, tools, "We decided to get a second dog.", audience=audience, form="decision")

    assert formed() == [("", {})]


def test_of_unseen_sentences_at_least_85_of_100_that_are_told_a_form_have_it() -> None:
    path = Path(settings.BASE_DIR) / "benchmarks" / "labelled" / "forms" / "blind.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    told = [row["kind"] == form for row in rows if (form := form_of(row["text"]))]

    assert len(told) >= 50
    assert sum(told) / len(told) >= 0.85
