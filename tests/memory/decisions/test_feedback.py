"""Callers say what became of memories: it is counted, and moves their importance."""

from __future__ import annotations

import pytest

from audit.models import MemoryLog
from memory.domain.judgements import Feedback
from memory.models import Contradiction, MemoryUsage
from memory.understanding.tools import Tools
from teams.errors import ConflictError
from teams.tenancy import team_scope
from tests.support.cast import Cast
from tests.support.corrections import correct, now_is, say_of, stored, town
from tests.support.waiting import race

__all__ = ["town"]


# -- feedback --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signal", "counter"),
    [
        (Feedback.CITED, "cited"),
        (Feedback.IGNORED, "ignored"),
        (Feedback.HELPFUL, "succeeded"),
        (Feedback.WRONG, "failed"),
    ],
)
def test_each_signal_is_counted_as_itself(
    acme: Cast, tools: Tools, signal: Feedback, counter: str
) -> None:
    memory = stored(acme, tools)

    for _ in range(2):
        say_of(acme, memory, signal)

    usage = MemoryUsage.objects.get(memory=memory)
    names = ("cited", "ignored", "succeeded", "failed")
    assert {name: getattr(usage, name) for name in names} == {
        name: 2 if name == counter else 0 for name in names
    }


def test_importance_rises_to_ten_and_falls_to_three(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools, importance=8)

    raised = [say_of(acme, memory, Feedback.HELPFUL).importance for _ in range(4)]
    lowered = [say_of(acme, memory, Feedback.IGNORED).importance for _ in range(50)]

    assert raised == [9, 10, 10, 10]
    assert lowered[::5] == [10, 9, 8, 7, 6, 5, 4, 3, 3, 3]
    assert now_is(memory).importance == 3


@pytest.mark.parametrize(
    ("importance", "signal", "times", "tier"),
    [
        (8, Feedback.HELPFUL, 1, "hot"),
        (7, Feedback.HELPFUL, 1, "warm"),
        (9, Feedback.IGNORED, 5, "warm"),
        (10, Feedback.IGNORED, 5, "hot"),
        (9, Feedback.CITED, 1, "hot"),
    ],
)
def test_the_tier_follows_the_importance(
    acme: Cast, tools: Tools, importance: int, signal: Feedback, times: int, tier: str
) -> None:
    memory = stored(acme, tools, importance=importance)

    for _ in range(times):
        say_of(acme, memory, signal)

    assert now_is(memory).tier == tier


def test_a_pinned_memory_stays_hot_whatever_its_importance(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools, importance=9, is_pinned=True)

    for _ in range(5):
        say_of(acme, memory, Feedback.IGNORED)

    assert (now_is(memory).importance, now_is(memory).tier) == (8, "hot")


def test_feedback_that_changes_the_memory_is_logged_with_its_note(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)

    say_of(acme, memory, Feedback.CITED)
    say_of(acme, memory, Feedback.HELPFUL, "It saved the day.")

    rows = MemoryLog.objects.filter(memory_id=memory.pk).order_by("seq")
    assert [each.event for each in rows] == ["created", "updated"]
    assert rows[1].reason == "feedback: helpful (It saved the day.)"
    assert (rows[1].actor, rows[1].state["importance"]) == ("reader", 6)


def test_saying_it_is_wrong_opens_one_dispute(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)

    for note in ("She moved.", "I say it again."):
        say_of(acme, memory, Feedback.WRONG, note)

    row = Contradiction.objects.get()
    assert (row.memory_a_id, row.memory_b_id, row.resolved_at) == (memory.pk, None, None)
    assert (row.strategy, row.verdict, row.reason) == ("feedback", "dispute", "She moved.")
    assert row.judge == "reader"
    assert (now_is(memory).status, now_is(memory).contradicts) == ("disputed", [])
    events = MemoryLog.objects.filter(memory_id=memory.pk).order_by("seq")
    assert [each.event for each in events] == ["created", "contradiction_detected"]


@pytest.mark.parametrize("signal", Feedback)
def test_feedback_on_what_nobody_is_shown_is_refused(
    acme: Cast, tools: Tools, signal: Feedback
) -> None:
    old = stored(acme, tools)
    correct(acme, tools, old)

    with pytest.raises(ConflictError, match="superseded"):
        say_of(acme, old, signal)

    assert not MemoryUsage.objects.exists()
    assert not Contradiction.objects.exists()


def test_correcting_what_was_said_to_be_wrong_ends_the_dispute(acme: Cast, tools: Tools) -> None:
    memory = stored(acme, tools)
    say_of(acme, memory, Feedback.WRONG)

    new = correct(acme, tools, memory).memory

    row = Contradiction.objects.get()
    assert (row.resolution, row.resolved_by) == ("b_wins", "reviewer")
    assert row.resolved_at is not None
    assert now_is(new).status == "active"
    assert now_is(memory).status == "superseded"


# -- all at once -----------------------------------------------------------------------------------


def test_no_signal_of_many_at_once_is_lost(town: Cast, tools: Tools) -> None:
    memory = stored(town, tools)
    signals = [Feedback.IGNORED, Feedback.WRONG]

    race(8, lambda number: say_of(town, memory, signals[number % 2]))

    with team_scope(team_ids=[town.team.id], actor="test"):
        usage = MemoryUsage.objects.get(memory=memory)
        assert (usage.ignored, usage.failed) == (4, 4)
        assert Contradiction.objects.count() == 1
        assert now_is(memory).importance == 5
