"""The charts of the admin's home: their series, sums, and the lists that they count."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from functools import partial
from itertools import cycle
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse
from django.utils import timezone

from audit.models import OperationalEvent
from memory.domain.types import MemoryType
from memory.models import Contradiction, Job, Memory
from memory.selectors.figures import Figures, Series
from routing.models import RoutingDecision, SpendEntry
from routing.services.cost_guard import MonthSpend

# Told apart in light and dark, and by most who see few colours (after Okabe and Ito, 2008).
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B79F00", "#7F7F7F")
# A type of memory has its colour in every team.
_OF_TYPES = dict(zip(map(str, MemoryType), _COLOURS, strict=True))
_READS = {"search": "searches", "context": "prompts", "chat": "chats"}


@dataclass(frozen=True, slots=True)
class Line:
    """One series: its name, its values by day, their sum in words, and the list of what it counts.

    An empty `url` is of a list that the login may not see; without a `colour` its place gives one.
    """

    name: str
    values: Sequence[float | None]
    total: str
    url: str = ""
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of the home page; `kind` is "bar" (stacked) or "line".

    `month` is the spend and the budget of this month, where the chart is of money.
    """

    title: str
    kind: str
    lines: Sequence[Line]
    days: Sequence[str]
    url: str = ""
    month: MonthSpend | None = None

    @property
    def coloured(self) -> list[tuple[Line, str]]:
        """The series, each with its colour."""
        pairs = zip(self.lines, cycle(_COLOURS), strict=False)
        return [(line, line.colour or colour) for line, colour in pairs]

    @property
    def is_empty(self) -> bool:
        return not any(value for line in self.lines for value in line.values)

    @property
    def data(self) -> str:
        """The days and series as JSON, as the theme's component takes them."""
        sets = [
            {
                "label": line.name,
                "data": list(line.values),
                "backgroundColor": colour,
                "borderColor": colour,
                "spanGaps": True,
            }
            for line, colour in self.coloured
        ]
        return json.dumps({"labels": list(self.days), "datasets": sets})


def charts_of(figures: Figures, *, month: MonthSpend, sees_events: bool) -> list[Chart]:
    """Returns the charts; without `sees_events` those of operational events have no links.

    `month` stands beside the chart of the spend.
    """
    since = figures.days[0]
    spent = partial(_list, SpendEntry, at_from=since)
    stored = partial(_list, Memory, created_at_from=since)
    jobs = _list(Job, state=Job.State.DONE.value, created_at_from=since)
    disputes = partial(_list, Contradiction, verdict__exact="dispute")
    found = disputes(state="all", detected_at_from=since)
    midnight = timezone.make_aware(datetime.combine(date.fromisoformat(since), time()))
    settled = disputes(state="resolved", resolved_at__gte=midnight.isoformat())
    in_vain = _list(RoutingDecision, attempts="failed", at_from=since)

    def events(**op: str) -> str:
        return _list(OperationalEvent, time="month", **op) if sees_events else ""

    chart = partial(Chart, days=figures.days)
    of_types = [
        replace(
            _counted(kind.replace("_", " "), values, stored(memory_type__exact=kind)),
            colour=_OF_TYPES.get(kind, ""),
        )
        for kind, values in figures.stored.items()
    ]
    of_reads = [
        _counted(name, figures.retrievals[op], events(op=op))
        for op, name in _READS.items()
        if op in figures.retrievals
    ]
    of_disputes = [
        _counted("found", figures.disputes["found"], found),
        _counted("settled", figures.disputes["settled"], settled),
    ]
    of_tiers = [
        Line(tier, values, f"{_sum(values):,.2f}", spent(tier=tier))
        for tier, values in figures.spent.items()
    ]
    fallbacks, by_next = figures.stand_ins["extraction"], figures.stand_ins["chat"]
    of_fallbacks = [
        _counted("extraction by the built-in model", fallbacks, events(op="stand_in")),
        _counted("chat by another model", by_next, in_vain),
    ]
    learned = [_yield(figures.extracted)]
    return [
        chart("Memories stored, by type", "bar", of_types, url=stored()),
        chart("Retrievals", "bar", of_reads, url=events()),
        chart("Memories learned per 100 messages", "line", learned, url=jobs),
        chart("Disputes found and settled", "line", of_disputes, url=found),
        chart("Spend in USD, by tier", "bar", of_tiers, url=spent(), month=month),
        chart("Model fallbacks", "bar", of_fallbacks, url=events(op="stand_in")),
    ]


def _counted(name: str, values: Sequence[float | None], url: str) -> Line:
    return Line(name, values, f"{_sum(values):,.0f}", url)


def _yield(extracted: Series) -> Line:
    """Memories extracted per 100 messages on each day; None for days on which none were read."""
    memories, messages = extracted["memories"], extracted["messages"]
    by_day = [
        round(100 * (made or 0) / read, 1) if read else None
        for made, read in zip(memories, messages, strict=True)
    ]
    return Line("learned", by_day, f"{_sum(memories):,.0f} from {_sum(messages):,.0f} messages")


def _sum(values: Sequence[float | None]) -> float:
    return sum(value or 0 for value in values)


def _list(model: type[Model], **filters: str) -> str:
    """The address of a model's list under these filters."""
    opts = model._meta
    page = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    return f"{page}?{urlencode(filters)}" if filters else page
