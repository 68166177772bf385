"""Intervals of periodic tasks that do not depend on the wall clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from celery import Celery
from celery.schedules import schedule

from teams.steady_clock import steady_now


class SteadySchedule(schedule):
    """A task every so many seconds, however the wall clock is set meanwhile.

    Beat keeps the times of the last runs in a file: one that is still to come, as the clock was
    ahead before a restart, makes its task due.
    """

    def __init__(
        self,
        run_every: float | timedelta,
        relative: bool = False,
        nowfun: Callable[[], datetime] = steady_now,
        app: Celery | None = None,
    ) -> None:
        super().__init__(run_every, relative=relative, nowfun=nowfun, app=app)

    def remaining_estimate(self, last_run_at: datetime) -> timedelta:
        """How long until the task is due; nothing where its last run is still to come."""
        if self.maybe_make_aware(last_run_at) > self.now():
            return timedelta(0)
        left: timedelta = super().remaining_estimate(last_run_at)
        return left
