"""Days and months begin when the team's clocks say so, and midnight loses no spend."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.domain.budgets import CapKind, day_window, month_window
from routing.services.cost_guard import BudgetExceededError
from teams.tenancy import team_scope
from tests.support.budgets import OwnRedis, Till, make_till, own_redis


def utc(text: str) -> datetime:
    """A time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


ZONES = sorted(available_timezones())
moments = st.floats(0, 47 * 365).map(lambda days: utc("1990-01-01") + timedelta(days=days))
zones = st.sampled_from(ZONES).map(ZoneInfo)


@given(now=moments, zone=zones)
def test_a_day_ends_at_the_first_second_of_a_later_date(now: datetime, zone: ZoneInfo) -> None:
    window = day_window(now=now, zone=zone)

    assert window.begins_on == now.astimezone(zone).date()
    assert now < window.resets_at <= now + timedelta(hours=50)
    assert window.resets_at.astimezone(zone).date() > window.begins_on
    last_second = window.resets_at - timedelta(seconds=1)
    assert last_second.astimezone(zone).date() <= window.begins_on


@given(now=moments, zone=zones)
def test_a_month_ends_at_the_first_second_of_the_next(now: datetime, zone: ZoneInfo) -> None:
    window = month_window(now=now, zone=zone)
    there = now.astimezone(zone).date()

    assert window.begins_on == date(there.year, there.month, 1)
    assert now < window.resets_at <= now + timedelta(days=32)
    first = window.resets_at.astimezone(zone).date()
    assert (first.year * 12 + first.month) - (there.year * 12 + there.month) == 1
    assert (window.resets_at - timedelta(seconds=1)).astimezone(zone).date() < first


@pytest.mark.parametrize(
    ("zone", "now", "begins_on", "resets_at"),
    [
        ("UTC", "2026-02-28 23:59:59", date(2026, 2, 28), "2026-03-01 00:00"),
        ("Asia/Tokyo", "2026-05-14 16:00", date(2026, 5, 15), "2026-05-15 15:00"),
        ("Pacific/Kiritimati", "2026-12-31 10:00", date(2027, 1, 1), "2027-01-01 10:00"),
        # 23 hours, and 25.
        ("Europe/Oslo", "2026-03-28 23:00", date(2026, 3, 29), "2026-03-29 22:00"),
        ("Europe/Oslo", "2026-10-24 22:00", date(2026, 10, 25), "2026-10-25 23:00"),
        # There is no midnight: the clocks go from 23:59 to 1:00.
        ("Africa/Cairo", "2026-04-23 12:00", date(2026, 4, 23), "2026-04-23 22:00"),
        # 0:00 comes twice; the second time is the same day.
        ("America/Havana", "2026-10-31 12:00", date(2026, 10, 31), "2026-11-01 04:00"),
        ("America/Havana", "2026-11-01 05:00", date(2026, 11, 1), "2026-11-02 05:00"),
        # 30 December 2011 was left out.
        ("Pacific/Apia", "2011-12-30 05:00", date(2011, 12, 29), "2011-12-30 10:00"),
    ],
)
def test_days_of_daylight_saving_and_other_oddities(
    zone: str, now: str, begins_on: date, resets_at: str
) -> None:
    window = day_window(now=utc(now), zone=ZoneInfo(zone))

    assert window.begins_on == begins_on
    assert window.resets_at == utc(resets_at)


@pytest.mark.parametrize(
    ("zone", "now", "begins_on", "resets_at"),
    [
        ("UTC", "2028-02-29 12:00", date(2028, 2, 1), "2028-03-01 00:00"),
        ("UTC", "2026-12-31 23:59:59", date(2026, 12, 1), "2027-01-01 00:00"),
        ("America/New_York", "2026-03-01 04:59:59", date(2026, 2, 1), "2026-03-01 05:00"),
        # It begins in winter time and ends in summer time.
        ("America/New_York", "2026-03-01 05:00", date(2026, 3, 1), "2026-04-01 04:00"),
    ],
)
def test_months_end_with_their_last_day_there(
    zone: str, now: str, begins_on: date, resets_at: str
) -> None:
    window = month_window(now=utc(now), zone=ZoneInfo(zone))

    assert window.begins_on == begins_on
    assert window.resets_at == utc(resets_at)


# -- the guard at midnight -------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[OwnRedis]:
    """The Redis of these tests."""
    with own_redis() as running:
        yield running


@pytest.fixture
def tokyo(committed_db: None, server: OwnRedis) -> Till:
    """A team in Tokyo, one second before the end of May there."""
    till = make_till(server, month="6", zone="Asia/Tokyo")
    return till.at(utc("2026-05-31 14:59:59"))


def test_a_new_day_and_month_begin_at_the_teams_own_midnight(tokyo: Till) -> None:
    tokyo.spend("5")
    with pytest.raises(BudgetExceededError) as before:
        tokyo.reserve("1.5")
    after = tokyo.later(seconds=1).reserve("5")

    assert before.value.tightest.resets_at == utc("2026-05-31 15:00")
    assert after.left.left_in(CapKind.USER_DAY) == 0
    assert after.left.left_in(CapKind.TEAM_MONTH) == Decimal(1)


def test_a_call_over_midnight_counts_where_it_was_reserved(tokyo: Till) -> None:
    over_midnight = tokyo.reserve("4")
    june = tokyo.later(seconds=1)
    june.spend("1")
    june.settle(over_midnight, "3")

    assert tokyo.left().left_in(CapKind.USER_DAY) == Decimal(2)
    assert tokyo.left().left_in(CapKind.TEAM_MONTH) == Decimal(3)
    assert june.left().left_in(CapKind.USER_DAY) == Decimal(4)
    assert june.left().left_in(CapKind.TEAM_MONTH) == Decimal(5)
    assert [(entry.day, entry.cost_usd) for entry in june.entries()] == [
        (date(2026, 6, 1), Decimal(1)),
        (date(2026, 5, 31), Decimal(3)),
    ]


def test_what_is_held_over_midnight_is_held_once(tokyo: Till, server: OwnRedis) -> None:
    tokyo.reserve("4")
    server.flush()
    june = tokyo.later(seconds=1)

    assert june.reserve("5").left.left_in(CapKind.USER_DAY) == 0
    with pytest.raises(BudgetExceededError):
        tokyo.reserve("2")


def test_a_day_that_begins_anew_keeps_the_months_spend(tokyo: Till, server: OwnRedis) -> None:
    noon = tokyo.at(utc("2026-05-10 03:00"))
    noon.spend("4")
    server.flush()
    next_day = noon.later(days=1)

    assert next_day.left().left_in(CapKind.USER_DAY) == Decimal(5)
    assert next_day.left().left_in(CapKind.TEAM_MONTH) == Decimal(2)
    with pytest.raises(BudgetExceededError):
        next_day.reserve("3")


def test_another_time_zone_moves_no_spend(tokyo: Till) -> None:
    """Spend stays on its date, also where that date comes back or is left early."""
    tokyo.spend("4")
    with team_scope(team_ids=[tokyo.cast.team.id], actor="test"):
        tokyo.cast.team.time_zone = "America/Los_Angeles"
        tokyo.cast.team.save()
    same_date_again = tokyo.at(utc("2026-06-01 06:00"))

    assert same_date_again.left().left_in(CapKind.USER_DAY) == Decimal(1)
    assert same_date_again.left().left_in(CapKind.TEAM_MONTH) == Decimal(2)
    assert same_date_again.later(hours=1).left().left_in(CapKind.TEAM_MONTH) == Decimal(6)
