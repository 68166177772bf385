"""The charts of the admin's home: each with its series, their sums, and the lists behind them."""

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
from memory.models import Contradiction, Job, Memory
from memory.selectors.figures import Series
from memory.writing.figures import Figures
from routing.models import RoutingDecision, SpendEntry
from routing.services.cost_guard import MonthSpend

# Told apart in light and dark, and by most who see few colours (after Okabe and Ito, 2008).
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B79F00", "#7F7F7F")
_GREY = "#9ca3af"
_READS = {"search": "searches", "context": "prompts", "chat": "chats"}


@dataclass(frozen=True, slots=True)
class Line:
    """One series: its name, its values by day, their sum in words, and the list of what it counts.

    An empty `url` is of a list that the login may not see.
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
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(value for line in self.lines for value in line.values)

    @property
    def data(self) -> str:
        """The series as the theme's component takes them."""
        sets = [
            {
                "label": line.name,
                "data": list(line.values),
                "backgroundColor": line.colour,
                "borderColor": line.colour,
                "spanGaps": True,
            }
            for line in self.lines
        ]
        return json.dumps({"labels": [_short(day) for day in self.days], "datasets": sets})

    @property
    def options(self) -> str:
        """How it is drawn; the legend stands beside it, with links."""
        is_stacked = self.kind == "bar"
        ticks = {"color": _GREY, "maxTicksLimit": 8, "maxRotation": 0}
        return json.dumps(
            {
                "animation": False,
                "responsive": True,
                "maintainAspectRatio": False,
                "interaction": {"mode": "index", "intersect": False},
                "elements": {"point": {"radius": 1.5}, "line": {"borderWidth": 2}},
                "plugins": {"legend": {"display": False}},
                "scales": {
                    "x": {"stacked": is_stacked, "grid": {"display": False}, "ticks": ticks},
                    "y": {
                        "stacked": is_stacked,
                        "beginAtZero": True,
                        "grid": {"lineWidth": 0.5},
                        "ticks": {"color": _GREY, "maxTicksLimit": 5},
                    },
                },
            }
        )


def charts_of(figures: Figures, *, month: MonthSpend, sees_events: bool) -> list[Chart]:
    """The charts; without `sees_events` those of operational events lead nowhere.

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

    def events(op: str = "") -> str:
        by_op = {"op": op} if op else {}
        return _list(OperationalEvent, time="month", **by_op) if sees_events else ""

    def chart(title: str, kind: str, url: str, *lines: Line) -> Chart:
        coloured = zip(lines, cycle(_COLOURS), strict=False)
        drawn = [replace(line, colour=colour) for line, colour in coloured]
        return Chart(title, kind, drawn, figures.days, url)

    return [
        chart(
            "Memories stored, by type",
            "bar",
            stored(),
            *(
                _counted(kind.replace("_", " "), values, stored(memory_type__exact=kind))
                for kind, values in figures.stored.items()
            ),
        ),
        chart(
            "Retrievals",
            "bar",
            events(),
            *(
                _counted(name, figures.retrievals[op], events(op))
                for op, name in _READS.items()
                if op in figures.retrievals
            ),
        ),
        chart("Memories learned from 100 messages", "line", jobs, _yield(figures.extracted)),
        chart(
            "Disputes found and settled",
            "line",
            found,
            _counted("found", figures.disputes["found"], found),
            _counted("settled", figures.disputes["settled"], settled),
        ),
        replace(
            chart(
                "Spend in USD, by tier",
                "bar",
                spent(),
                *(
                    Line(tier, values, f"{_sum(values):,.2f}", spent(tier=tier))
                    for tier, values in figures.spent.items()
                ),
            ),
            month=month,
        ),
        chart(
            "Model fallbacks",
            "bar",
            events("stand_in"),
            _counted(
                "extraction by the built-in extractor",
                figures.stand_ins["extraction"],
                events("stand_in"),
            ),
            _counted("chat by the next model", figures.stand_ins["chat"], in_vain),
        ),
    ]


def _counted(name: str, values: Sequence[float | None], url: str) -> Line:
    return Line(name, values, f"{_sum(values):,.0f}", url)


def _yield(extracted: Series) -> Line:
    """How many memories came of 100 messages on each day; nothing where none were read."""
    memories, messages = extracted["memories"], extracted["messages"]
    by_day = [
        round(100 * (made or 0) / read, 1) if read else None
        for made, read in zip(memories, messages, strict=True)
    ]
    return Line("learned", by_day, f"{_sum(memories):,.0f} from {_sum(messages):,.0f} messages")


def _sum(values: Sequence[float | None]) -> float:
    return sum(value or 0 for value in values)


def _short(day: str) -> str:
    """A day of the axis, such as "Nov 3"."""
    there = date.fromisoformat(day)
    return f"{there:%b} {there.day}"


def _list(model: type[Model], **filters: str) -> str:
    """The address of a model's list under these filters."""
    opts = model._meta
    page = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
    return f"{page}?{urlencode(filters)}" if filters else page
