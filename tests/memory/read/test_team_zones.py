"""A team's days begin in its own time zone, for whoever asks what was yesterday."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.domain.types import MemoryType
from teams.models import Team
from teams.tenancy import team_scope
from tests.support.hot_desk import Desk, desk, texts, town

__all__ = ["desk", "town"]

# In New York it is ten in the evening of the 1st of May.
LATE = datetime(2026, 5, 2, 2, tzinfo=UTC)
FIRST = "The lamp was mended by Ada."
SECOND = "The lamp was mended by Ben."


@pytest.fixture
def lamps(desk: Desk) -> Desk:
    """A desk that was told of the lamp on two days, be it in New York or by UTC."""
    desk.remember(FIRST, created_at=LATE - timedelta(hours=27))
    desk.remember(SECOND, created_at=LATE - timedelta(hours=5))
    return desk


def move(desk: Desk, zone: str) -> None:
    """Put the desk's team into another time zone."""
    with team_scope(team_ids=[desk.cast.team.id], actor="test"):
        Team.objects.filter(id=desk.cast.team.id).update(time_zone=zone)


def of_the_lamp(desk: Desk, question: str, *, now: datetime = LATE) -> dict[str, float]:
    """Returns the time's part in the score of each of the two."""
    found = desk.ask(question, now=now).memories
    return {each["content"]: each["signals"]["parts"]["time"] for each in found}


def test_yesterday_is_that_of_the_team(lamps: Desk) -> None:
    move(lamps, "America/New_York")
    times = of_the_lamp(lamps, "Who mended the lamp yesterday?")

    assert times[FIRST] > times[SECOND]


def test_without_a_zone_days_begin_in_utc(lamps: Desk) -> None:
    times = of_the_lamp(lamps, "Who mended the lamp yesterday?")

    assert times[SECOND] > times[FIRST]


def test_a_day_without_an_hour_is_the_same_day_everywhere(desk: Desk) -> None:
    move(desk, "America/New_York")
    day = datetime(2026, 4, 20, tzinfo=UTC)
    desk.remember(FIRST, created_at=day - timedelta(days=60), valid_from=day)

    of_the_day, of_the_month, of_the_next = (
        of_the_lamp(desk, f"When was the lamp mended, {time}?")[FIRST]
        for time in ("on 20 April 2026", "in April 2026", "on 21 April 2026")
    )

    assert of_the_day == of_the_month > of_the_next


@pytest.mark.parametrize(
    ("zone", "begins_at"),
    [
        ("Europe/Berlin", datetime(2026, 3, 9, 23, tzinfo=UTC)),
        ("America/New_York", datetime(2026, 3, 10, tzinfo=UTC)),  # a day without an hour
    ],
)
def test_the_day_of_an_event_is_that_of_the_team(
    desk: Desk, zone: str, begins_at: datetime
) -> None:
    move(desk, zone)
    event = MemoryType.EPISODIC
    desk.remember("The lamp party is in March.", memory_type=event, valid_from=begins_at)

    told = desk.ask("When is the lamp party?").text
    assert "[EVENT 2026-03-10]: The lamp party is in March." in told


def test_an_answer_is_not_kept_past_the_midnight_of_the_team(desk: Desk) -> None:
    move(desk, "America/New_York")
    midnight = datetime(2026, 5, 2, 4, tzinfo=UTC)
    question = "Who mended the lamp yesterday?"
    desk.ask(question, now=midnight - timedelta(seconds=1))

    assert not desk.ask(question, now=midnight + timedelta(seconds=1)).stats.cache_hit


def test_an_answer_is_kept_past_the_midnight_of_others(desk: Desk) -> None:
    move(desk, "America/New_York")
    midnight = datetime(2026, 5, 2, tzinfo=UTC)
    question = "Who mended the lamp yesterday?"
    first = desk.ask(question, now=midnight - timedelta(seconds=1))
    again = desk.ask(question, now=midnight + timedelta(seconds=1))

    assert again.stats.cache_hit
    assert texts(again) == texts(first)
