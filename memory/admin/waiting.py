"""The work that waits for people: how much of each kind, how old, and the list of it.

A new kind of work is one more function in `_KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince

from memory.models import Contradiction, Job
from memory.satellites.consent.models import ConsentRequest
from memory.selectors.review_queue import is_waiting


@dataclass(frozen=True, slots=True)
class Waiting:
    """One kind of work: how much of it waits, since when the oldest, and where it is done."""

    title: str
    count: int
    oldest: datetime | None
    url: str

    @property
    def age(self) -> str:
        """How long the oldest has waited, such as "3 days"; empty where nothing waits."""
        return timesince(self.oldest, depth=1) if self.oldest else ""


def waiting_work() -> list[Waiting]:
    """What waits in the teams of the request's scope, the most urgent kind first."""
    return [kind() for kind in _KINDS]


def _contradictions() -> Waiting:
    rows = Contradiction.objects.filter(is_waiting(timezone.now()))
    page = reverse("admin:memory_contradiction_changelist")
    return _waiting("Open contradictions", rows, "detected_at", f"{page}?state=open")


def _consent() -> Waiting:
    rows = ConsentRequest.objects.filter(state=ConsentRequest.State.WAITING)
    page = reverse("admin:memory_consentrequest_changelist")
    return _waiting("Consent requests", rows, "created_at", f"{page}?state=waiting")


def _failed_jobs() -> Waiting:
    rows = Job.objects.filter(state=Job.State.FAILED)
    page = reverse("admin:memory_job_changelist")
    return _waiting("Failed jobs", rows, "created_at", f"{page}?state=failed")


def _messages_set_aside() -> Waiting:
    rows = Job.objects.filter(state=Job.State.SET_ASIDE)
    page = reverse("admin:memory_job_changelist")
    return _waiting("Messages set aside", rows, "created_at", f"{page}?state=set_aside")


def _unfinished_jobs() -> Waiting:
    rows = Job.objects.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])
    page = reverse("admin:memory_job_changelist")
    return _waiting("Queued and running jobs", rows, "created_at", f"{page}?state=at-work")


_KINDS: tuple[Callable[[], Waiting], ...] = (
    _contradictions,
    _consent,
    _failed_jobs,
    _messages_set_aside,
    _unfinished_jobs,
)


def _waiting(
    title: str, rows: QuerySet[Any], at: str, url: str
) -> Waiting:  # Any: rows of whatever kind of work
    found = rows.order_by().aggregate(count=Count("pk"), oldest=Min(at))
    return Waiting(title, found["count"], found["oldest"], url)
