"""Periodic tasks go on when the wall clock is set."""

from __future__ import annotations

import pickle
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery.beat import ScheduleEntry
from django.conf import settings
from django_redis import get_redis_connection

from config.steady_schedule import SteadySchedule
from config.worker_heartbeat import AT_WORK, is_anybody_at_work, note_done
from teams.steady_clock import steady_now

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_the_clock_of_schedules_passes_with_time_alone() -> None:
    began, first = time.monotonic(), steady_now()
    time.sleep(0.01)
    passed = steady_now() - first

    assert timedelta(seconds=0.005) <= passed <= timedelta(seconds=time.monotonic() - began)


@pytest.mark.parametrize(
    ("passed", "is_due"), [(9, False), (10, True), (-3600, True), (-40 * 86_400, True)]
)
def test_a_task_is_due_after_its_interval_and_when_its_last_run_is_still_to_come(
    passed: int, is_due: bool
) -> None:
    schedule = SteadySchedule(10.0, nowfun=lambda: NOON)

    due, following = schedule.is_due(NOON - timedelta(seconds=passed))

    assert due == is_due
    assert 0 < following <= 10


def test_every_periodic_task_has_such_a_schedule_that_beat_can_keep() -> None:
    for each in settings.CELERY_BEAT_SCHEDULE.values():
        entry = ScheduleEntry(name="x", task=each["task"], schedule=each["schedule"])
        kept: Any = pickle.loads(pickle.dumps(entry))

        assert (type(kept.schedule), kept.schedule.nowfun, kept.schedule.run_every) == (
            SteadySchedule,
            steady_now,
            each["schedule"].run_every,
        )


def test_a_heartbeat_that_would_last_for_days_says_nothing() -> None:
    note_done()
    alive = is_anybody_at_work()
    # What a key of Redis has left after its machine's clock was set back by 40 days.
    get_redis_connection("default").pexpire(AT_WORK, 40 * 86_400_000)

    assert alive
    assert not is_anybody_at_work()
    get_redis_connection("default").delete(AT_WORK)
