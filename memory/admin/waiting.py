"""Work that waits for people: how much of each kind, since when, and the list of it."""

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
from memory.selectors.contradictions import is_waiting


@dataclass(frozen=True, slots=True)
class Waiting:
    """One kind of work: how much of it waits, since when the oldest, and where it is done."""

    title: str
    count: int
    oldest: datetime | None
    url: str

    @property
    def age(self) -> str:
        """The age of the oldest, such as "3 days"; empty where nothing waits."""
        return timesince(self.oldest, depth=1) if self.oldest else ""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of work: its rows in the teams of the request, the time each began, and its list.

    `model` is the name of the list's page, `query` narrows it to the same rows. With `badge` the
    menu shows the count beside the page, in that colour. `order` places it on Home.
    """

    title: str
    model: str
    query: str
    rows: Callable[[], QuerySet[Any]]  # Any: rows of whatever kind of work
    began: str
    order: int
    badge: str = ""

    def waiting(self) -> Waiting:
        """Returns the count and age of the kind."""
        found = self.rows().order_by().aggregate(count=Count("pk"), oldest=Min(self.began))
        page = reverse(f"admin:{self.model}_changelist")
        return Waiting(self.title, found["count"], found["oldest"], f"{page}?{self.query}")


def _jobs(*states: Job.State) -> Callable[[], QuerySet[Any]]:  # Any: as above
    return lambda: Job.objects.filter(state__in=states)


# A satellite adds its kinds in its admin module.
KINDS = [
    Kind(
        "Open contradictions",
        "memory_contradiction",
        "state=open",
        lambda: Contradiction.objects.filter(is_waiting(timezone.now())),
        "detected_at",
        order=1,
        badge="warning",
    ),
    Kind(
        "Failed jobs",
        "memory_job",
        "state=failed",
        _jobs(Job.State.FAILED),
        "created_at",
        order=3,
        badge="danger",
    ),
    Kind(
        "Skipped messages",
        "memory_job",
        "state=set_aside",
        _jobs(Job.State.SET_ASIDE),
        "created_at",
        order=4,
        badge="danger",
    ),
    Kind(
        "Queued and running jobs",
        "memory_job",
        "state=at-work",
        _jobs(Job.State.QUEUED, Job.State.RUNNING),
        "created_at",
        order=5,
    ),
]


def waiting_work() -> list[Waiting]:
    """Returns what waits in the teams of the request's scope, the most urgent kind first."""
    return [kind.waiting() for kind in sorted(KINDS, key=lambda each: each.order)]


def badges() -> dict[str, tuple[int, str]]:
    """Returns the counts that the menu shows, by the page's model, each with its colour."""
    rows: dict[str, QuerySet[Any]] = {}  # Any: rows of whatever kind of work
    colours: dict[str, str] = {}
    for kind in KINDS:
        if kind.badge:
            known = rows.get(kind.model)
            rows[kind.model] = kind.rows() if known is None else known | kind.rows()
            colours[kind.model] = kind.badge
    return {model: (found.count(), colours[model]) for model, found in rows.items()}
