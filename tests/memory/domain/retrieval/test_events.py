"""Answers dated by an event: before the release, after the trip."""

from __future__ import annotations

import numpy as np
import pytest

from memory.domain.retrieval.events import Side, find_event, place_by_event

DAY = 86_400.0
NAN = float("nan")


@pytest.mark.parametrize(
    ("question", "side", "words"),
    [
        ("What did we drop before the release?", Side.BEFORE, "the release"),
        ("What did she do after her road trip to relax?", Side.AFTER, "her road trip to relax"),
        ("What changed since the outage, in short?", Side.AFTER, "the outage"),
        ("Who called during the meeting in Paris?", Side.DURING, "the meeting"),
        (
            "What broke after deploying the new build on 3 May?",
            Side.AFTER,
            "deploying the new build",
        ),
        ("What happened after Farid left?", Side.AFTER, "Farid left"),
        ("What came before Ann's visit in May?", Side.BEFORE, "Ann's visit"),
        ("Whom did she call after she moved to Rome?", Side.AFTER, "she moved to Rome"),
        ("What did we drop prior to the release?", Side.BEFORE, "the release"),
        ("Who rested in the days leading up to the match?", Side.BEFORE, "the match"),
        ("What was bought ahead of Ann's visit?", Side.BEFORE, "Ann's visit"),
        ("What was decided following the outage?", Side.AFTER, "the outage"),
        ("Who is ahead of the others since the break?", Side.AFTER, "the break"),
    ],
)
def test_the_event_is_what_follows_the_word(question: str, side: Side, words: str) -> None:
    event = find_event(question)

    assert event is not None
    assert (event.side, question[event.start : event.end]) == (side, words)


@pytest.mark.parametrize(
    "question",
    [
        "What is after?",
        "Since when?",
        "What did Ann say before?",
        "Who is following the project?",
        "Is Ann still following her diet?",
        "Who's ahead of the others?",
    ],
)
def test_without_an_event_there_is_none(question: str) -> None:
    assert find_event(question) is None


def near(side: Side, *, days: list[float], tells: list[int]) -> list[float]:
    """Memories said on those days, of which those numbered tell of the event."""
    matches = np.zeros((len(days), 2), dtype=bool)
    matches[tells] = True
    found = place_by_event(
        side,
        matches=matches,
        idf=np.array([3.0, 2.0]),
        said_at=np.array(days) * DAY,
        happened_at=np.full(len(days), NAN),
    )
    return [float(value) for value in found.near]


def test_what_lies_on_the_asked_side_is_near() -> None:
    days, tells = [90.0, 100.0, 110.0], [1]

    before, event, after = near(Side.BEFORE, days=days, tells=tells)
    assert (event, after) == (1.0, 0.0)
    assert 0 < before < 1

    before, event, after = near(Side.AFTER, days=days, tells=tells)
    assert (event, before) == (1.0, 0.0)
    assert 0 < after < 1

    before, event, after = near(Side.DURING, days=days, tells=tells)
    assert event == 1.0
    assert 0 < before < 1
    assert before == pytest.approx(after)


def test_when_it_happened_counts_before_when_it_was_told() -> None:
    found = place_by_event(
        Side.AFTER,
        matches=np.array([[True], [False]]),
        idf=np.array([3.0]),
        said_at=np.array([200.0, 100.0]) * DAY,
        happened_at=np.array([99.0, NAN]) * DAY,
    )

    assert found.near[1] > 0.9


def test_nobody_tells_of_the_event_and_nothing_is_near() -> None:
    assert near(Side.AFTER, days=[1.0, 2.0], tells=[]) == [0.0, 0.0]


def test_half_of_the_words_is_another_event() -> None:
    found = place_by_event(
        Side.AFTER,
        matches=np.array([[False, True], [False, False]]),
        idf=np.array([3.0, 2.0]),
        said_at=np.array([1.0, 2.0]) * DAY,
        happened_at=np.full(2, NAN),
    )

    assert list(found.near) == [0.0, 0.0]
    assert not found.beyond.any()


@pytest.mark.parametrize(
    ("side", "beyond"),
    [
        (Side.BEFORE, [False, False, False, False, True, True]),
        (Side.AFTER, [True, True, False, False, False, False]),
        (Side.DURING, [False] * 6),
    ],
)
def test_only_what_lies_clearly_on_the_other_side_is_beyond(side: Side, beyond: list[bool]) -> None:
    """The third tells of the event; the fourth was told within a week, of whatever it was."""
    days, happened = [80.0, 98.0, 100.0, 103.0, 120.0, 104.0], [NAN] * 5 + [104.0]

    found = place_by_event(
        side,
        matches=np.array([[False], [False], [True], [False], [False], [False]]),
        idf=np.array([3.0]),
        said_at=np.array(days) * DAY,
        happened_at=np.array(happened) * DAY,
    )

    assert list(found.beyond) == beyond


def test_an_event_that_comes_again_leaves_nothing_between_beyond() -> None:
    found = place_by_event(
        Side.AFTER,
        matches=np.array([[True], [False], [True]]),
        idf=np.array([3.0]),
        said_at=np.array([100.0, 150.0, 200.0]) * DAY,
        happened_at=np.full(3, NAN),
    )

    assert not found.beyond.any()


def test_what_has_no_time_is_on_no_side() -> None:
    found = place_by_event(
        Side.BEFORE,
        matches=np.array([[True], [False]]),
        idf=np.array([3.0]),
        said_at=np.array([100.0, NAN]) * DAY,
        happened_at=np.full(2, NAN),
    )

    assert (found.near[1], found.beyond[1]) == (0.0, False)
