"""Old episodes are told in fewer words; what they say stays, is found, and is told again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import MemoryLog
from memory.domain.levels import levels_of
from memory.domain.types import MemoryType
from memory.models import Memory, MemoryLevels
from memory.reading.packing import TOLD_WHOLE
from memory.satellites.lifecycle.models import Step
from memory.satellites.lifecycle.running import undo_run
from memory.understanding.tools import Tools
from memory.writing.decisions.changes import pin_memory
from memory.writing.drafts import MemoryDraft
from memory.writing.indexing.vectors import write_levels
from teams.tenancy import team_scope
from tests.support import lifecycle
from tests.support.cast import Cast, Clients
from tests.support.erasure import erase
from tests.support.lifecycle import NOW, changes, viewer_of
from tests.support.writing import draft, write

STORY = (
    "The team moved the billing service to another data centre during the weekend of the flood."
    " The certificates had expired, nobody had noticed, and the failover did not start by itself."
    " Everything was back on Sunday evening, after the load balancer had been restarted by hand."
)


def episodes(
    cast: Cast, tools: Tools, *ages: int, now: datetime = NOW, **fields: Any
) -> list[Memory]:
    """Long episodes of so many days ago, with their shorter versions written."""
    drafts = [episode(cast, now - timedelta(days=age), age, **fields) for age in ages]
    stored = [each.memory for each in write(cast, tools, *drafts)]
    write_levels(team_id=cast.team.id, tools=tools)
    return stored


def episode(cast: Cast, at: datetime, number: int, **fields: Any) -> MemoryDraft:
    values = {"memory_type": MemoryType.EPISODIC, "check": False, "created_at": at, **fields}
    return draft(cast, f"Week {number}: {STORY}", **values)


def told(cast: Cast) -> list[str]:
    """Returns the most detailed level that prompts show of each memory, the youngest first."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        rows = MemoryLevels.objects.order_by("-memory__created_at")
        return list(rows.values_list("told_at_most", flat=True))


def run(cast: Cast, tools: Tools, **given: Any) -> Any:
    return lifecycle.run(cast, tools, steps=[Step.COMPRESS], **given)


def test_episodes_are_summarised_and_later_compressed(acme: Cast, tools: Tools) -> None:
    memories = episodes(acme, tools, 3, 10, 40)

    done = run(acme, tools)
    assert told(acme) == ["content", "summary", "compressed"]
    run(acme, tools, now=NOW + timedelta(days=25))
    assert told(acme) == ["summary", "compressed", "compressed"]

    assert done.counts["compress"]["made"] == 2
    with team_scope(team_ids=[acme.team.id], actor="test"):
        log = MemoryLog.objects.filter(memory_id=memories[1].pk, event="compressed").order_by("seq")
        assert [(each.detail or {})["levels"].get("told_at_most") for each in log] == [
            None,
            "summary",
            "compressed",
        ]
        assert log[1].reason == f"consolidation: compress, run {done.pk}"


def test_pinned_and_important_memories_and_other_kinds_stay_whole(acme: Cast, tools: Tools) -> None:
    episodes(acme, tools, 40, is_pinned=True)
    episodes(acme, tools, 41, importance=8)
    episodes(acme, tools, 42, memory_type=MemoryType.SEMANTIC)

    run(acme, tools)

    assert told(acme) == ["content"] * 3


def test_a_dry_run_says_what_the_next_run_does(acme: Cast, globex: Cast, tools: Tools) -> None:
    episodes(acme, tools, 10, 40)
    episodes(globex, tools, 40)

    dry = run(acme, tools, is_dry=True)
    assert told(acme) == ["content"] * 2
    real = run(acme, tools, now=NOW + timedelta(minutes=1))

    assert changes(real) == changes(dry)
    assert len(changes(dry)) == 2
    assert told(globex) == ["content"]


def test_it_is_taken_back(acme: Cast, tools: Tools) -> None:
    episodes(acme, tools, 10, 40)
    done = run(acme, tools)

    undo_run(viewer=viewer_of(acme), run_id=done.pk, tools=tools, now=NOW)

    assert told(acme) == ["content"] * 2
    with team_scope(team_ids=[acme.team.id], actor="test"):
        assert MemoryLog.objects.filter(reason__startswith="consolidation undone").count() == 2


def test_what_was_pinned_after_the_plan_is_left_out(acme: Cast, tools: Tools) -> None:
    (memory,) = episodes(acme, tools, 10)

    def pin() -> None:
        pin_memory(viewer=viewer_of(acme), memory_id=memory.pk, pinned=True)

    done = run(acme, tools, after_plan=pin)

    assert done.counts["compress"]["left_out"] == 1
    assert told(acme) == ["content"]


def test_a_later_run_looks_at_what_came_of_age_or_changed(acme: Cast, tools: Tools) -> None:
    # The log's times are the clock's: what was written before the first run is no change since.
    old, young = range(40, 60), range(1, 6)
    now = timezone.now() + timedelta(minutes=1)
    memories = episodes(acme, tools, *old, *young, now=now)
    first = run(acme, tools, now=now)
    second = run(acme, tools, now=now + timedelta(days=4))
    third = run(acme, tools, now=now + timedelta(days=100))

    assert [each.counts["compress"]["looked_at"] for each in (first, second, third)] == [20, 3, 5]
    assert set(told(acme)) == {"compressed"}
    assert len(memories) == 25


def test_episodes_behind_many_deleted_memories_are_shortened(acme: Cast, tools: Tools) -> None:
    run(acme, tools)
    lifecycle.store_deleted(acme, 2_000)
    episodes(acme, tools, 60)

    run(acme, tools, now=NOW + timedelta(days=1))

    assert told(acme) == ["compressed"]


def test_other_ages_hold_for_what_is_old_already(acme: Cast, tools: Tools) -> None:
    episodes(acme, tools, 20)
    run(acme, tools)
    assert told(acme) == ["summary"]
    with team_scope(team_ids=[acme.team.id], actor="test"):
        acme.team.lifecycle_settings = {"compress_after_days": 15}
        acme.team.save()

    run(acme, tools, now=NOW + timedelta(minutes=1))

    assert told(acme) == ["compressed"]


@pytest.mark.parametrize("budget", [8000, 900])
def test_prompts_tell_the_best_whole_and_the_others_by_their_level(
    acme: Cast, tools: Tools, client_of: Clients, budget: int
) -> None:
    memories = episodes(acme, tools, *range(40, 48))
    run(acme, tools)
    client = client_of(acme)
    asked = {
        "agent": "kyra",
        "query": "What happened in week 42?",
        "token_budget": budget,
        "return": "full",
    }

    answer = client.post("/v1/retrieve", asked, format="json").json()

    found = {each["id"]: each["text_level"] for each in answer["memories"]}
    best = [each["id"] for each in answer["memories"][:TOLD_WHOLE]]
    assert {found[each] for each in best} == {"content"}
    assert {level for pk, level in found.items() if pk not in best} == {"compressed"}
    assert all(each["content"].endswith(STORY) for each in answer["memories"])
    one = client.get(f"/v1/memories/{memories[0].pk}").json()
    assert one["content"] == memories[0].content
    assert one["levels"]["told_at_most"] == "compressed"
    shortened = next(each for each in memories if str(each.pk) in set(found) - set(best))
    assert levels_of(shortened.content).compressed in answer["formatted_prompt"]
    hits = client.get("/v1/memories/search", {"query": "load balancer", "agent": "kyra"}).json()
    assert all(each["content"].endswith(STORY) for each in hits["results"])


def test_an_erasure_takes_the_levels_and_no_run_brings_them_back(acme: Cast, tools: Tools) -> None:
    episodes(acme, tools, 40, end_user_id=acme.sarah.pk)
    run(acme, tools)
    assert told(acme) == ["compressed"]

    erase(acme, "sarah")

    assert told(acme) == []
    assert run(acme, tools, now=NOW + timedelta(minutes=1)).counts["compress"]["planned"] == 0
