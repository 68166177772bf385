"""The windows in which a job reads its messages: how long one may be, and how long it may take."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from django.conf import settings
from django.db.models.functions import Length

from memory.models import Job
from teams.models import Message

# A budget that is over is told again after so long, should a handler have swallowed the error.
_AGAIN_SECONDS = 1.0


class WindowBudgetError(Exception):
    """A window took more of a worker's time than it may."""


def window_end(*, job: Job, first: int) -> int:
    """The last message of the window that begins at `first`; call it in scope.

    At most EXTRACTION_WINDOW_MESSAGES messages of EXTRACTION_WINDOW_CHARACTERS together, but at
    least one, and only one where the job reads them one by one.
    """
    if first <= job.one_by_one_to:
        return first
    most = min(job.to_position, first + settings.EXTRACTION_WINDOW_MESSAGES - 1)
    rows = Message.objects.filter(
        team_id=job.team_id, conversation_id=job.conversation_id, position__range=(first, most)
    ).order_by("position")
    last, characters = first, 0
    for position, length in rows.values_list("position", Length("content")):
        characters += length
        if characters > settings.EXTRACTION_WINDOW_CHARACTERS:
            break
        last = position
    return last


@contextmanager
def window_budget() -> Iterator[None]:
    """Raise WindowBudgetError in the block when it takes a worker too long.

    The limits are EXTRACTION_WINDOW_CPU_SECONDS of the process's processor time and
    EXTRACTION_WINDOW_SECONDS. They need signals, which only the main thread of a process receives:
    a thread of a web server runs without them, and what hangs where no signal is handled is ended
    with its process by the time limit of tasks.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def is_over(number: int, _frame: FrameType | None) -> None:
        what = "processor" if number == signal.SIGPROF else "time"
        raise WindowBudgetError(f"the window took more {what} than it may")

    timers = (
        (signal.ITIMER_PROF, signal.SIGPROF, settings.EXTRACTION_WINDOW_CPU_SECONDS),
        (signal.ITIMER_REAL, signal.SIGALRM, settings.EXTRACTION_WINDOW_SECONDS),
    )
    before = [(number, signal.signal(number, is_over)) for _, number, _ in timers]
    try:
        for timer, _, seconds in timers:
            signal.setitimer(timer, seconds, _AGAIN_SECONDS)
        yield
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0)
        for number, handler in before:
            signal.signal(number, handler)
